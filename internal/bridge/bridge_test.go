package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

const (
	input  = `{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"days":{"type":"integer","default":3}}}`
	output = `{"type":"object","properties":{"sky":{"type":"string"}},"required":["sky"]}`
)

// startAgent starts an agent of a version with a typed skill and one of text.
func startAgent(t *testing.T, version string) string {
	t.Helper()
	p := a2awires.Protocol()
	c, err := p.DecodeCard([]byte(`{"name":"sky","description":"Knows the sky.","version":"3","capabilities":{"streaming":true,"extensions":[
		{"uri":"` + runtime.SkillsExtension + `","params":{"skills":{"forecast":{"input":` + input + `,"output":` + output + `}}}}]},
		"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"` + version + `"}],
		"defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain","application/json"],
		"skills":[{"id":"forecast","name":"Forecast","description":"The weather.","tags":["w"],"examples":["Rome"]},{"id":"sky.chat","name":"Chat","description":"Talks.","tags":["c"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	skills := []server.Skill{
		{ID: "forecast", Name: "Forecast", InputSchema: input, OutputSchema: output, Run: func(context.Context, *server.Task, any) ([]byte, error) {
			return []byte(`{"sky":"blue"}`), nil
		}},
		{ID: "sky.chat", Name: "Chat", Run: func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
			if t.Text() == "ask" && !t.Resumed() {
				return nil, t.Ask("Which one?")
			}
			return []byte("you said " + t.Text()), nil
		}},
	}
	s, err := server.New(server.Config{Protocol: p, Card: c, Skills: skills}, server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() { _ = s.Close(); web.Close() })
	return web.URL
}

// session is a host that has started the bridge.
type session struct {
	*sdk.ClientSession
	out  *tee
	ends func() error // closes stdin, and returns what the bridge came to
	err  *bytes.Buffer
}

// tee keeps what passes.
type tee struct {
	io.Writer
	mu   sync.Mutex
	kept bytes.Buffer
}

func (t *tee) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.kept.Write(b)
	t.mu.Unlock()
	return t.Writer.Write(b)
}

func start(t *testing.T, o Options) *session {
	t.Helper()
	in, toBridge := io.Pipe()
	fromBridge, out := io.Pipe()
	s := &session{out: &tee{Writer: out}, err: new(bytes.Buffer)}
	o.In, o.Out, o.Err = in, s.out, s.err
	ended := make(chan error, 1)
	go func() {
		err := Serve(t.Context(), o)
		_ = out.CloseWithError(err)
		ended <- err
	}()
	s.ends = func() error {
		_ = toBridge.Close()
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Minute):
			return errors.New("the bridge goes on")
		}
	}
	host := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "this"}}, nil
		},
	})
	var err error
	if s.ClientSession, err = host.Connect(t.Context(), &sdk.IOTransport{Reader: fromBridge, Writer: toBridge}, nil); err != nil {
		t.Fatalf("connect: %v; the bridge says %s", err, s.err)
	}
	t.Cleanup(func() { _ = toBridge.Close(); _ = fromBridge.Close() })
	return s
}

func (s *session) call(t *testing.T, name, arguments string) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	src, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func TestAHostCallsTheSkillsOfAnAgentOfAnyVersion(t *testing.T) {
	for _, version := range []string{"1.0", "0.3", "0.2", "0.1"} {
		t.Run(version, func(t *testing.T) {
			s := start(t, Options{Target: startAgent(t, version), AllowPrivate: true})
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 2 || list.Tools[0].Name != "forecast" || list.Tools[1].Name != "sky_chat" {
				t.Fatalf("got %v, %v", list, err)
			}
			if got := s.call(t, "forecast", `{"city":"Rome"}`); !strings.Contains(got, `"structuredContent":{"sky":"blue"}`) {
				t.Errorf("got %s", got)
			}
			if got := s.call(t, "sky_chat", `{"text":"hello"}`); !strings.Contains(got, `"text":"you said hello"`) {
				t.Errorf("got %s", got)
			}
			if got := s.call(t, "sky_chat", `{"text":"ask"}`); !strings.Contains(got, `"text":"you said this"`) {
				t.Errorf("a question is answered %s", got)
			}
			if err := s.ends(); err != nil || s.err.String() != "a2agen: serving \"sky\" over MCP, with 2 tools\n" {
				t.Errorf("the bridge ends with %v, and says %s", err, s.err)
			}
			onlyMCP(t, s.out)
			for _, schema := range []string{`"inputSchema":` + input, `"outputSchema":` + output} {
				if !strings.Contains(s.out.kept.String(), schema) {
					t.Errorf("no tool has the schema of the card, byte for byte: %s", schema)
				}
			}
		})
	}
}

// onlyMCP fails the test if something else went to stdout.
func onlyMCP(t *testing.T, out *tee) {
	t.Helper()
	for line := range strings.Lines(out.kept.String()) {
		var m struct{ JSONRPC string }
		if json.Unmarshal([]byte(line), &m) != nil || m.JSONRPC != "2.0" {
			t.Errorf("the bridge writes %s", line)
		}
	}
}

func TestPrivateAddressesAreRefusedUnlessTheyAreAllowed(t *testing.T) {
	at := startAgent(t, "1.0")
	err := Serve(t.Context(), Options{Target: at, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1 is a private or local address; allow it with --allow-private-network") {
		t.Errorf("got %v", err)
	}
}

func TestTheAgentOfAFolderIsOnThisMachine(t *testing.T) {
	at := startAgent(t, "1.0")
	t.Setenv("A2A_PUBLIC_URL", at)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte("name: sky\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Target: dir})
	if got := s.call(t, "sky_chat", `{"text":"hello"}`); !strings.Contains(got, "you said hello") {
		t.Errorf("got %s", got)
	}
}

// TestACardForCallersWithCredentialsIsRead: neither the public card nor anything else is there without them.
func TestACardForCallersWithCredentialsIsRead(t *testing.T) {
	agent, err := url.Parse(startAgent(t, "1.0"))
	if err != nil {
		t.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(agent)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	defer locked.Close()
	s := start(t, Options{Target: locked.URL, AllowPrivate: true, Headers: []string{"X-Key: k"}})
	if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 2 {
		t.Errorf("got %v, %v", list, err)
	}
	err = Serve(t.Context(), Options{Target: locked.URL, AllowPrivate: true, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "the agent's error") {
		t.Errorf("without the key: %v", err)
	}
}

func TestTheExtendedCardHasTheToolsOfCallersWithCredentials(t *testing.T) {
	const whole = `{"name":"sky","description":"d","version":"3","capabilities":{"extendedAgentCard":true},"supportedInterfaces":[{"url":"%s","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[%s]}`
	const skill = `{"id":"%s","name":"n","description":"d","tags":["t"]}`
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	defer web.Close()
	public := fmt.Sprintf(skill, "public")
	mux.HandleFunc("/.well-known/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, whole, web.URL, public) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ID     json.RawMessage
			Method string
		}
		if json.NewDecoder(r.Body).Decode(&q) != nil || q.Method != "GetExtendedAgentCard" || r.Header.Get("Authorization") != "Bearer t" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":`+whole+`}`, q.ID, web.URL, public+","+fmt.Sprintf(skill, "secret"))
	})
	for token, want := range map[string]int{"": 1, "t": 2, "wrong": 1} {
		s := start(t, Options{Target: web.URL, AllowPrivate: true, Token: token})
		if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != want {
			t.Errorf("with the token %q: got %v, %v", token, list, err)
		}
	}
}

// TestACredentialThatIsMissingIsNamedToThePerson: the model is told only that it may not use the tool.
func TestACredentialThatIsMissingIsNamedToThePerson(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"name":"sky","description":"d","version":"3","capabilities":{},"supportedInterfaces":[{"url":"http://%s","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
			"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},"securityRequirements":[{"schemes":{"key":{"list":[]}}}],
			"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"n","description":"d","tags":["t"]}]}`, r.Host)
	}))
	defer web.Close()
	s := start(t, Options{Target: web.URL, AllowPrivate: true})
	if got := s.call(t, "s", `{"text":"x"}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "may not be used with the credentials") {
		t.Errorf("the model is told %s", got)
	}
	if err := s.ends(); err != nil || !strings.Contains(s.err.String(), "a2agen: s: the agent demands an API key") || !strings.Contains(s.err.String(), "--header 'X-Key: …'") {
		t.Errorf("the person is told %s (%v)", s.err, err)
	}
}

func TestTheHostMaySendWhatIsNoMCP(t *testing.T) {
	at := startAgent(t, "1.0")
	err := Serve(t.Context(), Options{Target: at, AllowPrivate: true, In: strings.NewReader("<html>\n"), Out: io.Discard, Err: io.Discard})
	if err == nil || !strings.HasPrefix(err.Error(), "the MCP host: ") {
		t.Errorf("got %v", err)
	}
}

func TestAnEndOfTheProcessIsNoError(t *testing.T) {
	at := startAgent(t, "1.0")
	ctx, stop := context.WithCancel(t.Context())
	in, host := io.Pipe()
	defer host.Close()
	err := Serve(ctx, Options{Target: at, AllowPrivate: true, In: in, Out: io.Discard, Err: writer(func(b []byte) { stop() })})
	if err != nil {
		t.Errorf("got %v", err)
	}
}

// writer is a function that gets what is written.
type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// TestSkillsAreCalledAsTheirCardHasIt: other cards have schemas, too, and conventions of their own.
func TestSkillsAreCalledAsTheirCardHasIt(t *testing.T) {
	const frame = `{"name":"n","description":"d","version":"1","capabilities":{%s},"supportedInterfaces":[{"url":"https://a.test","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"defaultInputModes":["%s"],"defaultOutputModes":["application/json"],"skills":[%s]}`
	const typed = `{"id":"s","name":"n","description":"d","tags":["t"],"inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`
	for name, c := range map[string]struct {
		card string
		want string // parts or metadata of the message
	}{
		"text alone": {fmt.Sprintf(frame, "", "text/plain", typed), `text {"a":1}`},
		"JSON":       {fmt.Sprintf(frame, "", "application/json", typed), `data {"a":1}`},
	} {
		parsed, err := parse("card.json", []byte(c.card))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		skill := skillsOf(parsed)[0]
		if string(skill.Input) != `{"type":"object","properties":{"a":{"type":"string"}}}` {
			t.Errorf("%s: the input is %s", name, skill.Input)
		}
		call := &rpc.Calling{Skill: "s", Parts: []runtime.Part{runtime.Data(json.RawMessage(`{"a":1}`))}}
		if skill.By != nil {
			if err := skill.By(call); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		got := "data " + string(call.Parts[0].Data)
		if call.Parts[0].Kind == runtime.PartText {
			got = "text " + call.Parts[0].Text
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestACardWithoutSkillsIsOneTool(t *testing.T) {
	list := skillsOf(&card.Card{Name: "n", Description: "d"})
	if len(list) != 1 || list[0].ID != "" || list[0].Name != "n" || list[0].Description != "d" {
		t.Errorf("got %+v", list)
	}
}

// TestSchemasThatCannotBeTypesAreOffered: they say what they say to a model.
func TestSchemasThatCannotBeTypesAreOffered(t *testing.T) {
	c, err := parse("card.json", []byte(`{"name":"n","description":"d","version":"1","capabilities":{"extensions":[{"uri":"`+runtime.SkillsExtension+`","params":{"skills":
		{"s":{"input":{"type":"object","properties":{"a":{"$ref":"https://elsewhere.test/schema.json"}}}}}}}]},
		"supportedInterfaces":[{"url":"https://a.test","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"defaultInputModes":["application/json"],"defaultOutputModes":["application/json"],"skills":[{"id":"s","name":"n","description":"d","tags":["t"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := skillsOf(c)[0].Input; !strings.Contains(string(got), "https://elsewhere.test/schema.json") {
		t.Errorf("got %s", got)
	}
}
