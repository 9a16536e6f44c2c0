package a2atest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	wires "github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/fault"
)

// newWires makes a fake of all versions and bindings, of an agent whose card is given.
func newWires(t testing.TB, card any, opts ...a2atest.Option) *fake {
	t.Helper()
	f := &fake{
		Forecast: a2atest.NewSkill[*forecastInput, *forecastOutput]("forecast", "Forecast"),
		Chat:     a2atest.NewSkill[string, string]("chat", "Chat"),
	}
	f.Fake = a2atest.NewFake(t, a2atest.FakeConfig{
		Name: "Old Weather", Protocol: a2awires.ClientProtocol(), Card: card, Skills: []a2atest.AnySkill{f.Forecast, f.Chat},
		Bindings: []a2atest.Binding{{Name: runtime.BindingGRPC, Server: grpcserver.Serve(), Client: func(a *a2atest.Agent) rpc.Option {
			return rpc.Use(grpcclient.Binding(grpcclient.Dialer(a.Dial)))
		}}},
	}, opts...)
	return f
}

func dialWires(t testing.TB, f *fake, opts ...rpc.Option) *wires.Client {
	t.Helper()
	c, err := wires.New(t.Context(), f.URL(), append(f.Options(), opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Each version over each binding that has it: a call, a stream and a question, of an agent that takes its time.
func TestAFakeIsAnOldPeerOverEachBinding(t *testing.T) {
	for _, v := range a2awires.ClientProtocol().Versions {
		for _, b := range runtime.Bindings {
			if v.Over(b.Name) == nil {
				continue
			}
			t.Run(v.Name+" "+b.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newWires(t, nil, a2atest.Versions(v.Name), a2atest.Over(b.Name))
					f.Forecast.After(time.Hour).Streams("a", "b").Returns(sunny(1)).Times(2)
					f.Forecast.Asks("Which one?").Returns(sunny(2))
					c := dialWires(t, f).RPC()
					if i := c.Interface(); i.Version != v.Name || i.Binding != b.Name {
						t.Fatalf("%+v", i)
					}
					if out, err := forecast.Call(t.Context(), c, rome); err != nil || out.Days != 1 {
						t.Errorf("a call: %+v, %v", out, err)
					}
					if out, err := lastOf(forecast.Stream(t.Context(), c, rome)); err != nil || out.Days != 1 {
						t.Errorf("a stream: %+v, %v", out, err)
					}
					_, err := forecast.Call(t.Context(), c, rome)
					var ask *rpc.InputRequiredError
					if !errors.As(err, &ask) {
						t.Fatalf("a question: %v", err)
					}
					if out, err := forecast.Answer(t.Context(), c, ask, runtime.Text("this one")); err != nil || out.Days != 2 {
						t.Errorf("an answer: %+v, %v", out, err)
					}
				})
			})
		}
	}
}

// A stranger's card, of an old shape, with interfaces elsewhere, demands, a signature and promises that a fake does not keep.
const stranger = `{
	"name": "Stranger", "description": "x", "version": "7", "protocolVersion": "0.3.0", "url": "https://stranger.example/a2a/v1",
	"preferredTransport": "JSONRPC", "additionalInterfaces": [{"url": "grpc.stranger.example:443", "transport": "GRPC"}],
	"capabilities": {"streaming": true, "pushNotifications": true}, "supportsAuthenticatedExtendedCard": true,
	"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}, "security": [{"key": []}],
	"signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "AAAA"}],
	"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
	"skills": [{"id": "forecast", "name": "F", "description": "f", "tags": ["f"]}, {"id": "chat", "name": "C", "description": "c", "tags": ["c"]}]
}`

func TestAFakeOfAStrangerSpeaksWhatItsCardOffers(t *testing.T) {
	read, err := rpc.ParseCard(a2awires.ClientProtocol(), []byte(stranger))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{runtime.BindingJSONRPC, runtime.BindingGRPC} {
		f := newWires(t, read.Generated())
		f.Chat.Replies(runtime.Text("Hello."))
		c := dialWires(t, f, rpc.Prefer(want), rpc.WithAPIKey("key", "secret"))
		if i := c.RPC().Interface(); i.Version != "0.3" || i.Binding != want {
			t.Errorf("%+v", i)
		}
		if r, err := chat.Call(t.Context(), c.RPC(), "hi"); err != nil || r.Text() != "Hello." || r.Task != nil {
			t.Errorf("%s: %v, %v", want, r, err)
		}
	}
}

func TestAStreamThatIsCutGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.Chat.Streams("a", "b", "c").After(time.Hour).Streams("d", "e").Once()
		f.Fault(fault.CutAfter(3).Times(4), fault.Delay(time.Minute))
		var told string
		for step, err := range chat.Stream(t.Context(), f.Client(t).RPC(), "hi") {
			if err != nil {
				t.Fatal(err)
			}
			if step.Artifact != nil {
				told += step.Text()
			}
		}
		if told != "abcde" || len(f.Chat.Calls()) != 1 {
			t.Errorf("%q in %d calls", told, len(f.Chat.Calls()))
		}
	})
}

func TestFaultsHitEachBinding(t *testing.T) {
	for _, b := range runtime.Bindings {
		t.Run(b.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWires(t, nil, a2atest.Over(b.Name), a2atest.Versions("1.0"))
				f.Chat.Streams("a", "b").After(time.Hour).Streams("c").Once()
				f.Fault(fault.CutAfter(2).Times(1), fault.Status(503).Times(1).On("SendStreamingMessage"))
				r, err := lastOf(chat.Stream(t.Context(), dialWires(t, f).RPC(), "hi"))
				if err != nil || r.Text() != "abc" {
					t.Errorf("%v, %v", r, err)
				}
			})
		})
	}
}

func TestFaultsThatCannotBeAreReportedWhereTheyAre(t *testing.T) {
	var wrong, idle string
	got := record(t, func(tb testing.TB) {
		f := newFake(tb)
		idle = here(1)
		f.Fault(fault.CutAfter(3).On("SubscribeToTask"), fault.Status(503).Probability(0.000001))
		wrong = here(1)
		f.Fault(fault.CutAfter(-1))
	})
	wantReports(t, got, []string{wrong + ": a2atest: ", "CutAfter(-1)"}, []string{idle, "CutAfter(3)", `hit no request to the agent "weather"`})
}

// An agent's client reaches it, and nothing else: no test goes to the network by a mistake in a card.
func TestAnAgentsClientReachesNothingElse(t *testing.T) {
	a := a2atest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host+r.URL.Path) }), a2atest.Name("My Agent!"))
	resp, err := a.HTTPClient().Get(a.URL() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); string(b) != "my-agent.test/x" || a.URL() != "https://my-agent.test" {
		t.Errorf("%s, %s", b, a.URL())
	}
	if _, err := a.HTTPClient().Get("https://example.com"); err == nil || !strings.Contains(err.Error(), `example.com:443 is not the agent "My Agent!"`) {
		t.Errorf("%v", err)
	}
}

// However a client's card has it that a message calls a skill, the fake finds the skill.
func TestEachConventionFindsItsSkill(t *testing.T) {
	for name, by := range map[string]rpc.Convention{
		"the card's": nil, "extension": rpc.ByExtension, "skillId": rpc.BySkillID, "parameters": rpc.ByParameters, "json-text": rpc.ByJSONText,
		"unnamed": rpc.Unnamed, "invocation": rpc.ByInvocation("https://example.com/skill-direct-invoke/v1"), "contract": rpc.ByContract("https://w3id.org/a2a-schema-contract/v1", "c", "in", "out"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.Forecast.Returns(sunny(1))
			sk := forecast
			sk.By = by
			if out, err := sk.Call(t.Context(), f.Client(t).RPC(), rome); err != nil || out.Days != 1 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// Cards of strangers are as they are: a client reads them, and so does a fake.
func TestAFakeIsMadeOfAnOddCard(t *testing.T) {
	const one = `"url":"https://s.example/a","protocolBinding":"JSONRPC","protocolVersion":"1.0"`
	for name, card := range map[string]string{
		"nothing but a name":      `{"name":"s","supportedInterfaces":[{` + one + `}]}`,
		"an odd scheme":           `{"name":"s","supportedInterfaces":[{` + one + `}],"securitySchemes":{"x":{"magicSecurityScheme":{}}},"securityRequirements":[{"schemes":{"x":{}}}]}`,
		"a scheme that is not":    `{"name":"s","supportedInterfaces":[{` + one + `}],"securityRequirements":[{"schemes":{"x":{"list":[]}}}]}`,
		"an odd schema":           `{"name":"s","supportedInterfaces":[{` + one + `}],"capabilities":{"extensions":[{"uri":"` + runtime.SkillsExtension + `","params":{"skills":{"forecast":{"input":{"type":7}}}}}]}}`,
		"a tenant":                `{"name":"s","supportedInterfaces":[{` + one + `,"tenant":"t"}],"capabilities":{"streaming":true}}`,
		"a version nobody speaks": `{"name":"s","supportedInterfaces":[{"url":"https://s.example/a","protocolBinding":"JSONRPC","protocolVersion":"9.0"}]}`,
		"an unknown binding":      `{"name":"s","supportedInterfaces":[{"url":"https://s.example/a","protocolBinding":"SMOKE","protocolVersion":"1.0"}]}`,
		"twice the same skill":    `{"name":"s","supportedInterfaces":[{` + one + `}],"skills":[{"id":"chat"},{"id":"chat","name":"x"},{"id":""}]}`,
		"a required extension":    `{"name":"s","supportedInterfaces":[{` + one + `}],"capabilities":{"extensions":[{"uri":"https://e.example","required":true}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			read, err := rpc.ParseCard(a2awires.ClientProtocol(), []byte(card))
			if err != nil {
				t.Fatal(err)
			}
			f := newWires(t, read.Generated())
			f.Chat.Returns("Hello.")
			c := dialWires(t, f, rpc.DefaultExtensions("https://e.example"))
			if r, err := chat.Call(t.Context(), c.RPC(), "hi"); err != nil || r.Text() != "Hello." {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}

// A project that speaks 0.3 alone has the types of 1.0.
func TestAFakeOfAProjectThatSpeaksAnOldVersionAlone(t *testing.T) {
	p := a2awires.ClientProtocol()
	p.Whole, p.Versions = p.Versions[0], p.Versions[1:2]
	skill := a2atest.NewSkill[string, string]("chat", "Chat")
	f := &fake{Chat: skill, Fake: a2atest.NewFake(t, a2atest.FakeConfig{Name: "old", Protocol: p, Skills: []a2atest.AnySkill{skill}})}
	f.Chat.Returns("Hello.")
	c := dialWires(t, f).RPC()
	if r, err := chat.Call(t.Context(), c, "hi"); err != nil || r.Text() != "Hello." || c.Interface().Version != "0.3" {
		t.Errorf("%v, %v over %v", r, err, c.Interface())
	}
}
