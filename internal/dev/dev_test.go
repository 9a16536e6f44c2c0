package dev

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/server"
)

// agentEnv makes this test's own program the agent that the loop builds, by copying it.
const agentEnv = "A2AGEN_TEST_DEV_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentEnv) != "" && os.Getenv(server.EnvAddr) != "" {
		beAgent()
		return
	}
	os.Exit(m.Run())
}

// beAgent answers every request with what answer.go says when it is started.
func beAgent() {
	text, err := os.ReadFile("answer.go")
	if err != nil || strings.HasPrefix(string(text), "exit") {
		fmt.Fprintln(os.Stderr, "no answer is known")
		os.Exit(3)
	}
	err = http.ListenAndServe(os.Getenv(server.EnvAddr), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/exit" {
			fmt.Fprintln(os.Stderr, "I have enough")
			os.Exit(4)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if os.Getenv(server.EnvExplain) != "" && r.URL.Path == "/chosen" {
			fmt.Fprintln(os.Stderr, server.ChoiceLine+`{"message":"m1","skill":"talk"}`)
			fmt.Fprintln(os.Stderr, server.ChoiceLine+"no JSON")
		}
		if r.URL.Path == "/targets" {
			text = []byte(os.Getenv(server.EnvPushTargets))
		}
		_, _ = fmt.Fprintf(w, "%s %v %s", text, os.Args[1:], os.Getenv(server.EnvURL))
	}))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// buildByCopy is the build command of the test. It does not compile "broken".
const buildByCopy = `if grep -q broken answer.go; then echo "answer.go:1:8: it is broken"; exit 1; fi; cp "$` + agentEnv + `" "$A2A_DEV_OUT"`

// loop is one that runs.
type loop struct {
	t     *testing.T
	dir   string
	url   string
	page  string // with its token; "" without a page
	lines chan string
	keys  io.Writer
	ended chan error
}

func startLoop(t *testing.T, answer string, change func(*Options)) *loop {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(agentEnv, program)
	l := &loop{t: t, dir: t.TempDir(), lines: make(chan string, 1000), ended: make(chan error, 1)}
	l.write("go.mod", "module example.com/answer\n")
	l.write("answer.go", answer)
	out, in := io.Pipe()
	keys, press := io.Pipe()
	l.keys = press
	o := Options{Dirs: []string{l.dir}, Addr: "127.0.0.1:0", Exec: buildByCopy, Args: []string{"-x"}, Tool: project.Tool{Version: "v1.0.0"}, Out: in, Keys: keys}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			l.lines <- scan.Text()
		}
	}()
	go func() { l.ended <- Run(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-l.ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		_ = in.Close()
		if left, _ := filepath.Glob(filepath.Join(l.dir, ".a2agen/dev/bin-*")); len(left) > 0 {
			t.Errorf("it left %q", left)
		}
	})
	address := regexp.MustCompile(`http://\S+`)
	if l.url = address.FindString(l.until("http://")); o.Page != "" {
		l.page = address.FindString(l.until("page: "))
	}
	return l
}

func (l *loop) write(name, text string) {
	l.t.Helper()
	temp := filepath.Join(l.t.TempDir(), "new")
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(l.dir, name)); err != nil { // as editors do
		l.t.Fatal(err)
	}
}

// until waits for a line that has a text, and returns it.
func (l *loop) until(text string) string {
	for {
		if line := <-l.lines; strings.Contains(line, text) {
			return line
		}
	}
}

func (l *loop) get() string {
	l.t.Helper()
	resp, err := http.Post(l.url, "application/json", strings.NewReader("{}"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(body)
}

// TestASaveGoesOn: the first agent, the second, one that does not build, one that ends at once, and back again.
func TestASaveGoesOn(t *testing.T) {
	l := startLoop(t, "one", nil)
	l.until("answers at")
	if got := l.get(); got != "one [-x] "+l.url {
		t.Error(got)
	}
	l.write("answer.go", "two")
	l.until("answers at")
	if got := l.get(); !strings.HasPrefix(got, "two ") {
		t.Error(got)
	}
	l.write("answer.go", "broken")
	if line := l.until("answer.go:1:8"); line != "answer.go:1:8: it is broken" {
		t.Error(line)
	}
	l.until("building failed; the agent of ")
	if got := l.get(); !strings.HasPrefix(got, "two ") {
		t.Error(got)
	}
	l.write("answer.go", "exit")
	l.until("the agent ended at once (exit status 3); it said:")
	l.until("no answer is known")
	l.until("starting failed; the agent of ")
	if got := l.get(); !strings.HasPrefix(got, "two ") {
		t.Error(got)
	}
	l.write("answer.go", "three")
	l.until("answers at")
	if got := l.get(); !strings.HasPrefix(got, "three ") {
		t.Error(got)
	}
	if kept, err := os.ReadFile(filepath.Join(l.dir, ".a2agen/dev/.gitignore")); err != nil || string(kept) != "*\n" {
		t.Errorf("%q, %v", kept, err)
	}
}

// TestNoAgentIsSaidToCallers with the reason, until there is one.
func TestNoAgentIsSaidToCallers(t *testing.T) {
	l := startLoop(t, "broken", nil)
	l.until("no agent answers yet")
	if got := l.get(); got != "a2agen dev: there is no agent to answer, because of this:\nanswer.go:1:8: it is broken\n" {
		t.Errorf("%q", got)
	}
	l.write("answer.go", "mended")
	l.until("answers at")
	if got := l.get(); !strings.HasPrefix(got, "mended ") {
		t.Error(got)
	}
}

// TestAnAgentThatEndsByItselfIsNotStartedForEver: soon after its start it waits for a save.
func TestAnAgentThatEndsByItselfIsNotStartedForEver(t *testing.T) {
	l := startLoop(t, "one", func(o *Options) { o.short = time.Hour })
	l.until("answers at")
	if resp, err := http.Get(l.url + "/exit"); err == nil {
		_ = resp.Body.Close()
	}
	l.until("the agent ended by itself (exit status 4) soon after it was started")
	if got := l.get(); !strings.HasSuffix(got, "it said:\nI have enough\n") {
		t.Error(got)
	}
	l.write("answer.go", "two")
	l.until("answers at")
}

// TestAnAgentThatEndsByItselfIsStartedAgain, and what ends it is not asked for ever.
func TestAnAgentThatEndsByItselfIsStartedAgain(t *testing.T) {
	l := startLoop(t, "one", func(o *Options) { o.short = time.Nanosecond })
	l.until("answers at")
	resp, err := http.Get(l.url + "/exit")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(said), "its process ended each time") {
		t.Errorf("%s %s", resp.Status, said)
	}
	l.until("the agent ended by itself (exit status 4); it is started again")
	if got := l.get(); !strings.HasPrefix(got, "one ") {
		t.Error(got)
	}
}

// TestKeys of a person at the terminal: rebuild, pause, quit.
func TestKeys(t *testing.T) {
	l := startLoop(t, "one", nil)
	press := func(key string) {
		t.Helper()
		if _, err := io.WriteString(l.keys, key); err != nil {
			t.Fatal(err)
		}
	}
	l.until("answers at")
	press("r")
	l.until("answers at")
	press("p")
	l.until("paused")
	l.write("answer.go", "two")
	press("p")
	l.until("files are watched again")
	l.until("answers at")
	if got := l.get(); !strings.HasPrefix(got, "two ") {
		t.Error(got)
	}
	press("q")
	if err := <-l.ended; err != nil {
		t.Error(err)
	}
	l.ended <- nil
}

// TestNoCallFailsOverRoundsUnderLoad whatever the loop does.
func TestNoCallFailsOverRoundsUnderLoad(t *testing.T) {
	l := startLoop(t, "0", func(o *Options) { o.Poll = 5 * time.Millisecond })
	l.until("answers at")
	ctx, cancel := context.WithCancel(t.Context())
	var calls, failed atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				resp, err := http.Post(l.url, "application/json", strings.NewReader("{}"))
				calls.Add(1)
				if err != nil {
					failed.Add(1)
					continue
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
					failed.Add(1)
				}
				_ = resp.Body.Close()
				time.Sleep(time.Millisecond)
			}
		})
	}
	for i := range 5 {
		l.write("answer.go", fmt.Sprint(i+1))
		l.until("answers at")
	}
	cancel()
	wg.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d calls failed", failed.Load(), calls.Load())
	}
}

// TestAddressesAreOfThisMachineAndFree, or the error says what to do.
func TestAddressesAreOfThisMachineAndFree(t *testing.T) {
	l := startLoop(t, "one", nil)
	l.until("answers at")
	taken := strings.TrimPrefix(l.url, "http://")
	for addr, want := range map[string]string{
		"0.0.0.0:80": "listens on this machine alone", ":8080": "listens on this machine alone", "example.com:1": "listens on this machine alone",
		"8080": "write an address such as", taken: "--addr 127.0.0.1:0 takes a free port",
	} {
		err := Run(t.Context(), Options{Dirs: []string{l.dir}, Addr: addr, Out: io.Discard})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if err := Run(t.Context(), Options{Dirs: []string{t.TempDir()}, Addr: "127.0.0.1:0", Out: io.Discard}); err == nil || !strings.Contains(err.Error(), "holds no agent") {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestAFolderHasOneLoop: two would write the same files, and their agents the same tasks.
func TestAFolderHasOneLoop(t *testing.T) {
	if f, err := lockFolder(t.TempDir()); err != nil || f == nil {
		t.Skipf("there are no locks here: %v", err)
	} else {
		_ = f.Close()
	}
	l := startLoop(t, "one", nil)
	l.until("answers at")
	again := Options{Dirs: []string{l.dir}, Addr: "127.0.0.1:0", Out: io.Discard}
	if err := Run(t.Context(), again); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("another a2agen dev runs in this folder (process %d)", os.Getpid())) {
		t.Error(err)
	}
	if got := l.get(); !strings.HasPrefix(got, "one ") {
		t.Error(got)
	}
	twice := t.TempDir()
	if err := os.WriteFile(filepath.Join(twice, "go.mod"), []byte("module x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again.Dirs = []string{twice, twice}
	if err := Run(t.Context(), again); err == nil || !strings.Contains(err.Error(), "another a2agen dev runs") {
		t.Errorf("the same folder twice: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(twice, ".a2agen/dev/bin-*")); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}

// TestWhatAKilledLoopLeftIsRemoved when the next one begins.
func TestWhatAKilledLoopLeftIsRemoved(t *testing.T) {
	l := startLoop(t, "one", func(o *Options) {
		old := filepath.Join(o.Dirs[0], ".a2agen/dev/bin-1")
		if err := os.MkdirAll(old, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"bin-1/agent-1": "a program", "lock": "1\n"} {
			if err := os.WriteFile(filepath.Join(o.Dirs[0], ".a2agen/dev", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
	l.until("answers at") // the end of the test sees whether a folder is left
}

// TestAProgramGetsTheStoreItWasBuiltFor: one that was built before the tasks were kept in a file knows no file.
func TestAProgramGetsTheStoreItWasBuiltFor(t *testing.T) {
	a := &agent{Options: &Options{}, dir: t.TempDir(), console: &console{Console: &Console{out: io.Discard}}}
	a.now.Store = status.InFile
	for b, want := range map[binary]string{{path: "old"}: "", {path: "new", keeps: true}: a.path(tasksFile)} {
		if got := a.start(b, false).Store; got != want {
			t.Errorf("%+v: %q", b, got)
		}
		if got := a.start(b, true).Store; got != "memory" {
			t.Errorf("the trial of %+v: %q", b, got)
		}
	}
}

// TestTasksThatKeepAnAgentFromStartingAreCleared: the key works without an agent, and a round follows.
func TestTasksThatKeepAnAgentFromStartingAreCleared(t *testing.T) {
	out := &strings.Builder{}
	a := &agent{Options: &Options{}, dir: t.TempDir(), console: &console{Console: &Console{out: out}}}
	a.now.Store = status.InFile
	if err := os.MkdirAll(a.path(""), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{tasksFile, tasksFile + "-wal"} {
		if err := os.WriteFile(a.path(name), []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.binary = binary{path: "agent", keeps: true}
	if err := a.withStore(errors.New("the file is damaged")); !strings.Contains(err.Error(), "the file is damaged\nThe agent starts without the tasks in .a2agen/dev/tasks.db: clear them") {
		t.Error(err)
	}
	if !a.obey(t.Context(), Clear) || !strings.Contains(out.String(), "the tasks are cleared") {
		t.Error(out)
	}
	if left, _ := filepath.Glob(a.path(tasksFile + "*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
