// Command release makes what a release of this module consists of, in a folder, and publishes nothing: archives of a2agen for six platforms with
// the licences of what it links, a bill of materials, the module as a tree of files that serves as a module proxy, notes, and checksums.
//
//	go run ./internal/release [-check] [-dist dist] [-platforms linux/amd64,…] v0.1.0
//
// The same commit gives the same bytes. CONTRIBUTING.md, Releasing, says what the owner of the module does with them.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/a2agen/a2agen"
)

const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// release is what is known of a release before anything is made.
type release struct {
	dir     string // the checkout
	version string
	time    time.Time // of the commit: that of every file
	notes   []byte
}

func main() {
	check := flag.Bool("check", false, "only see whether the release can be made")
	dist := flag.String("dist", "dist", "the `folder` to make; one that is there is replaced")
	list := flag.String("platforms", platforms, "systems and architectures to build for")
	published := flag.Bool("published", false, "write "+apiFile+" and a project of the version into "+olderDir+": later changes are held to them")
	flag.Parse()
	if *published {
		exit(keep(".", flag.Arg(0)))
	}
	r, err := plan(".", flag.Arg(0))
	if err == nil {
		err = checkAPI(".", r.notes)
	}
	if err == nil && !*check {
		err = r.write(*dist, strings.Split(*list, ","))
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// plan finds out whether the commit in a checkout can be released as a version.
func plan(dir, version string) (release, error) {
	r := release{dir: dir, version: version}
	if semver.Canonical(version) != version || version == "" || module.IsPseudoVersion(version) {
		return r, fmt.Errorf("%q is no version: write one like v0.1.0", version)
	}
	_, major, _ := module.SplitPathVersion(a2agen.Module)
	if err := module.CheckPathMajor(version, major); err != nil {
		return r, fmt.Errorf("%s is no version of %s: %w", version, a2agen.Module, err)
	}
	changed, err := git(dir, "status", "--porcelain")
	if err != nil {
		return r, err
	}
	if first, _, _ := strings.Cut(changed, "\n"); first != "" {
		return r, fmt.Errorf("the tree is not clean: commit or remove %s", strings.TrimSpace(first[2:]))
	}
	tags, err := git(dir, "tag", "--list", "v*")
	if err != nil {
		return r, err
	}
	for tag := range strings.FieldsSeq(tags) {
		switch semver.Compare(version, tag) {
		case 0:
			return r, fmt.Errorf("%s exists: a published version never changes", version)
		case -1:
			return r, fmt.Errorf("%s goes back: there is %s", version, tag)
		}
	}
	changelog, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return r, err
	}
	if r.notes = notes(changelog, version); len(r.notes) == 0 {
		return r, fmt.Errorf("CHANGELOG.md has nothing below a line \"## %s\"", version)
	}
	at, err := git(dir, "log", "-1", "--format=%cI")
	if err != nil {
		return r, err
	}
	r.notes = linked(r.notes, a2agen.Module, version)
	r.time, err = time.Parse(time.RFC3339, at)
	r.time = r.time.UTC()
	return r, err
}

// notes returns what the changelog says of a version: what is below the heading that begins with it.
func notes(changelog []byte, version string) []byte {
	_, text, _ := bytes.Cut(append([]byte("\n"), changelog...), []byte("\n## "+version))
	heading, text, _ := bytes.Cut(text, []byte("\n"))
	if len(heading) > 0 && heading[0] != ' ' { // "## v0.1.0-rc.1" is no heading of v0.1.0
		return nil
	}
	text, _, _ = bytes.Cut(append([]byte("\n"), text...), []byte("\n## "))
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil
	}
	return append(text, '\n')
}

// linked makes links to files of the repository lead to those of the version: where GitHub shows the notes of a release, there are no files beside them.
func linked(notes []byte, module, version string) []byte {
	if !strings.HasPrefix(module, "github.com/") {
		return notes
	}
	return regexp.MustCompile(`\]\(([\w./-]+)([#)])`).ReplaceAll(notes, []byte("](https://"+module+"/blob/"+version+"/$1$2"))
}

// write makes everything in a folder beside dist, and puts it in the place of dist when it is complete.
func (r release) write(dist string, platforms []string) error {
	dist, err := filepath.Abs(dist)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dist), ".release-")
	if err != nil {
		return err
	}
	defer removeAll(tmp)
	out := filepath.Join(tmp, "dist")
	if err := r.writeProxy(filepath.Join(out, "proxy")); err != nil {
		return err
	}
	b := builder{release: r, proxy: filepath.Join(out, "proxy"), dir: filepath.Join(tmp, "go")}
	var programs []program
	for _, p := range platforms {
		built, err := b.build(p)
		if err != nil {
			return err
		}
		programs = append(programs, built)
	}
	parts, err := b.components(programs)
	if err != nil {
		return err
	}
	for _, p := range programs {
		if err := r.writeArchive(out, p, notices(parts)); err != nil {
			return err
		}
	}
	if err := r.writeBill(filepath.Join(out, r.name()+".cdx.json"), parts); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "notes.md"), r.notes, 0o644); err != nil {
		return err
	}
	if err := writeSums(out); err != nil {
		return err
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	return os.Rename(out, dist)
}

// name is how the files of a release begin.
func (r release) name() string { return "a2agen_" + r.version }

// git returns what a git command prints.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// removeAll removes a folder and module caches in it, whose files cannot be written.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	})
	_ = os.RemoveAll(dir)
}

// olderDir has projects that older versions generated. Package golden runs them with today's runtime.
const olderDir = "golden/older"

// keep writes what later changes are held to once a version is published: apiFile, and the code of an example, which is as the version generates it.
func keep(dir, version string) error {
	const example = "examples/weather"
	files, err := git(filepath.Join(dir, filepath.FromSlash(example)), "ls-files", "*.go")
	if err != nil {
		return err
	}
	project := &txtar.Archive{Comment: []byte(example + " of " + version + ": its Go files.\n")}
	for name := range strings.FieldsSeq(files) {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(example), filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		project.Files = append(project.Files, txtar.File{Name: name, Data: text})
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(olderDir), version+".txtar"), txtar.Format(project), 0o644); err != nil {
		return err
	}
	return writeAPI(dir)
}
