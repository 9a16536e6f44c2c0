//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestTheBookHolds does what the pages of docs say, in their order and as it stands. Blocks of sh are run, those called "agent" in the
// background; blocks with the name of a file become that file; each line of a block of text is part of what the commands before it
// printed. Only the port is another one. In the guide that is every block of these kinds, in other pages those with a name: "sh run",
// "text printed".
func TestTheBookHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("makes projects and compiles them")
	}
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		list := slices.DeleteFunc(blocks(string(text)), func(b block) bool { return b.name == "" && (name != "guide" || b.kind != "sh" && b.kind != "text") })
		if len(list) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			g := &guide{t: t, env: storyEnv(t), dir: t.TempDir(), addr: freeAddress(t)}
			t.Cleanup(g.stop)
			for _, b := range list {
				g.do(b)
				if t.Failed() {
					t.Fatalf("at the block\n%s", b.text)
				}
			}
		})
	}
}

// block is a fenced block: its kind, the word behind that, and its lines.
type block struct{ kind, name, text string }

var fenced = regexp.MustCompile("(?ms)^```(\\w+) ?(\\S*)\n(.*?)^```$")

func blocks(text string) []block {
	var list []block
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		list = append(list, block{m[1], m[2], m[3]})
	}
	return list
}

// guide is somebody who follows a page.
type guide struct {
	t         *testing.T
	env       []string
	dir, addr string
	printed   string // by the last commands
	agent     *exec.Cmd
}

func (g *guide) do(b block) {
	switch {
	case b.kind == "sh" && b.name == "agent":
		g.stop()
		g.start(b.text)
	case b.kind == "sh":
		g.run(b.text)
	case b.kind == "text":
		g.wants(b.text)
	default:
		g.write(b.name, b.text)
	}
}

func (g *guide) command(script string) *exec.Cmd {
	cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(script, "127.0.0.1:8080", g.addr))
	cmd.Dir, cmd.Env = g.dir, append(g.env, "A2A_ADDR="+g.addr)
	return cmd
}

// run runs commands, and stays in the folder that they end in.
func (g *guide) run(script string) {
	where := filepath.Join(g.t.TempDir(), "where")
	out, err := g.command(script + "\npwd >'" + where + "'").CombinedOutput()
	g.printed = string(out)
	if err != nil {
		g.t.Errorf("%v\n%s", err, out)
		return
	}
	dir, err := os.ReadFile(where)
	if err != nil {
		g.t.Fatal(err)
	}
	g.dir = strings.TrimSpace(string(dir))
}

// wants has each line of text, whose parts are divided by "…", in what was printed, in this order.
func (g *guide) wants(text string) {
	rest := g.printed
	for line := range strings.Lines(text) {
		for part := range strings.SplitSeq(strings.TrimSpace(line), "…") {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				g.t.Errorf("printed\n%swithout %q", g.printed, part)
				return
			}
			rest = after
		}
	}
}

func (g *guide) write(name, text string) {
	file := filepath.Join(g.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		g.t.Error(err)
	}
}

// start runs an agent in a process group of its own, and waits until it says that it listens.
func (g *guide) start(script string) {
	g.agent = g.command(script)
	g.agent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := g.agent.StderrPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := g.agent.Start(); err != nil {
		g.t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	for said := ""; ; {
		line, err := lines.ReadString('\n')
		said += line
		switch {
		case strings.Contains(line, "agent is listening"):
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return
		case err != nil:
			g.t.Errorf("the agent ended: %s", said)
			return
		}
	}
}

// stop ends the agent as Ctrl-C does.
func (g *guide) stop() {
	if g.agent == nil {
		return
	}
	_ = syscall.Kill(-g.agent.Process.Pid, syscall.SIGINT)
	_ = g.agent.Wait()
	g.agent = nil
}

// freeAddress is an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
