package cards

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Limits of what is read from git.
const (
	maxCommit = 64 << 20 // bytes of files
	gitTime   = 10 * time.Second
)

// checkedOut is a folder with the files of a commit.
type checkedOut string

func (d checkedOut) remove() { _ = os.RemoveAll(string(d)) } // it is in the folder for temporary files

// checkOut writes what generating reads, as it was in the last commit, to a folder of its own: the project stays as it
// is. name is the commit, for people.
func checkOut(ctx context.Context, project string) (dir checkedOut, name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	said, err := git(ctx, project, "log", "-1", "--format=%h %s", "HEAD")
	if err != nil {
		return "", "", err
	}
	files, err := git(ctx, project, "archive", "--format=tar", "HEAD", "--", ".")
	if err != nil {
		return "", "", err
	}
	at, err := os.MkdirTemp("", "a2agen-commit-")
	if err != nil {
		return "", "", err
	}
	dir = checkedOut(at)
	if err := dir.unpack(files); err != nil {
		dir.remove()
		return "", "", fmt.Errorf("read the last commit: %w", err)
	}
	return dir, "commit " + strings.TrimSpace(string(said)), nil
}

// git runs a command of git in a folder.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("there is no git in the PATH, which knows the last commit")
	}
	cmd := exec.CommandContext(ctx, path, append([]string{"-C", dir}, args...)...)
	cmd.WaitDelay = time.Second
	var out limited
	var wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &wrong
	err = cmd.Run()
	switch {
	case out.full:
		return nil, fmt.Errorf("the last commit has more than %d MiB in this folder", maxCommit>>20)
	case err != nil:
		return nil, fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(wrong.String()+" "+err.Error()))
	}
	return out.Bytes(), nil
}

// limited is a buffer with a limit.
type limited struct {
	bytes.Buffer
	full bool
}

// Write fails when there is too much.
func (l *limited) Write(b []byte) (int, error) {
	if l.full = l.full || l.Len()+len(b) > maxCommit; l.full {
		return 0, errors.New("too much")
	}
	return l.Buffer.Write(b)
}

// unpack writes the files of an archive. Code is left out, which says nothing of a card. A folder whose module is above
// gets a module of its own.
func (d checkedOut) unpack(archive []byte) error {
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || filepath.Ext(h.Name) == ".go" || !filepath.IsLocal(filepath.FromSlash(h.Name)) {
			continue
		}
		if err := d.write(h.Name, r); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(string(d), "go.mod")); errors.Is(err, os.ErrNotExist) {
		return d.write("go.mod", strings.NewReader("module commit\n"))
	}
	return nil
}

func (d checkedOut) write(name string, from io.Reader) error {
	at := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(at, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
