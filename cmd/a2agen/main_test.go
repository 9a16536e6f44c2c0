package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/mcpserver"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
)

// TestMain lets scripts run this program under its own name, as a process of its own, and as an MCP server.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"a2agen": main, "mcpserver": mcpserver.Stdio})
}

// TestScripts runs the conversations in testdata: what a user types and what comes back. Projects that are compiled in them have the module
// example.com/weather where their name does not matter: what is generated alike is compiled once for all.
func TestScripts(t *testing.T) {
	runScripts(t, "testdata")
}

// TestScriptsOnPostgres runs those that need a server, in schemas of their own.
func TestScriptsOnPostgres(t *testing.T) {
	runScripts(t, "testdata/postgres", "STORE="+postgrestest.Server(t), "STORE1="+postgrestest.Server(t), "STORE2="+postgrestest.Server(t))
}

func runScripts(t *testing.T, folder string, vars ...string) {
	t.Helper()
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	gotool.Fetch()
	testscript.Run(t, testscript.Params{
		Dir: folder,
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("no condition is called %s", name)
			}
			return gotool.IsLong(), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":       exits,
			"snapshot":    snapshot,
			"untouched":   untouched,
			"serve":       serve,
			"tools":       tools,
			"agent":       agent,
			"agentOf":     agentOf,
			"running":     running,
			"taskID":      taskID,
			"interrupt":   interrupt,
			"freeAddress": freeAddressCmd, "answers": answers, "says": says,
			"taskFile": taskFile, "taskServer": taskServer, "sql": sqlOn,
		},
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, append(slices.Clone(gotool.Places()), "REPO="+repo, "HOME="+e.WorkDir, "GOPROXY=off", "GOFLAGS="+gotool.Flags, "GOWORK=off", "GOTOOLCHAIN=local", "XDG_CACHE_HOME="+e.WorkDir+"/.cache")...)
			e.Vars = append(e.Vars, vars...)
			return nil
		},
	})
}

// TestDocsSayHowToGetTheToolFromACheckout, before they name a release that may not be there.
func TestDocsSayHowToGetTheToolFromACheckout(t *testing.T) {
	for _, file := range []string{"../../README.md", "../../docs/cli.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		build, release := strings.Index(string(text), "`make build`"), strings.Index(string(text), "@latest")
		if build < 0 || release < build {
			t.Errorf("%s: make build is at %d, @latest at %d", file, build, release)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil || !strings.Contains(string(makefile), "build -o bin/a2agen ./cmd/a2agen") {
		t.Errorf("make build makes no bin/a2agen (%v)", err)
	}
}

// exits CODE COMMAND... runs a command and wants its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// tree describes all files below a folder: content and time of change.
func tree(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			fmt.Fprintln(&b, path)
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %d %q\n", path, info.ModTime().UnixNano(), data)
		return err
	}))
	return b.String()
}

// snapshot DIR remembers a folder.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot DIR")
	}
	ts.Check(os.WriteFile(snapshotFile(ts, args[0]), []byte(tree(ts, args[0])), 0o600))
}

// untouched DIR wants a folder as snapshot saw it, times of change included.
func untouched(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: untouched DIR")
	}
	before, err := os.ReadFile(snapshotFile(ts, args[0]))
	ts.Check(err)
	after := tree(ts, args[0])
	if (string(before) == after) == neg {
		ts.Fatalf("touched %v: before\n%s\nafter\n%s", !neg, before, after)
	}
}

func snapshotFile(ts *testscript.TestScript, dir string) string {
	return filepath.Join(filepath.Dir(ts.Getenv("WORK")), "snapshot-"+filepath.Base(ts.Getenv("WORK"))+"-"+strings.ReplaceAll(dir, "/", "_"))
}

// serve FILE VAR serves a file as the card of an agent on this machine, and under its own name, and sets VAR to the agent's URL.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve FILE VAR")
	}
	file := ts.MkAbs(args[0])
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/agent-card.json" && r.URL.Path != "/"+filepath.Base(file) {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, file)
	}))
	ts.Defer(srv.Close)
	ts.Setenv(args[1], srv.URL)
}

// tools VAR serves MCP over HTTP, and sets VAR to the URL of the server. "tools VAR changed" has its tools change, and "tools VAR away" ends it.
func tools(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: tools VAR [changed|away]")
	}
	found, _ := toolServers.Load(ts.Getenv(args[0]))
	running, _ := found.(*toolServer)
	switch {
	case len(args) == 1:
		fake := mcpserver.New()
		running = &toolServer{fake, httptest.NewServer(fake.Handler())}
		ts.Defer(running.close)
		ts.Setenv(args[0], running.web.URL+"/stateless")
		toolServers.Store(ts.Getenv(args[0]), running)
	case args[1] == "changed":
		running.fake.Change()
	default:
		running.close()
	}
}

// toolServers are those of all scripts, by their URLs.
var toolServers sync.Map

// toolServer is an MCP server of a script.
type toolServer struct {
	fake *mcpserver.Server
	web  *httptest.Server
}

func (s *toolServer) close() {
	s.web.CloseClientConnections()
	s.web.Close()
}
