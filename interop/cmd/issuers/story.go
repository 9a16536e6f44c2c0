package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Where the commands stand: in the second block for a shell under the heading. The first has what is the reader's.
const (
	document = "../docs/security.md"
	heading  = "## From nothing to an agent behind an identity provider\n"
)

// tryStory runs what the document has to copy and paste, with the issuer as the provider.
func tryStory(ctx context.Context, issuer string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "story")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := buildTool(ctx, dir); err != nil {
		return err
	}
	commands, err := readStory()
	if err != nil {
		return err
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	script := strings.ReplaceAll(commands, "127.0.0.1:8080", addr) + "\nkill %%\n"
	bash := exec.CommandContext(ctx, "bash", "-c", script)
	bash.Dir = dir
	bash.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "A2A_ADDR="+addr, "ISSUER="+issuer,
		"AUDIENCE=https://vault.example.com", "CLIENT=app", "SECRET=app-secret")
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	bash.Cancel = func() error { return syscall.Kill(-bash.Process.Pid, syscall.SIGKILL) }
	bash.WaitDelay = 5 * time.Second
	var told bytes.Buffer
	bash.Stdout, bash.Stderr = &told, &told
	_ = bash.Run() // its calls fail on purpose
	return checkStory(told.String())
}

// buildTool builds a2agen into a folder.
func buildTool(ctx context.Context, dir string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", dir, "./cmd/a2agen")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build a2agen: %w: %s", err, out)
	}
	return nil
}

func readStory() (string, error) {
	page, err := os.ReadFile(filepath.FromSlash(document))
	if err != nil {
		return "", err
	}
	_, section, _ := strings.Cut(string(page), heading)
	blocks := strings.Split(section, "```sh\n")
	if len(blocks) < 3 {
		return "", fmt.Errorf("%s has no such commands", document)
	}
	commands, _, _ := strings.Cut(blocks[2], "```")
	return commands, nil
}

func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// checkStory: the first caller has no token, the second one may not, the third is answered.
func checkStory(told string) error {
	rest := told
	for _, want := range []string{"none was given", "403", "You said: hello"} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			return errors.New("no " + want + " in what was told:\n" + told)
		}
		rest = after
	}
	return nil
}
