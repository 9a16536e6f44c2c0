package push_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/push/verify"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// talk is a skill of the real agent: what the first word says.
func talk(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	if t.Resumed() {
		return nil, t.Artifact("booking", runtime.Text("For "+t.Text()+"."))
	}
	switch t.Text() {
	case "book":
		return nil, t.Ask("For which day?")
	case "wait":
		if err := t.Progress("Waiting."); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if err := t.Progress("Looking."); err != nil {
		return nil, err
	}
	w := t.Stream("story")
	for i := range 50 {
		if _, err := fmt.Fprintf(w, "line %d\n", i); err != nil {
			return nil, err
		}
	}
	return nil, w.Close()
}

// signed starts an agent of all versions that signs, and returns its URL.
func signed(t *testing.T) string {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	url := "http://" + web.Listener.Addr().String()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := push.NewSigner(url, key)
	if err != nil {
		t.Fatal(err)
	}
	var interfaces []string
	for _, v := range protocol().Versions {
		interfaces = append(interfaces, `{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"`+v.Name+`"}`)
	}
	card, err := protocol().DecodeCard([]byte(`{"name":"talker","description":"Talks.","version":"1.0.0",
		"supportedInterfaces":[` + strings.Join(interfaces, ",") + `],
		"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"talk","name":"Talk","description":"Talks.","tags":["talk"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Protocol: protocol(), Card: card, Skills: []server.Skill{{ID: "talk", Name: "Talk", Run: talk}}},
		webhooks.Send(), server.WithPushTargets("127.0.0.1"), server.WithPushSigner(signer), quietAgent)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = s
	web.Start()
	t.Cleanup(func() { s.Close(); web.Close() })
	return url
}

// follower is a receiver at a URL of its own, and a client of the agent in one version.
type follower struct {
	*desk
	url    string
	client *client.Client
	skill  client.Skill[[]runtime.Part, *client.Result]
}

func follow(t *testing.T, agent, version string) *follower {
	t.Helper()
	f := &follower{skill: client.Skill[[]runtime.Part, *client.Result]{ID: "talk", In: client.PlainInput, Out: client.PlainOutput}}
	web := httptest.NewUnstartedServer(nil)
	f.url = "http://" + web.Listener.Addr().String() + "/hook"
	v, err := verify.New(agent, f.url)
	if err != nil {
		t.Fatal(err)
	}
	f.desk = newDesk(t, push.Verify(v), push.Path("/hook"), push.Authorization("Basic", "me:pw"), push.OnGap(func(g push.Gap) { t.Errorf("gap %v", g) }))
	web.Config.Handler = f.desk
	web.Start()
	t.Cleanup(web.Close)
	p := protocol()
	for _, v := range p.Versions {
		if v.Name == version {
			p.Versions = []*runtime.Version{v}
		}
	}
	all, err := client.FetchCard(t.Context(), protocol(), agent)
	if err != nil {
		t.Fatal(err)
	}
	if f.client, err = client.FromCard(p, all); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.client.Close)
	return f
}

func (f *follower) with() client.CallOption {
	return client.WithPushConfig(runtime.PushConfig{URL: f.url, Token: token, Scheme: "Basic", Credentials: "me:pw"})
}

// wantEnd waits until the story ends so. Chunks that travelled as one are told apart by their lines.
func (f *follower) wantEnd(t *testing.T, end string) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
		if story := f.story(); strings.HasSuffix(story, end) {
			return story
		}
	}
	t.Fatalf("the story does not end in %q: %s", end, f.story())
	return ""
}

// TestARealAgentIsHeard: everything that happens in tasks of a real agent that signs comes once and in order, in versions
// that send events and in those that send tasks.
func TestARealAgentIsHeard(t *testing.T) {
	agent := signed(t)
	for _, version := range []string{"1.0", "0.3", "0.2"} {
		t.Run(version, func(t *testing.T) {
			t.Run("a streamed artifact", func(t *testing.T) {
				f := follow(t, agent, version)
				r, err := f.skill.Call(t.Context(), f.client, client.Say("tell"), f.with(), client.ByPush(f.desk.Receiver))
				if err != nil {
					t.Fatal(err)
				}
				story := f.wantEnd(t, "completed")
				if !strings.HasPrefix(story, "working Looking., artifact ") {
					t.Errorf("the story begins otherwise: %.100s", story)
				}
				var lines []string
				for _, s := range strings.FieldsFunc(story, func(c rune) bool { return c == '\n' }) {
					if i := strings.LastIndex(s, "line "); i >= 0 {
						lines = append(lines, s[i:]+"\n")
					}
				}
				if got := strings.Join(lines, ""); got != r.Text() || len(lines) != 50 {
					t.Errorf("heard %q", got)
				}
			})
			t.Run("a question", func(t *testing.T) {
				f := follow(t, agent, version)
				_, err := f.skill.Call(t.Context(), f.client, client.Say("book"), f.with(), client.ByPush(f.desk.Receiver))
				var ask *client.InputRequiredError
				if !errors.As(err, &ask) {
					t.Fatal(err)
				}
				f.wantEnd(t, "input_required For which day?")
				if _, err := f.skill.Answer(t.Context(), f.client, ask, runtime.Text("Friday")); err != nil {
					t.Fatal(err)
				}
				story := f.wantEnd(t, "completed")
				if !strings.Contains(story, "input_required For which day?, working, artifact ") || strings.Count(story, "Friday") != 1 {
					t.Error(story)
				}
			})
			t.Run("a canceled task", func(t *testing.T) {
				f := follow(t, agent, version)
				var pending *client.PendingError
				if _, err := f.skill.Call(t.Context(), f.client, client.Say("wait"), f.with(), client.ReturnImmediately()); !errors.As(err, &pending) {
					t.Fatal(err)
				}
				f.wantEnd(t, "working Waiting.")
				request := protocol().NewTaskRequest(runtime.RoleCancel, runtime.TaskRequest{ID: pending.TaskID})
				if _, err := f.client.Call(t.Context(), client.Method{Role: runtime.RoleCancel}, request); err != nil {
					t.Fatal(err)
				}
				if story := f.wantEnd(t, "canceled"); strings.Count(story, "canceled") != 1 {
					t.Error(story)
				}
			})
		})
	}
}
