package lower_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// lowered reads agent.yaml and lowers it for protocol 1.0.
func lowered(t *testing.T, src string) (agent *ir.Agent, problems string) {
	t.Helper()
	c, list := card.Read("agent.yaml", []byte(src), noFiles)
	if len(list) > 0 {
		t.Fatalf("reading: %v", list)
	}
	agent, list = lower.Agent(c, spoken("1.0"))
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return agent, b.String()
}

func noFiles(string) ([]byte, error) { return nil, fs.ErrNotExist }

const least = "name: Weather\ndescription: Says the weather.\nskills:\n  - {id: get_forecast, description: Tomorrow.}\n"

// R247: the card has what its author wrote and what A2A requires, and nothing else.
func TestPublishedCardHasWhatA2ARequires(t *testing.T) {
	agent, problems := lowered(t, least)
	if problems != "" {
		t.Fatal(problems)
	}
	want := `{"name":"Weather","description":"Says the weather.",` +
		`"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],"version":"0.1.0",` +
		`"capabilities":{"streaming":true,"extensions":[{"uri":"https://github.com/a2agen/a2agen/extensions/skills/v1",` +
		`"description":"Skills can be called by id, with typed input and output.","params":{"skills":{"get_forecast":{}}}}]},` +
		`"defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain","application/json"],` +
		`"skills":[{"id":"get_forecast","name":"Get forecast","description":"Tomorrow.","tags":[]}]}`
	same(t, want, string(agent.Card))
	wantSkill := &ir.Skill{
		ID: "get_forecast", Name: "Get forecast", Description: "Tomorrow.", Go: "GetForecast", File: "get_forecast",
		InputModes: []string{"text/plain", "application/json"}, OutputModes: []string{"text/plain", "application/json"},
	}
	if diff := cmp.Diff([]*ir.Skill{wantSkill}, agent.Skills); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
}

// same compares two JSON texts by meaning.
func same(t *testing.T, want, got string) {
	t.Helper()
	var a, b any
	for _, x := range []struct {
		text string
		into *any
	}{{want, &a}, {got, &b}} {
		if err := json.Unmarshal([]byte(x.text), x.into); err != nil {
			t.Fatalf("%v in %s", err, x.text)
		}
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSkillsCarryTheirContractAndSettings(t *testing.T) {
	agent, problems := lowered(t, `
name: Weather
description: Says the weather.
defaultInputModes: [text/plain]
defaultOutputModes: ["application/json; charset=utf-8"]
skills:
  - id: forecast
    description: Tomorrow.
    outputModes: [image/png]
    input: {type: object, required: [city], properties: {city: {type: string}}}
    output: {type: object, properties: {summary: {type: string}}}
    timeout: 1m30s
    maxConcurrent: 4
    onCrash: retry
  - id: chat
    description: Talks.
    output: {type: object, properties: {summary: {type: string}}}
`)
	if problems != "" {
		t.Fatal(problems)
	}
	s := agent.Skills[0]
	if s.Timeout != 90*time.Second || s.MaxConcurrent != 4 || !s.Retry || s.TextField != "city" || s.Input == nil || s.Output == nil {
		t.Errorf("settings: %+v", s)
	}
	if diff := cmp.Diff([]string{"text/plain", "application/json"}, s.InputModes); diff != "" {
		t.Errorf("a typed input adds its media type (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"image/png", "application/json"}, s.OutputModes); diff != "" {
		t.Errorf("a typed output adds its media type (-want +got):\n%s", diff)
	}
	var published a2a.AgentCard
	if err := json.Unmarshal(agent.Card, &published); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.OutputModes, published.Skills[0].OutputModes); diff != "" {
		t.Errorf("the card says so too (-want +got):\n%s", diff)
	}
	if modes := published.Skills[1].OutputModes; len(modes) != 0 {
		t.Errorf("a card that takes JSON with a parameter needs no more: %v", modes)
	}
	var params struct {
		Skills map[string]struct{ Input, Output json.RawMessage }
	}
	if err := json.Unmarshal(published.Capabilities.Extensions[0].Params, &params); err != nil {
		t.Fatal(err)
	}
	same(t, string(s.InputSchema), string(params.Skills["forecast"].Input))
	same(t, string(s.OutputSchema), string(params.Skills["forecast"].Output))
	if params.Skills["chat"].Input != nil {
		t.Error("a skill without input schema publishes one")
	}
}

// spoken are shipped versions in the bindings that an agent has which does not say.
func spoken(versions ...string) (list []lower.Spoken) {
	for _, v := range versions {
		list = append(list, lower.Speak(v, lower.ShippedBindings(v), []string{runtime.BindingJSONRPC, runtime.BindingHTTP}))
	}
	return list
}

// refused lowers a card that cannot be, for 1.0, 0.3 and 0.2.
func refused(t *testing.T, src string) string {
	t.Helper()
	c, list := card.Read("agent.yaml", []byte(src), noFiles)
	if list.HasErrors() {
		t.Fatal(list)
	}
	agent, list := lower.Agent(c, spoken("1.0", "0.3", "0.2"))
	if agent != nil {
		t.Error("there is an agent")
	}
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// R89, R122, R124: a card that lists an interface which is not served is refused at its place.
func TestInterfacesThatAreNotServedAreRefused(t *testing.T) {
	got := refused(t, least+`supportedInterfaces:
  - {url: /, protocolBinding: JSONRPC, protocolVersion: "1.0"}
  - {url: /, protocolBinding: HTTP+JSON, protocolVersion: "0.3"}
  - {url: /, protocolBinding: GRPC, protocolVersion: "1.0"}
  - {url: /, protocolBinding: JSONRPC, protocolVersion: "0.1"}
  - {url: /, protocolBinding: HTTP+JSON, protocolVersion: "0.2"}
  - {url: "wss://example.com", protocolBinding: "https://example.com/ws/v1", protocolVersion: "1.0"}
`)
	want := `agent.yaml:8:31: the generated server does not serve GRPC (list it under bindings in a2agen.yaml, or take this interface out)
agent.yaml:9:57: the generated server does not speak version "0.1" (list it under protocol in a2agen.yaml, or take this interface out)
agent.yaml:10:31: version 0.2 of the protocol is not spoken over HTTP+JSON (take this interface out, or write JSONRPC)
agent.yaml:11:49: the generated server does not serve the binding "https://example.com/ws/v1" (take this interface out)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// R123: without a list the card has every version in every binding that it is served in.
func TestBindingsFillTheCard(t *testing.T) {
	c, _ := card.Read("agent.yaml", []byte(least), noFiles)
	agent, _ := lower.Agent(c, []lower.Spoken{
		lower.Speak("1.0", lower.ShippedBindings("1.0"), []string{"GRPC", "HTTP+JSON"}),
		lower.Speak("0.3", lower.ShippedBindings("0.3"), []string{"GRPC", "HTTP+JSON"}),
		lower.Speak("0.1", lower.ShippedBindings("0.1"), []string{"GRPC", "HTTP+JSON"}),
	})
	var published a2a.AgentCard
	if err := json.Unmarshal(agent.Card, &published); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range published.SupportedInterfaces {
		got = append(got, i.ProtocolVersion+" "+i.ProtocolBinding+" "+i.URL)
	}
	if diff := cmp.Diff([]string{"1.0 GRPC /", "1.0 HTTP+JSON /", "0.3 GRPC /", "0.3 HTTP+JSON /"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GRPC", "HTTP+JSON"}, agent.Bindings); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

// TestShippedBindingsAreThoseOfTheDefinitions holds what is known without reading definitions to the definitions.
func TestShippedBindingsAreThoseOfTheDefinitions(t *testing.T) {
	var docs []*spec.Document
	for _, v := range spec.Versions() {
		doc, err := spec.Shipped(v)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	p, problems := lower.Protocol(docs)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	lower.AddWires(p, ir.ProtoJSON, ir.Proto)
	for _, v := range p.Versions {
		if diff := cmp.Diff(lower.BindingsOf(v), lower.ShippedBindings(v.Name)); diff != "" {
			t.Errorf("%s (-definition +shipped):\n%s", v.Name, diff)
		}
	}
}

// R22: what only identified callers see stands in a card of its own.
func TestTheExtendedCardSaysMore(t *testing.T) {
	agent, problems := lowered(t, `
name: Weather
description: Says the weather.
securitySchemes: {bearer: {httpAuthSecurityScheme: {scheme: bearer}}}
skills:
  - {id: storm, description: Warns., input: {type: object, properties: {secret: {type: string}}}}
  - {id: forecast, description: Tomorrow.}
extended: {skills: [storm], scopes: [storms:read], description: Warns of storms., documentationUrl: "https://inside.example.com"}
`)
	if problems != "" {
		t.Fatal(problems)
	}
	var public, private a2a.AgentCard
	if err := errors.Join(json.Unmarshal(agent.Card, &public), json.Unmarshal(agent.Extended, &private)); err != nil {
		t.Fatal(err)
	}
	if len(public.Skills) != 1 || public.Skills[0].ID != "forecast" || public.DocumentationURL != nil || strings.Contains(string(agent.Card), "storm") ||
		strings.Contains(string(agent.Card), "secret") {
		t.Errorf("the public card says too much: %s", agent.Card)
	}
	if len(private.Skills) != 2 || private.Description != "Warns of storms." || !strings.Contains(string(agent.Extended), "secret") {
		t.Errorf("the extended card says too little: %s", agent.Extended)
	}
	if !*public.Capabilities.ExtendedAgentCard || !*private.Capabilities.ExtendedAgentCard {
		t.Error("the cards do not say that there is an extended one")
	}
	if !slices.Equal(agent.ExtendedScopes, []string{"storms:read"}) || strings.Contains(string(agent.Extended), "scopes") {
		t.Errorf("the scopes are %q, the card is %s", agent.ExtendedScopes, agent.Extended)
	}
	if !agent.Skills[0].Hidden || agent.Skills[1].Hidden {
		t.Errorf("hidden: %v %v", agent.Skills[0].Hidden, agent.Skills[1].Hidden)
	}
}

func TestTheUsersExtensionsStay(t *testing.T) {
	for _, uri := range []string{runtime.SkillsExtension, runtime.FormerSkillsExtension} {
		agent, _ := lowered(t, least+"capabilities:\n  extensions:\n    - {uri: \"https://example.com/x\", params: {n: 1.50}}\n    - {uri: \""+uri+"\", required: true, description: Mine.}\n")
		var published a2a.AgentCard
		if err := json.Unmarshal(agent.Card, &published); err != nil {
			t.Fatal(err)
		}
		exts := published.Capabilities.Extensions
		if len(exts) != 2 || string(exts[0].Params) != `{"n":1.50}` {
			t.Fatalf("extensions: %s", agent.Card)
		}
		own := exts[1]
		if own.URI != runtime.SkillsExtension || !own.Required || own.Description != "Mine." || !strings.Contains(string(own.Params), "get_forecast") {
			t.Errorf("our extension: %+v", own)
		}
	}
}

func TestFilesOfHandlersAreSafeAndDiffer(t *testing.T) {
	agent, _ := lowered(t, `
name: Weather
description: Says the weather.
skills:
  - {id: agent, description: One.}
  - {id: load_test, description: Two.}
  - {id: open_windows, description: Three.}
  - {id: ../../etc/passwd, description: Four.}
  - {id: "é", description: Five.}
  - {id: e, description: Six.}
`)
	seen := map[string]bool{"agent": true}
	for _, s := range agent.Skills {
		if seen[s.File] || strings.ContainsAny(s.File, "./\\") || strings.HasSuffix(s.File, "_test") || strings.HasSuffix(s.File, "_windows") {
			t.Errorf("skill %q has file %q", s.ID, s.File)
		}
		seen[s.File] = true
	}
}

// TestACardPromisesForHowLongMessagesAreKnown: what a2agen.yaml says. A card of somebody else promises what it did before.
func TestACardPromisesForHowLongMessagesAreKnown(t *testing.T) {
	c, _ := card.Read("agent.yaml", []byte(least), noFiles)
	c.Repeats = 90 * time.Minute
	agent, _ := lower.Agent(c, spoken("1.0"))
	const promise = `"idempotency":{"window":5400}`
	if !strings.Contains(string(agent.Card), promise) {
		t.Errorf("the card is %s", agent.Card)
	}
	imported, list := card.Import("card.json", agent.Card)
	if list.HasErrors() {
		t.Fatal(list)
	}
	if again, _ := lower.Agent(imported, nil); !strings.Contains(string(again.Card), promise) {
		t.Errorf("the imported card is %s", again.Card)
	}
}

// TestAnImportedCardStaysWhatItWas lowers cards that are somebody else's: nothing is turned off or added.
func TestAnImportedCardStaysWhatItWas(t *testing.T) {
	src, err := os.ReadFile("../card/testdata/routeplanner.json")
	if err != nil {
		t.Fatal(err)
	}
	c, list := card.Import("routeplanner.json", src)
	if list.HasErrors() {
		t.Fatal(list)
	}
	agent, list := lower.Agent(c, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	var published a2a.AgentCard
	if err := json.Unmarshal(agent.Card, &published); err != nil {
		t.Fatal(err)
	}
	if n := len(published.SupportedInterfaces); n != 3 {
		t.Errorf("%d interfaces, want 3", n)
	}
	if caps := published.Capabilities; !*caps.PushNotifications || !*caps.ExtendedAgentCard || len(caps.Extensions) != 0 {
		t.Errorf("capabilities: %s", agent.Card)
	}
	if agent.Skills[0].Go != "RouteOptimizerTraffic" || agent.Skills[1].Go != "CustomMapGenerator" {
		t.Errorf("skills: %s, %s", agent.Skills[0].Go, agent.Skills[1].Go)
	}
}

// TestEveryCardThatIsReadRoundTripsThroughTheEmittedCodec is the final check of the reader: the 1.0 codec of the emitted
// package takes every card that the reader takes, and writes it back as it was.
func TestEveryCardThatIsReadRoundTripsThroughTheEmittedCodec(t *testing.T) {
	archive, err := txtar.ParseFile("../card/testdata/valid.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			c, list := card.Read("agent.yaml", f.Data, func(string) ([]byte, error) { return []byte(`{"type": "object"}`), nil })
			if list.HasErrors() {
				t.Fatal(list)
			}
			agent, list := lower.Agent(c, everything)
			if list.HasErrors() {
				t.Fatal(list)
			}
			var decoded a2a.AgentCard
			if err := json.Unmarshal(agent.Card, &decoded); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(&decoded); err != nil {
				t.Fatal(err)
			}
			same(t, string(agent.Card), b.String())
		})
	}
}

// everything is 1.0 in all bindings, and in one of somebody's own.
var everything = []lower.Spoken{{Version: "1.0", Bindings: []string{"JSONRPC", "HTTP+JSON", "GRPC", "https://example.com/bindings/ws/v1"}}}

// FuzzAgent holds reader and lowering together to that promise for any text.
func FuzzAgent(f *testing.F) {
	archive, err := txtar.ParseFile("../card/testdata/valid.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(file.Data)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, list := card.Read("agent.yaml", src, noFiles)
		if list.HasErrors() {
			return
		}
		agent, list := lower.Agent(c, spoken("1.0"))
		if list.HasErrors() {
			return
		}
		var decoded, again a2a.AgentCard
		if err := json.Unmarshal(agent.Card, &decoded); err != nil {
			t.Fatalf("%v in %s", err, agent.Card)
		}
		encoded, err := decoded.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &again); err != nil {
			t.Fatalf("%v in %s", err, encoded)
		}
		if diff := cmp.Diff(decoded, again); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}
