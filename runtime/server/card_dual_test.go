package server_test

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/spec"
)

// T68: a card that serves two versions in several bindings is valid by the published schema of the older one, and reads as one
// of the newer with no other interfaces than those of each.
func TestACardOfTwoVersionsIsValidInBoth(t *testing.T) {
	var interfaces []string
	for _, version := range []string{"1.0", "0.3"} {
		for binding, url := range map[string]string{"JSONRPC": "/", "HTTP+JSON": "/", "GRPC": "grpc.example.com:443"} {
			interfaces = append(interfaces, `{"url":"`+url+`","protocolBinding":"`+binding+`","protocolVersion":"`+version+`"}`)
		}
	}
	a := polyglotCard(t, []string{"1.0", "0.3"}, `{"name":"Desk","description":"for tests","version":"1.0.0",
		"supportedInterfaces":[`+strings.Join(interfaces, ",")+`],"capabilities":{"streaming":true},
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`)
	_, _, body := cardOf(t, a, server.CardPath, "")

	source, err := spec.Source("0.3")
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.NewDecoder(bytes.NewReader(source)).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("a2a.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(path.Join("a2a.json#", "definitions", "AgentCard"))
	if err != nil {
		t.Fatal(err)
	}
	var card map[string]any
	if err := json.Unmarshal([]byte(body), &card); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(card); err != nil {
		t.Errorf("not valid in 0.3: %v\n%s", err, body)
	}
	urls := map[any]bool{}
	more, _ := card["additionalInterfaces"].([]any)
	for _, i := range more {
		urls[i.(map[string]any)["url"]] = true
	}
	if len(more) != 3 || len(urls) != 3 || !urls[card["url"]] { // Q28: no URL has two transports
		t.Errorf("the interfaces of 0.3 are %v", more)
	}

	newer, err := a2a.Protocol().DecodeCard([]byte(body))
	if err != nil || len(newer.CardInfo().Interfaces) != 6 {
		t.Errorf("not valid in 1.0: %v\n%s", err, body)
	}
}
