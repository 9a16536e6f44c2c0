package project

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// earlier is a project that an earlier tool generated: its a2agen.yaml and its lock say nothing of bindings, its card has JSON-RPC alone, and its
// Dockerfile listens for everybody.
func earlier(t *testing.T) Options {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	o := Options{Tool: Tool{Version: "v1.0.0"}, Dir: t.TempDir()}
	projecttest.Write(t, o.Dir, map[string]string{
		"go.mod": "module example.com/w\n\nrequire github.com/a2agen/a2agen v1.0.0\n", "agent.yaml": projecttest.Skills(1),
		"a2agen.yaml": sharedProtocol, "Dockerfile": "FROM scratch\nENTRYPOINT [\"/agent\", \"-addr\", \":8080\"]\n",
	})
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	lockFile, cardFile := filepath.Join(o.Dir, output.LockName), filepath.Join(o.Dir, "agent/card.gen.go")
	lock, err := os.ReadFile(lockFile)
	if err != nil {
		t.Fatal(err)
	}
	card := "// " + output.Header + "\n\npackage agent\n\nconst CardJSON = `{\"supportedInterfaces\":[{\"url\":\"/\",` +\n\t`\"protocolBinding\":\"JSONRPC\"}],\"x\":` + x + `}`\n"
	text := regexp.MustCompile(`(?m)^bindings: .*\n`).ReplaceAllString(string(lock), "")
	text = regexp.MustCompile(`(agent/card.gen.go: ).*`).ReplaceAllString(text, "${1}"+output.Digest([]byte(card)))
	projecttest.WriteFile(t, lockFile, text)
	projecttest.WriteFile(t, cardFile, card)
	o.Tool.Version = "v1.1.0"
	return o
}

func codes(r Report) (list []string) {
	for _, d := range r.Diagnostics {
		list = append(list, d.Code)
	}
	return list
}

func TestAnUpgradeOpensNoBindingThatNobodyAskedFor(t *testing.T) {
	o := earlier(t)
	for i := range 3 { // the second time the lock says it
		r, err := Run(t.Context(), Options{Tool: o.Tool, Dir: o.Dir, Force: true})
		if err != nil || slices.Contains(codes(r), "bindings") != (i == 0) {
			t.Errorf("run %d: error %v, %v", i, err, r.Diagnostics)
		}
		card, err := os.ReadFile(filepath.Join(o.Dir, "agent/card.gen.go"))
		if err != nil || strings.Contains(string(card), "HTTP+JSON") {
			t.Errorf("run %d: error %v, the card is\n%s", i, err, card)
		}
	}
	for _, bindings := range []string{"bindings: [JSONRPC, HTTP+JSON]\n", ""} { // what is asked for, and the default of who took it back
		projecttest.Write(t, o.Dir, map[string]string{"a2agen.yaml": sharedProtocol + bindings})
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if card, _ := os.ReadFile(filepath.Join(o.Dir, "agent/card.gen.go")); !strings.Contains(string(card), "HTTP+JSON") {
			t.Errorf("%q is not served:\n%s", bindings, card)
		}
	}
}

// An agent that nobody decided about ends at its start where it listens for others: that is said while it is generated.
func TestAnAgentThatWouldNotStartIsNamed(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		file  string // where it is said; "" when there is nothing to say
	}{
		"it listens for everybody":        {nil, "Dockerfile"},
		"nobody knows where it listens":   {map[string]string{"Dockerfile": "FROM scratch\n"}, "a2agen.yaml"},
		"who wrote it knows":              {map[string]string{"Dockerfile": "ENV A2A_AUTH=none\nENTRYPOINT [\"/agent\", \"-addr\", \":8080\"]\n"}, "a2agen.yaml"},
		"anybody may use it":              {map[string]string{"a2agen.yaml": sharedProtocol + "auth: none\n"}, ""},
		"main.go says who may come in":    {map[string]string{"main.go": "package main\n\nvar _ = server.WithProxyIdentity(nil)\n"}, ""},
		"it listens on its own machine":   {map[string]string{"Dockerfile": "ENTRYPOINT [\"/agent\", \"-addr\", \"127.0.0.1:8080\"]\n"}, "a2agen.yaml"},
		"main.go says other things alone": {map[string]string{"main.go": "package main\n\nvar _ = server.WithLogger(nil)\n"}, "Dockerfile"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := earlier(t)
			projecttest.Write(t, o.Dir, tt.files)
			said := func(r []string, file string) {
				if t.Helper(); !slices.Equal(r, slices.DeleteFunc([]string{file}, func(f string) bool { return f == "" })) {
					t.Errorf("said of %v, want %q", r, file)
				}
			}
			c, err := Check(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			said(reachIn(text(t, c.Diagnostics)), tt.file)
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			said(reachIn(text(t, r.Diagnostics)), tt.file)
			// The second time what nobody knows is not repeated.
			if r, err = Run(t.Context(), Options{Tool: o.Tool, Dir: o.Dir, Force: true}); err != nil {
				t.Fatal(err)
			}
			said(reachIn(text(t, r.Diagnostics)), strings.TrimPrefix(tt.file, "a2agen.yaml"))
		})
	}
}

// reachIn are the files of which it is said that the agent would not start.
func reachIn(text string) (files []string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "ends at its start") {
			file, _, _ := strings.Cut(line, ":")
			files = append(files, file)
		}
	}
	return files
}

func text(t *testing.T, list diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
