// Package program builds the program of an agent, starts it, waits until it is healthy, and stops it.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/dev/status"
)

const (
	buildTime   = 5 * time.Minute // the first time includes the runtime and what it links
	maxSaid     = 1 << 20         // bytes of the output of a command that are read
	maxProblems = 50
)

// EnvOut is the environment variable by which a build command of the user's own is told which file to write.
const EnvOut = "A2A_DEV_OUT"

// Build says how the program of an agent is built.
type Build struct {
	Dir   string // of the main package
	Exec  string // a command for the shell in place of "go build", which writes the file that [EnvOut] names
	Debug bool   // without optimizations, for a debugger
	Flags []string
}

// Run builds to a file, which is not there yet: one that runs cannot be written. An error of the project is a
// *[status.Failure].
func (b Build) Run(ctx context.Context, out string) error {
	limited, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	cmd, failure := b.command(limited, out)
	if failure != nil {
		return failure
	}
	said := &limitedBuffer{max: maxSaid}
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.Dir, said, said
	cmd.Env = append(os.Environ(), EnvOut+"="+out)
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return status.Failed(status.Building, "the build was stopped after %v", buildTime)
	case err != nil && !errors.As(err, new(*exec.ExitError)):
		return status.Failed(status.Building, "build: %v", err)
	case err != nil:
		return &status.Failure{Step: status.Building, Problems: problemsIn(textOf(said.Bytes()), err)}
	}
	return b.isProgram(out)
}

// isProgram returns why what was built cannot be started.
func (b Build) isProgram(out string) error {
	f, err := os.Open(out)
	if err != nil {
		return status.Failed(status.Building, "the build command wrote no program to the file that $%s names: %s", EnvOut, b.Exec)
	}
	defer func() { _ = f.Close() }() // it was read
	head := make([]byte, len(archive))
	if _, err := io.ReadFull(f, head); err == nil && string(head) == archive {
		return status.Failed(status.Building, `%s holds a package and no program: its Go files do not say "package main"; %s`,
			b.Dir, giveMain)
	}
	return nil
}

const (
	archive  = "!<arch>" // what "go build" writes for a package that is no program begins so
	giveMain = "give a2agen dev the folder of the program, such as a2agen dev ./cmd/agent"
)

// command returns the command that builds.
func (b Build) command(ctx context.Context, out string) (*exec.Cmd, error) {
	if b.Exec != "" {
		return shellCommand(ctx, b.Exec), nil
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		return nil, status.Failed(status.Building, "there is no go command in the PATH: install Go 1.26 or newer "+
			"(https://go.dev/dl) and start a2agen dev again, or say by --exec how the agent is built")
	}
	args := []string{"build", "-json", "-o", out}
	if b.Debug {
		args = append(args, "-gcflags=all=-N -l")
	} else {
		args = append(args, "-ldflags=-w") // half of what linking takes
	}
	return exec.CommandContext(ctx, goTool, append(append(args, b.Flags...), ".")...), nil
}

// textOf returns the text in what "go build -json" prints, and other text as it is.
func textOf(out []byte) string {
	var text strings.Builder
	for line := range bytes.Lines(out) {
		var event struct{ Action, Output string }
		switch json.Unmarshal(line, &event) {
		case nil:
			text.WriteString(event.Output)
		default:
			text.Write(line)
		}
	}
	return text.String()
}

// located matches a line of a compiler: file, line, perhaps the column, and the message.
var located = regexp.MustCompile(`^(?:\./|\.\\)?([^:\s][^:]*\.[a-z]+):(\d+):(?:(\d+):)? (.*)$`)

// problemsIn reads what a build printed. What has no place in a file is one problem.
func problemsIn(text string, err error) (list []status.Problem) {
	var rest []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := located.FindStringSubmatch(line)
		switch {
		case m != nil && len(list) < maxProblems:
			p := status.Problem{File: filepath.ToSlash(m[1]), Text: m[4]}
			p.Line, _ = strconv.Atoi(m[2]) // digits
			p.Col, _ = strconv.Atoi(m[3])  // digits, or none
			list = append(list, p)
		case strings.HasPrefix(line, "\t") && len(list) > 0: // goes on with the message before
			p := &list[len(list)-1]
			if p.Text += "; "; strings.HasSuffix(p.Text, ":; ") { // "to add it:"
				p.Text = strings.TrimSuffix(p.Text, "; ") + " "
			}
			p.Text += strings.TrimSpace(line)
		case line != "" && !strings.HasPrefix(line, "# "):
			rest = append(rest, strings.TrimPrefix(line, "go: "))
		}
	}
	if len(list) == 0 && len(rest) > 0 {
		said := strings.Join(rest[:min(len(rest), 10)], "\n")
		if strings.HasPrefix(said, "no Go files in ") {
			said += ": " + giveMain
		}
		list = append(list, status.Problem{Text: said})
	}
	if len(list) == 0 {
		list = append(list, status.Problem{Text: "the build ended with " + err.Error()})
	}
	return list
}

// limitedBuffer keeps the first bytes that are written to it.
type limitedBuffer struct {
	bytes.Buffer
	max int
}

// Write takes everything.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, b.max-b.Len()))])
	return len(p), nil
}
