package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/generator/scaffold"
)

// buildTime is how long the go command may take to compile a project; the first time that includes the runtime.
const buildTime = 5 * time.Minute

// build compiles the packages of the project and their tests, and returns the errors. Nothing is linked or run, the
// network is not used, and overlay replaces files (nil: deleted). If nothing was compiled, why says so.
func (p *project) build(ctx context.Context, overlay map[string][]byte) (found []scaffold.Finding, why string, err error) {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	out, said, why, err := p.goList(ctx, overlay)
	if err != nil || why != "" {
		return nil, why, err
	}
	failures, err := readFailures(out)
	if err != nil {
		return nil, "", fmt.Errorf("read what the go command says: %w", err)
	}
	if len(failures) == 0 && said.Failed {
		failures = []string{said.Text}
	}
	if slices.ContainsFunc(failures, func(f string) bool { return strings.Contains(f, "GOPROXY=off") }) {
		return nil, `the module cache lacks ` + lacking(said.Text) + `: run "go mod download"`, nil
	}
	return compileErrors(failures), "", nil
}

// saying returns what the go command prints beside its output.
type saying struct {
	Text   string
	Failed bool
}

// goList compiles all packages and tests, and returns those that failed.
func (p *project) goList(ctx context.Context, overlay map[string][]byte) (out io.Reader, said saying, why string, err error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, said, "there is no go command", nil
	}
	dir, err := filepath.Abs(p.Dir())
	if err != nil {
		return nil, said, "", err
	}
	args := []string{"list", "-e", "-export", "-test", "-json=Error,DepsErrors"}
	if strings.Contains(os.Getenv("GOFLAGS"), "-mod=mod") {
		args = append(args, "-mod=readonly") // or it writes go.mod
	}
	if len(overlay) > 0 {
		temp, err := os.MkdirTemp("", "a2agen-")
		if err != nil {
			return nil, said, "", err
		}
		defer os.RemoveAll(temp)
		file, err := writeOverlay(temp, dir, overlay)
		if err != nil {
			return nil, said, "", err
		}
		args = append(args, "-overlay="+file)
	}
	cmd := exec.CommandContext(ctx, goTool, append(args, "./...")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off")
	var result, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &result, &text
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, said, "the go command was stopped: " + ctx.Err().Error(), nil
	case err != nil && !errors.As(err, &exit):
		return nil, said, err.Error(), nil
	}
	return &result, saying{text.String(), exit != nil}, "", nil
}

// lacking returns the modules that the go command would have fetched.
func lacking(said string) string {
	var modules []string
	for line := range strings.Lines(said) {
		if m, ok := strings.CutPrefix(strings.TrimSpace(line), "go: downloading "); ok {
			modules = append(modules, m)
		}
	}
	if modules == nil {
		return "a module"
	}
	return strings.Join(modules, ", ")
}

// firstLine returns the text of a failure without a position, without the name of the package.
func firstLine(failure string) string {
	for line := range strings.Lines(failure) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "# ") {
			return strings.TrimPrefix(line, "go: ")
		}
	}
	return "the go command fails"
}

// writeOverlay writes files to a folder, and the list by which the go command finds them.
func writeOverlay(temp, dir string, files map[string][]byte) (list string, err error) {
	replace := map[string]string{}
	for name, data := range files {
		at := ""
		if data != nil {
			at = filepath.Join(temp, strconv.Itoa(len(replace))+filepath.Ext(name))
			if err := os.WriteFile(at, data, 0o600); err != nil {
				return "", err
			}
		}
		replace[filepath.Join(dir, filepath.FromSlash(name))] = at
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(temp, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

// packageError is an error of a package, as "go list" prints it.
type packageError struct{ Pos, Err string }

// readFailures reads the errors of packages, and of what they import, from the output of "go list".
func readFailures(r io.Reader) (failures []string, err error) {
	for dec := json.NewDecoder(r); ; {
		var pkg struct {
			Error      *packageError
			DepsErrors []*packageError
		}
		if err := dec.Decode(&pkg); err == io.EOF {
			return failures, nil
		} else if err != nil {
			return nil, err
		}
		for _, e := range append(pkg.DepsErrors, pkg.Error) {
			switch {
			case e == nil:
			case e.Pos != "":
				failures = append(failures, e.Pos+": "+e.Err)
			default:
				failures = append(failures, e.Err)
			}
		}
	}
}

// compileError matches a line of the compiler: file, line, perhaps the column, and the message.
var compileError = regexp.MustCompile(`^(?:\./|\.\\)?([^:\s][^:]*\.go):(\d+):(?:(\d+):)? (.*)$`)

// compileErrors returns the errors by file and line, without repetitions: a package is compiled again with its tests.
func compileErrors(failures []string) (found []scaffold.Finding) {
	seen := map[scaffold.Finding]bool{}
	for _, failure := range failures {
		located := false
		for line := range strings.Lines(failure) {
			f := scaffold.Finding{Code: scaffold.Build}
			if m := compileError.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
				f.File, f.Message = filepath.ToSlash(m[1]), m[4]
				f.Line, _ = strconv.Atoi(m[2]) // digits
				located = true
				if !seen[f] {
					seen[f], found = true, append(found, f)
				}
			}
		}
		f := scaffold.Finding{Code: scaffold.Build, File: "go.mod", Message: firstLine(failure)}
		if !located && !seen[f] {
			seen[f], found = true, append(found, f)
		}
	}
	return found
}

// withBuild adds errors of the compiler to the findings about handlers, except those that follow from a wrong
// signature.
func withBuild(handlers, built []scaffold.Finding) []scaffold.Finding {
	unfit := slices.ContainsFunc(handlers, func(f scaffold.Finding) bool { return f.Code == scaffold.Signature })
	all := slices.Clone(handlers)
	for _, b := range built {
		same := func(f scaffold.Finding) bool { return f.Breaks() && f.File == b.File && f.Line == b.Line }
		if unfit && strings.Contains(b.Message, "does not implement agent.Skills") || slices.ContainsFunc(handlers, same) {
			continue
		}
		all = append(all, b)
	}
	scaffold.SortFindings(all)
	return all
}
