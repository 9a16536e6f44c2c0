package cards

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/quiet"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/project"
)

const agentYAML = `name: Bot
description: Does little.
version: 1.0.0
skills:
  - id: chat
    name: Chat
    description: Talks.
    tags: [talk]
`

// repository has an agent in the folder "bots/one" of a git repository.
func repository(t *testing.T) (root, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	root = t.TempDir()
	dir = filepath.Join(root, "bots", "one")
	write(t, dir, "agent.yaml", agentYAML)
	write(t, dir, "main.go", "package main")
	write(t, root, "go.mod", "module example.com/bots\n\ngo 1.26.0\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "-qm", "First <b>one</b>"}} {
		cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s", said)
		}
	}
	return root, dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start answers for an agent in a folder, and one that is elsewhere.
func start(dir, to string) http.Handler {
	c := &Cards{
		Tool: project.ThisTool(), Agents: func() []status.Agent { return []status.Agent{{Folder: dir}, {Number: 1, To: to}} },
		Get: func(ctx context.Context, _ int, path string, header http.Header) (*quiet.Answer, error) {
			return quiet.Get(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/a2a+json")
				_, _ = w.Write([]byte(r.URL.Path + " in " + r.Header.Get("A2A-Version") + " of " + r.Host))
			}), "http://127.0.0.1:1", path, header)
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{agent}/published", c.Published)
	mux.HandleFunc("GET /{agent}/lint", c.Lint)
	mux.HandleFunc("POST /{agent}/diff", c.Diff)
	return mux
}

func ask(h http.Handler, method, path, body string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return http.StatusText(w.Code) + " " + w.Body.String()
}

// TestACardIsComparedWithTheLastCommit, and with one that is published, without a change of the project.
func TestACardIsComparedWithTheLastCommit(t *testing.T) {
	_, dir := repository(t)
	write(t, dir, "agent.yaml", strings.Replace(agentYAML, "id: chat", "id: talk", 1))
	published := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name":"Bot","description":"Does little.","version":"0.9.0","capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
"supportedInterfaces":[{"url":"https://bot.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"skills":[{"id":"chat","name":"Chat","description":"Talks.","tags":["talk"]}]}`))
	}))
	defer published.Close()
	h := start(dir, published.URL)
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string][]string{
		`{"with":"commit"}`: {`OK {"old":{"from":"commit `, `First \u003cb\u003eone\u003c/b\u003e","name":"Bot"`, `"breaking"`, `chat`},
		`{"with":"` + published.URL + `","private":true}`:  {`"version":"0.9.0"`, `"breaking"`},
		`{"with":"` + published.URL + `","private":false}`: {"Unprocessable Entity", "private or local address"},
		`{"with":"/etc/passwd"}`:                           {"Unprocessable Entity", "write the URL of an agent"},
		`{"with":"file:///etc/passwd"}`:                    {"Unprocessable Entity", "write the URL of an agent"},
		`{`:                                                {"Unprocessable Entity", "is not the JSON"},
	} {
		said := ask(h, "POST", "/0/diff", body)
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%s: no %s in %s", body, w, said)
			}
		}
	}
	if said := ask(h, "POST", "/1/diff", `{"with":"commit"}`); !strings.Contains(said, "not made here") {
		t.Error(said)
	}
	if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
		t.Error("the project has other files", after, err)
	}
}

// TestACommitThatCannotBeRead is an error that says why.
func TestACommitThatCannotBeRead(t *testing.T) {
	root, dir := repository(t)
	write(t, filepath.Join(root, "new"), "agent.yaml", agentYAML)
	if said := ask(start(filepath.Join(root, "new"), ""), "POST", "/0/diff", `{"with":"commit"}`); !strings.Contains(said, "git archive: ") {
		t.Error(said)
	}
	none := t.TempDir()
	write(t, none, "agent.yaml", agentYAML)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(none))
	if said := ask(start(none, ""), "POST", "/0/diff", `{"with":"commit"}`); !strings.Contains(said, "git log: ") || !strings.Contains(said, "repository") {
		t.Error(said)
	}
	t.Setenv("PATH", "")
	if said := ask(start(dir, ""), "POST", "/0/diff", `{"with":"commit"}`); !strings.Contains(said, "no git in the PATH") {
		t.Error(said)
	}
}

// TestACardIsShownAsItIsPublished, and linted.
func TestACardIsShownAsItIsPublished(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "agent.yaml", agentYAML+"securitySchemes: {c: {apiKeySecurityScheme: {location: cookie, name: sid}}}\nsecurityRequirements: [{schemes: {c: []}}]\n")
	write(t, dir, "go.mod", "module example.com/bot\n")
	h := start(dir, "")
	if said := ask(h, "GET", "/0/published?version=0.3", ""); said != `OK {"status":200,"text":"/.well-known/agent-card.json in 0.3 of 127.0.0.1:1","type":"application/a2a+json"}`+"\n" {
		t.Error(said)
	}
	if said := ask(h, "GET", "/0/lint", ""); !strings.HasPrefix(said, `OK {"findings":[{"code":"`) || !strings.Contains(said, `"file":"agent.yaml"`) {
		t.Error(said)
	}
	if said := ask(h, "GET", "/7/lint", ""); !strings.Contains(said, "no such agent") {
		t.Error(said)
	}
}
