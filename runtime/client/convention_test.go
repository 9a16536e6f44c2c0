package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

// talk is a skill without schemas, as emitted clients have it.
var talk = rpc.Skill[string, *rpc.Result]{ID: "talk", In: rpc.TextInput, Out: rpc.PlainOutput}

func TestASkillIsCalledByItsConvention(t *testing.T) {
	const uri = "https://example.com/ext/v1"
	tests := []struct {
		name string
		by   rpc.Convention
		// parts, metadata and request are the message's parts and metadata, and those of the request.
		parts, metadata, request string
		extensions               string
	}{
		{"the extension, although the card does not declare it", rpc.ByExtension, `[{"data":{"city":"Rome"},"mediaType":"application/json"}]`,
			`{"` + runtime.SkillsExtension + `":{"skill":"forecast"}}`, "", runtime.SkillsExtension},
		{"skillId", rpc.BySkillID, `[{"data":{"city":"Rome"},"mediaType":"application/json"}]`, `{"skillId":"forecast"}`, "", ""},
		{"parameters", rpc.ByParameters, `[{"data":{"skill":"forecast","parameters":{"city":"Rome"}},"mediaType":"application/json"}]`, "", "", ""},
		{"JSON in text", rpc.ByJSONText, `[{"text":"{\"city\":\"Rome\"}"}]`, `{"skillId":"forecast"}`, "", ""},
		{"no name at all", rpc.Unnamed, `[{"data":{"city":"Rome"},"mediaType":"application/json"}]`, "", "", ""},
		{"an invocation", rpc.ByInvocation(uri), `[{"data":{"city":"Rome"},"mediaType":"application/json"}]`,
			`{"` + uri + `":{"skillId":"forecast","arguments":{"city":"Rome"}}}`, "", uri},
		{"a contract", rpc.ByContract(uri, "urn:f:1", "json", "rich"),
			`[{"data":{"city":"Rome"},"mediaType":"application/json","metadata":{"` + uri + `":{"contractId":"urn:f:1","direction":"input","representationId":"json","role":"primary"}}}]`,
			"", `{"` + uri + `":{"contractId":"urn:f:1","inputRepresentationId":"json","acceptedOutputRepresentationIds":["rich"]}}`, uri},
		{"one of the caller's own", func(k *rpc.Calling) error { k.Mark("tool", k.Skill); k.MarkRequest("n", 1); return nil },
			`[{"data":{"city":"Rome"},"mediaType":"application/json"}]`, `{"tool":"forecast"}`, `{"n":1}`, ""},
	}
	f := newFake(t, "JSONRPC", map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(`{"data":{"sky":"blue"}}`, "")))}})
	c := f.dialCard(cardJSON(f.url, "", ""))
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			skill := forecast
			skill.By = tt.by
			if out, err := skill.Call(t.Context(), c, &input{"Rome"}); err != nil || out.Sky != "blue" {
				t.Fatalf("got %+v, %v", out, err)
			}
			var p struct {
				Message  struct{ Parts, Metadata json.RawMessage }
				Metadata json.RawMessage
			}
			if err := json.Unmarshal(f.call(i).Params, &p); err != nil {
				t.Fatal(err)
			}
			for _, m := range []struct {
				of, want string
				got      json.RawMessage
			}{{"parts", tt.parts, p.Message.Parts}, {"metadata", tt.metadata, p.Message.Metadata}, {"request metadata", tt.request, p.Metadata}} {
				if diff := cmp.Diff(value(t, []byte(m.want)), value(t, m.got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", m.of, diff)
				}
			}
			if got := f.call(i).Header.Get("A2A-Extensions"); got != tt.extensions {
				t.Errorf("A2A-Extensions %q, want %q", got, tt.extensions)
			}
		})
	}
}

// value is JSON as a value; nil where there is none.
func value(t *testing.T, text []byte) (v any) {
	t.Helper()
	if len(text) > 0 {
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func TestAConventionLeavesTheCallersPartsAlone(t *testing.T) {
	f := newFake(t, "JSONRPC", map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(`{"text":"x"}`, "")))}})
	skill := chat
	skill.By = rpc.ByParameters
	parts := []runtime.Part{runtime.Data(map[string]any{"a": 1})}
	if _, err := skill.Call(t.Context(), f.dialCard(cardJSON(f.url, "", "")), parts); err != nil || string(parts[0].Data) != `{"a":1}` {
		t.Errorf("the part is %s, %v", parts[0].Data, err)
	}
	if _, err := skill.Call(t.Context(), f.dialCard(cardJSON(f.url, "", "")), rpc.Say("hello")); err == nil {
		t.Error("a text was sent as parameters")
	}
}

func TestATextIsSentWithWhatIsAttachedToIt(t *testing.T) {
	f := newFake(t, "JSONRPC", map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(`{"text":"x"}`, "")))}})
	c := f.dialCard(cardJSON(f.url, "", ""))
	file := rpc.Attach(runtime.File("a.txt", "text/plain", []byte("hi")))
	for i, tt := range []struct {
		text, want string
		opts       []rpc.CallOption
	}{
		{"look", `[{"text":"look"}]`, nil},
		{"look", `[{"text":"look"},{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"}]`, []rpc.CallOption{file}},
		{"", `[{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"}]`, []rpc.CallOption{file}},
	} {
		if _, err := talk.Call(t.Context(), c, tt.text, tt.opts...); err != nil {
			t.Fatal(err)
		}
		var p struct {
			Message struct{ Parts json.RawMessage }
		}
		if err := json.Unmarshal(f.call(i).Params, &p); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value(t, []byte(tt.want)), value(t, p.Message.Parts)); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
	}
	if _, err := talk.Call(t.Context(), c, ""); err == nil || strings.Count(f.methods(), "SendMessage") != 3 {
		t.Errorf("a message without parts was sent (%v)", err)
	}
}

func TestAResultIsDecodedIntoATypeOfTheCallers(t *testing.T) {
	type weather struct{ Sky string }
	for _, tt := range []struct{ name, artifact, want string }{
		{"data", `{"text":"Here:"},{"data":{"sky":"blue"}}`, "blue"},
		{"JSON in the text", `{"text":"{\"sky\":\"blue\"}"}`, "blue"},
		{"a block of JSON in the text", "{\"text\":\"Here it is:\\n```json\\n{\\\"sky\\\":\\\"blue\\\"}\\n```\\nAnything else?\"}", "blue"},
		{"two blocks", "{\"text\":\"```{}``` or ```{}```\"}", ""},
		{"prose", `{"text":"It is blue."}`, ""},
		{"another type", `{"data":{"sky":1}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, "JSONRPC", map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(tt.artifact, "")))}})
			w, err := rpc.Decode[weather](talk.Call(t.Context(), f.dialCard(cardJSON(f.url, "", "")), "how is it?"))
			var broken *rpc.OutputError
			if w.Sky != tt.want || (err == nil) != (tt.want != "") || err != nil && (!errors.As(err, &broken) || broken.Result == nil || broken.Skill != "talk") {
				t.Errorf("got %+v, %v", w, err)
			}
		})
	}
	if _, err := rpc.Decode[weather](nil, errors.ErrUnsupported); err != errors.ErrUnsupported {
		t.Errorf("the call's error became %v", err)
	}
}

// TestOurAgentsUnderstandTheConventions that name a skill: the one that is called answers, whatever its place among the others.
func TestOurAgentsUnderstandTheConventions(t *testing.T) {
	protocol := a2awires.Protocol()
	card, err := protocol.DecodeCard([]byte(cardJSON("http://localhost/rpc", "", "")))
	if err != nil {
		t.Fatal(err)
	}
	var skills []server.Skill
	for _, id := range []string{"first", "forecast", "last"} {
		skills = append(skills, server.Skill{ID: id, Name: id, InputSchema: `{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}`, OutputSchema: `{"type":"object"}`,
			Run: func(_ context.Context, _ *server.Task, in any) ([]byte, error) {
				var v input
				err := json.Unmarshal(in.([]byte), &v)
				return []byte(`{"sky":"` + id + " in " + v.City + `"}`), err
			}})
	}
	s, err := server.New(server.Config{Protocol: protocol, Card: card, Skills: skills}, server.WithLogger(slog.New(slog.DiscardHandler)), server.WithoutAuth())
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() { web.Close(); s.Close() })
	c, err := a2aclient.New(t.Context(), web.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]rpc.Convention{"as the card has it": nil, "extension": rpc.ByExtension, "skillId": rpc.BySkillID, "parameters": rpc.ByParameters, "json-text": rpc.ByJSONText} {
		skill := forecast
		skill.By = by
		if out, err := skill.Call(t.Context(), c.RPC(), &input{"Rome"}); err != nil || out.Sky != "forecast in Rome" {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}
