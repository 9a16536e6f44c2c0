package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/mcpserver"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/nested"
)

// sum is the output of the tool add.
type sum struct{ Sum int64 }

func TestToolsAreCalledOverEveryTransport(t *testing.T) {
	everyTransport(t, func(t *testing.T, s *Server) {
		for range 2 {
			var out sum
			err := s.Call(t.Context(), &recorder{}, Tool{Name: "add"}, map[string]int64{"a": 1, "b": 9007199254740992}, &out)
			if err != nil || out.Sum != 9007199254740993 {
				t.Fatalf("%d, %v", out.Sum, err)
			}
		}
		var text string
		if err := s.Call(t.Context(), &recorder{}, Tool{Name: "say"}, map[string]string{"text": "hello"}, &text); err != nil || text != "hello" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestAListingIsByteForByte(t *testing.T) {
	everyTransport(t, func(t *testing.T, s *Server) {
		list, err := s.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Tools []struct{ InputSchema, OutputSchema json.RawMessage }
		}
		if err := json.Unmarshal([]byte(mcpserver.Listing), &want); err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, tool := range list.Tools {
			all += string(tool) + "\n"
		}
		for _, tool := range want.Tools {
			if !strings.Contains(all, string(tool.InputSchema)) || !strings.Contains(all, string(tool.OutputSchema)) {
				t.Errorf("%s is not in\n%s", tool.InputSchema, all)
			}
		}
		if list.Name != "test-tools" || list.Title != "Test tools" || len(list.Tools) != len(want.Tools) {
			t.Errorf("got %q %q with %d tools", list.Name, list.Title, len(list.Tools))
		}
	})
}

func TestAListingIsBounded(t *testing.T) {
	tap := &tap{size: maxListing - 3}
	if _, err := tap.of(strings.NewReader("12345")).Read(make([]byte, 10)); !errors.Is(err, errListing) || !errors.Is(tap.explain(nil), errListing) {
		t.Errorf("got %v", err)
	}
	limited := &limited{strings.NewReader("12345"), 4}
	if _, err := limited.Read(make([]byte, 10)); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v", err)
	}
}

func TestFilesBecomeAnArtifact(t *testing.T) {
	s, _ := web(t, "/mcp")
	task, text := &recorder{}, ""
	if err := s.Call(t.Context(), task, Tool{Name: "files"}, struct{}{}, &text); err != nil {
		t.Fatal(err)
	}
	want := []runtime.Part{
		runtime.File("image.png", "image/png", []byte("png")),
		runtime.File("audio.wav", "audio/wav", []byte("wav")),
		runtime.Link("a.csv", "text/csv", "https://files.example/a.csv"),
		runtime.File("b.txt", "text/plain", []byte("b")),
		runtime.File("c.bin", "application/octet-stream", []byte{0, 1}),
	}
	got, _ := json.Marshal(task.artifact.Parts)
	wanted, _ := json.Marshal(want)
	if text != "Five files." || string(got) != string(wanted) || task.artifact.Name != "content" {
		t.Errorf("%q and %s, want %s", text, got, wanted)
	}
}

func TestErrorsAreExplainedInTermsOfA2A(t *testing.T) {
	s, _ := web(t, "/mcp")
	var text string
	var out sum
	tests := []struct {
		name string
		call func() error
		want string
	}{
		{"a tool that fails", func() error { return s.Call(t.Context(), &recorder{}, Tool{Name: "fail"}, struct{}{}, &text) }, "failed: The disk is full."},
		{"a tool that is not there", func() error { return s.Call(t.Context(), &recorder{}, Tool{Name: "nix"}, struct{}{}, &text) }, `Invalid parameters: Tools answered: unknown tool "nix"`},
		{"no structured content", func() error {
			return s.Call(t.Context(), &recorder{}, Tool{Name: "say"}, map[string]string{"text": "x"}, &out)
		},
			"failed: the answer of Tools does not fit its description: it has no structured content"},
		{"nobody there", func() error {
			away := &Server{Name: "Away", URL: "http://127.0.0.1:1/mcp"}
			return away.Call(t.Context(), &recorder{}, Tool{Name: "x"}, struct{}{}, &text)
		}, "failed: Away did not answer. Try again later."},
		{"no command", func() error {
			away := &Server{Name: "Away", Command: []string{filepath.Join(t.TempDir(), "nix")}}
			return away.Call(t.Context(), &recorder{}, Tool{Name: "x"}, struct{}{}, &text)
		}, "failed: Away did not answer. Try again later."},
		{"nowhere", func() error {
			return (&Server{Name: "Away", URLEnv: "AWAY_URL"}).Call(t.Context(), &recorder{}, Tool{Name: "x"}, struct{}{}, &text)
		}, "failed: Away did not answer. Try again later."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := Explain(&recorder{}, tt.call()); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestProgressIsOfTheTaskAndCancelReachesTheServer(t *testing.T) {
	for _, path := range []string{"/mcp", "/stateless", "/sse"} {
		t.Run(path[1:], func(t *testing.T) {
			s, fake := web(t, path)
			ctx, cancel := context.WithCancel(t.Context())
			task, ended := &recorder{told: make(chan string, 5)}, make(chan error, 1)
			go func() {
				var text string
				ended <- s.Call(ctx, task, Tool{Name: "slow"}, struct{}{}, &text)
			}()
			if one, two := <-task.told, <-task.told; one != "1 of 3" || two != "Nearly there." {
				t.Errorf("told %q, %q", one, two)
			}
			<-fake.Started
			cancel()
			<-fake.Canceled
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSilenceEndsACall(t *testing.T) {
	s, fake := web(t, "/mcp")
	if err := s.Call(t.Context(), &recorder{}, Tool{Name: "say"}, map[string]string{"text": ""}, new(string)); err != nil {
		t.Fatal(err)
	}
	s.Timeout = 20 * time.Millisecond
	err := s.Call(t.Context(), &recorder{}, Tool{Name: "slow"}, struct{}{}, new(string))
	var away *UnreachableError
	if !errors.As(err, &away) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	select {
	case <-fake.Started:
		<-fake.Canceled
	default: // on a slow machine the call ends before the tool begins
	}
}

func TestACommandThatDiesIsStartedAgain(t *testing.T) {
	s := command(t)
	err := s.Call(t.Context(), &recorder{}, Tool{Name: "die"}, struct{}{}, new(string))
	var away *UnreachableError
	if !errors.As(err, &away) {
		t.Fatalf("got %v", err)
	}
	var out sum
	// The end of the command may be noticed by this call only: it can be made again.
	if err := s.Call(t.Context(), &recorder{}, Tool{Name: "add", Again: true}, map[string]int{"a": 1, "b": 2}, &out); err != nil || out.Sum != 3 {
		t.Errorf("%d, %v", out.Sum, err)
	}
}

func TestASessionThatIsForgottenIsMadeAnew(t *testing.T) {
	fake, now := mcpserver.New(), (http.Handler)(nil)
	now = fake.Handler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.ServeHTTP(w, r) }))
	defer srv.Close()
	defer srv.CloseClientConnections()
	s := closing(t, &Server{Name: "Tools", URL: srv.URL + "/mcp"})
	for range 2 {
		if err := s.Call(t.Context(), &recorder{}, Tool{Name: "say"}, map[string]string{"text": ""}, new(string)); err != nil {
			t.Fatal(err)
		}
		srv.CloseClientConnections()
		now = mcpserver.New().Handler() // as a server that was restarted
	}
}

func TestAQuestionWaitsForItsAnswer(t *testing.T) {
	everyTransport(t, func(t *testing.T, s *Server) {
		h, text := newHandler(), ""
		call := func() error { return s.Call(h.context(t), &recorder{}, Tool{Name: "ask"}, struct{}{}, &text) }
		q := askedBy(t, call())
		said, _ := q.Words()
		if len(said.Parts) != 2 || said.Parts[0].Text != "What is your name?" || !strings.Contains(string(said.Parts[1].Data), `"minLength":2`) {
			t.Errorf("asked %+v", said.Parts)
		}
		h.answer = &nested.Answer{Question: q.Token(), Parts: []runtime.Part{runtime.Text("x")}}
		q = askedBy(t, call())
		if said, _ := q.Words(); !strings.HasPrefix(said.Parts[0].Text, "That does not fit: ") {
			t.Errorf("asked again %q", said.Parts[0].Text)
		}
		h.answer = &nested.Answer{Question: q.Token(), Parts: []runtime.Part{runtime.Data(map[string]string{"name": "Ann"})}}
		if err := call(); err != nil || text != "Hello, Ann." {
			t.Errorf("%q, %v", text, err)
		}
		text = ""
		if err := call(); err != nil || text != "Hello, Ann." { // called once more: it is remembered
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestATaskThatIsCanceledCancelsTheToolThatWaits(t *testing.T) {
	s, fake := web(t, "/mcp")
	h := newHandler()
	q := askedBy(t, s.Call(h.context(t), &recorder{}, Tool{Name: "ask"}, struct{}{}, new(string)))
	r := s.waiting.all[q.Task()].running
	if err := h.cancel(t.Context(), q.Task()); err != nil {
		t.Fatal(err)
	}
	if o := <-r.done; !errors.Is(o.err, context.Canceled) {
		t.Errorf("the call ended with %v", o.err)
	}
	<-fake.Told // later than the call has ended: a session that ended in between would wait for the answer for ever
	h.answer = &nested.Answer{Question: q.Token(), Parts: []runtime.Part{runtime.Text("Ann")}}
	var lost *LostError
	if err := s.Call(h.context(t), &recorder{}, Tool{Name: "ask"}, struct{}{}, new(string)); !errors.As(err, &lost) {
		t.Errorf("got %v", err)
	}
}

func TestACallThatMayHaveBeenMadeIsMadeAgainOnlyWhereThatDoesNoHarm(t *testing.T) {
	s, _ := web(t, "/mcp")
	h := newHandler()
	h.calls["add"] = &nested.Known{ID: "add", Sent: time.Now()}
	var lost *LostError
	var out sum
	in := map[string]int{"a": 1, "b": 1}
	if err := s.Call(h.context(t), &recorder{}, Tool{Name: "add"}, in, &out); !errors.As(err, &lost) {
		t.Errorf("got %v", err)
	}
	if err := s.Call(h.context(t), &recorder{}, Tool{Name: "add", Again: true}, in, &out); err != nil || out.Sum != 2 {
		t.Errorf("%d, %v", out.Sum, err)
	}
}

func TestWithoutAHandlerNobodyIsAsked(t *testing.T) {
	s, _ := web(t, "/mcp")
	var text string
	if err := s.Call(t.Context(), &recorder{}, Tool{Name: "ask"}, struct{}{}, &text); err != nil || text != "Nobody said: decline." {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAQuestionGoesToNobodyWhereItMayBeOfSeveralCalls(t *testing.T) {
	s, fake := web(t, "/mcp")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Call(ctx, &recorder{}, Tool{Name: "slow"}, struct{}{}, new(string)) }()
	<-fake.Started
	err := s.Call(newHandler().context(t), &recorder{}, Tool{Name: "ask"}, struct{}{}, new(string))
	if err == nil || !strings.Contains(err.Error(), "nobody can be asked") {
		t.Errorf("got %v", err)
	}
	cancel()
	<-ended
	<-fake.Canceled
}

func TestAnswersAreReadAsTheyAreAskedFor(t *testing.T) {
	one := func(field string) string {
		return `{"type": "object", "required": ["x"], "properties": {"x": ` + field + `}}`
	}
	tests := []struct {
		schema string
		part   runtime.Part
		want   string // or part of the error
	}{
		{one(`{"type": "string"}`), runtime.Text(" hello "), `{"x":"hello"}`},
		{one(`{"type": "string", "enum": ["a", "b"]}`), runtime.Text("c"), "enum"},
		{one(`{"type": "boolean"}`), runtime.Text("Yes"), `{"x":true}`},
		{one(`{"type": "boolean"}`), runtime.Text("perhaps"), "x must be yes or no"},
		{one(`{"type": "integer"}`), runtime.Text("7"), `{"x":7}`},
		{one(`{"type": "number"}`), runtime.Text("many"), "x must be a number"},
		{one(`{"type": "integer", "maximum": 5}`), runtime.Data(map[string]int{"x": 6}), "maximum"},
		{one(`{"type": "string"}`), runtime.Text(`{"x": "a"}`), `{"x":"a"}`},
		{`{"properties": {"x": {"type": "string"}, "y": {"type": "string"}}}`, runtime.Text("a"), "write an object in JSON"},
		{`{"type": "object", "properties": {}}`, runtime.Text("go on"), `{}`},
		{one(`{"type": "string"}`), runtime.Data([]int{1}), "no object"},
	}
	for _, tt := range tests {
		q := &question{schema: json.RawMessage(tt.schema)}
		content, err := q.read([]runtime.Part{tt.part})
		got, _ := json.Marshal(content)
		if err == nil && string(got) != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v for %s is %s, %v, want %s", tt.part, tt.schema, got, err, tt.want)
		}
	}
}

func TestCredentialsComeFromTheEnvironment(t *testing.T) {
	fake := mcpserver.New()
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got = append(got, r.Header.Get("Authorization")); r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fake.Handler().ServeHTTP(w, r)
	}))
	defer srv.Close()
	defer srv.CloseClientConnections()
	s := closing(t, &Server{Name: "Tools", URL: srv.URL + "/stateless", Headers: map[string]string{"Authorization": "Bearer ${MCP_TEST_TOKEN}"}})
	call := func() error {
		return s.Call(t.Context(), &recorder{}, Tool{Name: "say"}, map[string]string{"text": ""}, new(string))
	}
	err := call()
	if said := Explain(&recorder{}, err); said == nil || said.Error() != "failed: This agent has no credentials for Tools." || len(got) != 0 {
		t.Errorf("got %v", err)
	}
	t.Setenv("MCP_TEST_TOKEN", "wrong")
	if said := Explain(&recorder{}, call()); said.Error() != "failed: Tools does not accept the credentials of this agent for that." {
		t.Errorf("got %v", said)
	}
	t.Setenv("MCP_TEST_TOKEN", "secret")
	if err := call(); err != nil {
		t.Error(err)
	}
}

func TestACommandGetsTheVariablesThatItNeedsAndNoOther(t *testing.T) {
	t.Setenv("MCP_TEST_SECRET", "s")
	t.Setenv("MCP_TEST_KEY", "k")
	s := command(t)
	s.Env = []string{"MCP_TEST_KEY"}
	var text string
	if err := s.Call(t.Context(), &recorder{}, Tool{Name: "environment"}, struct{}{}, &text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	if !slices.Contains(lines, "MCP_TEST_KEY=k") || strings.Contains(text, "SECRET") || !slices.Contains(lines, "PATH="+os.Getenv("PATH")) {
		t.Errorf("it got %s", text)
	}
	missing := &Server{Name: "Tools", Command: s.Command, Env: []string{"MCP_TEST_NOT_SET"}}
	var want *CredentialError
	if err := missing.Call(t.Context(), &recorder{}, Tool{Name: "say"}, struct{}{}, &text); !errors.As(err, &want) || want.Env != "MCP_TEST_NOT_SET" {
		t.Errorf("got %v", err)
	}
}

func TestTheEnvironmentSaysWhereAServerIs(t *testing.T) {
	there, _ := web(t, "/mcp")
	s := closing(t, &Server{Name: "Tools", Command: []string{"nix"}, URLEnv: "MCP_TEST_URL"})
	t.Setenv("MCP_TEST_URL", there.URL)
	if err := s.Call(t.Context(), &recorder{}, Tool{Name: "say"}, map[string]string{"text": ""}, new(string)); err != nil {
		t.Error(err)
	}
}
