package interop

import (
	"encoding/json"
	"testing"

	old "github.com/a2aproject/a2a-go/a2a"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
)

// version03 is the table of 0.3.
func version03(t *testing.T) *runtime.Version {
	t.Helper()
	for _, v := range a2awires.Protocol().Versions {
		if v.Name == "0.3" {
			return v
		}
	}
	t.Fatal("0.3 is not spoken")
	return nil
}

const partsOf03 = `[{"kind":"text","text":"","metadata":{"a":1}},{"kind":"data","data":{"n":1.5}},{"kind":"file","file":{"bytes":"+/8=","mimeType":"a/b","name":"f"}},{"kind":"file","file":{"uri":"https://example.com","name":"g"}}]`

// TestEventsThroughTheOfficialTypesOf03 writes events of 0.3, reads and writes them by the types of the official SDK, and
// expects them back unchanged.
func TestEventsThroughTheOfficialTypesOf03(t *testing.T) {
	const message = `{"kind":"message","messageId":"m","contextId":"c","taskId":"t","role":"agent","parts":` + partsOf03 + `,"metadata":{"k":[null]},"extensions":["https://example.com/x"],"referenceTaskIds":["r"]}`
	v := version03(t)
	for name, doc := range map[string]string{
		"message":  message,
		"status":   `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"input-required","message":` + message + `,"timestamp":"2026-01-02T03:04:05Z"},"final":true,"metadata":{"x":true}}`,
		"working":  `{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}`,
		"artifact": `{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","name":"n","description":"d","parts":` + partsOf03 + `},"append":true,"lastChunk":true}`,
		"task":     `{"kind":"task","id":"t","contextId":"c","status":{"state":"auth-required"},"artifacts":[{"artifactId":"a","parts":` + partsOf03 + `}],"history":[` + message + `],"metadata":{"m":{}}}`,
		"unknown":  `{"kind":"task","id":"t","contextId":"c","status":{"state":"unknown"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			event, err := v.ReadEvent([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			ours, err := v.AppendEvent(nil, event)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := old.UnmarshalEventJSON(ours)
			if err != nil {
				t.Fatalf("the SDK refuses %s: %v", ours, err)
			}
			src, err := json.Marshal(theirs)
			if err != nil {
				t.Fatal(err)
			}
			if event, err = v.ReadEvent(src); err != nil {
				t.Fatalf("refused %s of the SDK: %v", src, err)
			}
			again, err := v.AppendEvent(nil, event)
			if err != nil || string(again) != string(ours) {
				t.Errorf("%v\nwrote %s\nthen  %s", err, ours, again)
			}
		})
	}
}

func TestTheCardThroughTheOfficialTypesOf03(t *testing.T) {
	const doc = `{"name":"n","description":"d","url":"https://example.com/a","preferredTransport":"GRPC","additionalInterfaces":[{"url":"https://example.com/b","transport":"JSONRPC"}],"protocolVersion":"0.3.0",
		"provider":{"organization":"o","url":"p"},"iconUrl":"i","version":"1","documentationUrl":"u","capabilities":{"streaming":true,"pushNotifications":true,"extensions":[{"uri":"x","required":true,"params":{"a":1}}]},
		"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"q"},"h":{"type":"http","scheme":"Bearer","bearerFormat":"JWT"},"m":{"type":"mutualTLS"},"c":{"type":"openIdConnect","openIdConnectUrl":"o"},
		"o":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"a","tokenUrl":"t","scopes":{"s":"w"}}}}},"security":[{"o":["s"],"k":[]}],
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"n","description":"d","tags":["t"],"examples":["e"],"security":[{"h":[]}]}],"supportsAuthenticatedExtendedCard":true,"signatures":[{"protected":"p","signature":"s"}]}`
	v := version03(t)
	card, err := v.ReadCard([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := v.AppendCard(nil, card)
	if err != nil {
		t.Fatal(err)
	}
	var theirs old.AgentCard
	if err := json.Unmarshal(ours, &theirs); err != nil {
		t.Fatalf("the SDK refuses %s: %v", ours, err)
	}
	src, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if card, err = v.ReadCard(src); err != nil {
		t.Fatalf("refused %s of the SDK: %v", src, err)
	}
	again, err := v.AppendCard(nil, card)
	if err != nil || string(again) != string(ours) {
		t.Errorf("%v\nwrote %s\nthen  %s", err, ours, again)
	}
}
