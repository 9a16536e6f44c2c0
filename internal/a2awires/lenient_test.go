package a2awires

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/gen/legacy"
)

// oldRead reads src as the type in a version and returns it as 1.0 JSON, or the error.
func oldRead(t *testing.T, version, typ, src string) string {
	t.Helper()
	for _, c := range oldWires[version] {
		if c.typ.Name() != typ {
			continue
		}
		x, err := c.read([]byte(src))
		if err != nil {
			return "error " + err.Error()
		}
		b, err := x.(interface {
			AppendJSON([]byte) ([]byte, error)
		}).AppendJSON(nil)
		if err != nil {
			return "write " + err.Error()
		}
		return string(b)
	}
	t.Fatalf("no %s in %s", typ, version)
	return ""
}

// T38, T39: what official samples and agents in the field leave out, or say in another way.
func TestOlderPeersAreReadLeniently(t *testing.T) {
	const message = `{"message":{"messageId":"","role":"ROLE_USER","parts":[{"text":"hi"}]},"configuration":{"returnImmediately":true}}`
	tests := []struct{ name, version, typ, src, want string }{
		{"a message without kind, role and id", "0.3", "SendMessageRequest", `{"message":{"parts":[{"kind":"text","text":"hi"}]}}`, message},
		{"type for kind in a part", "0.3", "SendMessageRequest", `{"message":{"parts":[{"type":"text","text":"hi"}]}}`, message},
		{"a part without kind", "0.2", "SendMessageRequest", `{"message":{"parts":[{"text":"hi"}]}}`, message},
		{"null for absent", "0.3", "SendMessageRequest", `{"configuration":null,"metadata":null,"message":{"parts":[{"kind":null,"text":"hi","metadata":null}],"contextId":null,"extensions":null}}`, message},
		{"unknown members", "0.3", "SendMessageRequest", `{"future":{"a":[1]},"message":{"x":1,"parts":[{"kind":"text","text":"hi","y":2}]}}`, message},
		{"configuration without blocking", "0.3", "SendMessageRequest", `{"configuration":{},"message":{"parts":[{"text":"hi"}]}}`, message},
		{"blocking (T1)", "0.3", "SendMessageRequest", `{"configuration":{"blocking":true},"message":{"parts":[{"text":"hi"}]}}`, strings.Replace(message, `{"returnImmediately":true}`, `{}`, 1)},
		{"a task told by its shape", "0.3", "StreamResponse", `{"id":"t","contextId":"c","status":{"state":"working"}}`, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`},
		{"a message told by its shape", "0.3", "StreamResponse", `{"parts":[{"text":"x"}],"role":"agent"}`, `{"message":{"messageId":"","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`},
		{"a status update told by its shape", "0.3", "StreamResponse", `{"taskId":"t","contextId":"c","status":{"state":"completed"},"final":false}`, `{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`},
		{"an artifact update told by its shape", "0.3", "StreamResponse", `{"taskId":"t","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}`, `{"artifactUpdate":{"taskId":"t","contextId":"","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`},
		{"an event of an unknown kind is kept", "0.3", "StreamResponse", `{"kind":"ping","n":1}`, `{"ping":{"kind":"ping","n":1}}`},
		{"an unknown state is kept", "0.3", "Task", `{"id":"t","status":{"state":"paused"}}`, `{"id":"t","status":{"state":"paused"}}`},
		{"both spellings of canceled", "0.3", "Task", `{"id":"t","status":{"state":"cancelled"}}`, `{"id":"t","status":{"state":"TASK_STATE_CANCELED"}}`},
		{"a time without a zone is UTC", "0.2", "Task", `{"id":"t","status":{"state":"working","timestamp":"2023-10-27T10:00:00.5"}}`, `{"id":"t","status":{"state":"TASK_STATE_WORKING","timestamp":"2023-10-27T10:00:00.500Z"}}`},
		{"a part of an unknown kind is kept", "0.3", "Part", `{"kind":"hologram","beam":1}`, `{"hologram":{"kind":"hologram","beam":1}}`},
		{"data that was no object", "0.3", "Part", `{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}}`, `{"data":[1]}`},
		{"data that only looks so", "0.3", "Part", `{"kind":"data","data":{"value":[1]}}`, `{"data":{"value":[1]}}`},
		{"a push configuration is nested", "0.3", "TaskPushNotificationConfig", `{"taskId":"t","pushNotificationConfig":{"id":"p","url":"u","authentication":{"schemes":["Bearer","Basic"]}}}`, `{"id":"p","taskId":"t","url":"u","authentication":{"scheme":"Bearer"}}`},
		{"0.1: the task and session of a message", "0.1", "SendMessageRequest", `{"id":"t","sessionId":"s","message":{"role":"user","parts":[{"type":"text","text":"x"}]},"acceptedOutputModes":["text/plain"]}`,
			`{"message":{"messageId":"","contextId":"s","taskId":"t","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}`},
		{"0.1: the state created", "0.1", "Task", `{"id":"t","status":{"state":"created"}}`, `{"id":"t","status":{"state":"TASK_STATE_SUBMITTED"}}`},
		{"0.1: an artifact's index and chunks", "0.1", "StreamResponse", `{"id":"t","artifact":{"index":3,"append":true,"lastChunk":true,"parts":[{"type":"text","text":"x"}]}}`,
			`{"artifactUpdate":{"taskId":"t","contextId":"","artifact":{"artifactId":"3","parts":[{"text":"x"}]},"append":true,"lastChunk":true}}`},
		{"0.1: an artifact without index", "0.1", "StreamResponse", `{"id":"t","artifact":{"parts":[{"type":"text","text":"x"}]}}`, `{"artifactUpdate":{"taskId":"t","contextId":"","artifact":{"artifactId":"0","parts":[{"text":"x"}]}}}`},

		{"an object that is nothing", "0.3", "StreamResponse", `{"a":1}`, "error neither a tag nor the members of something known"},
		{"no object", "0.3", "StreamResponse", `[]`, "error expected an object"},
		{"a message without parts", "0.3", "SendMessageRequest", `{"message":{"role":"user"}}`, "error /message/parts: required, but missing"},
		{"a message with no part", "0.3", "SendMessageRequest", `{"message":{"role":"user","parts":[]}}`, "error /message/parts: at least 1 needed"},
		{"a part with two contents", "0.3", "Part", `{"text":"a","data":{}}`, "error /data: only one of the alternatives may be given"},
		{"a part without what its kind says", "0.3", "Part", `{"kind":"file","text":"a"}`, "error a part needs its text, file or data"},
		{"a file with neither bytes nor uri", "0.1", "Part", `{"type":"file","file":{"name":"x"}}`, "error /file: a file needs bytes or a uri"},
		{"a file with both", "0.1", "Part", `{"type":"file","file":{"bytes":"","uri":"u"}}`, "error /file/uri: only one of the alternatives may be given"},
		{"a member twice", "0.3", "Task", `{"id":"a","id":"b"}`, "error /id: member given more than once"},
		{"0.1: an artifact of nothing", "0.1", "StreamResponse", `{"id":"t","artifact":{}}`, "error /artifact/parts: required, but missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := oldRead(t, tt.version, tt.typ, tt.src); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

const oldCard = `{"name":"n","description":"d","version":"1","url":"https://example.com/a","preferredTransport":"GRPC","protocolVersion":"0.3.0","skills":[],
	"additionalInterfaces":[{"url":"https://example.com/a","transport":"GRPC"},{"url":"https://example.com/b","transport":"HTTP+JSON"}],"defaultInputModes":["a/b"],"defaultOutputModes":[],
	"supportsAuthenticatedExtendedCard":true,"capabilities":{"streaming":true,"stateTransitionHistory":true},"security":[{"o":["s"],"k":[]},{}],
	"securitySchemes":{"k":{"type":"apiKey","in":"query","name":"q"},"o":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"t","scopes":{}},"authorizationCode":{"authorizationUrl":"a","tokenUrl":"t","scopes":{"s":"x"}}}}}}`

// Q10, Q25, Q27: the main interface is that of url and preferredTransport: clients try it first.
func TestACardOf03IsReadWhateverIsExpected(t *testing.T) {
	card, err := Protocol().DecodeCard([]byte(oldCard))
	if err != nil {
		t.Fatal(err)
	}
	info := card.CardInfo()
	if len(info.Interfaces) != 2 || info.Interfaces[0] != (runtime.Interface{URL: "https://example.com/a", Binding: "GRPC", Version: "0.3"}) || info.Interfaces[1].Binding != "HTTP+JSON" {
		t.Errorf("interfaces %+v", info.Interfaces)
	}
	if !info.Extended || !info.Streaming {
		t.Errorf("capabilities %+v", info)
	}
	c := card.Generated().(*AgentCard)
	if _, ok := c.SecuritySchemes["o"].Scheme.(*OAuth2SecurityScheme).Flows.Flow.(*AuthorizationCodeOAuthFlow); !ok {
		t.Errorf("the first flow does not keep the scheme's name: %+v", c.SecuritySchemes["o"])
	}
	if _, ok := c.SecuritySchemes["o-clientCredentials"].Scheme.(*OAuth2SecurityScheme).Flows.Flow.(*ClientCredentialsOAuthFlow); !ok {
		t.Errorf("the second flow is no scheme: %+v", c.SecuritySchemes)
	}
	if len(c.SecurityRequirements) != 2 || c.SecurityRequirements[0].Schemes["o"].List[0] != "s" || len(c.SecurityRequirements[1].Schemes) != 0 {
		t.Errorf("requirements %+v", c.SecurityRequirements)
	}
}

func TestDecodeCardTakesTheVersionThatTheCardIsOf(t *testing.T) {
	tests := []struct{ name, card, want string }{
		{"1.0", `{"name":"n","description":"d","version":"1","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]}`, "1.0"},
		{"1.0 with members of 0.3 (T68)", `{"url":"u","name":"n","description":"d","version":"1","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]}`, "1.0"},
		{"0.3", `{"name":"n","url":"u","version":"1","capabilities":{},"protocolVersion":"0.3.0"}`, "0.3"},
		{"0.2", `{"name":"n","url":"u","version":"1","capabilities":{},"protocolVersion":"0.2.9"}`, "0.2"},
		{"no version", `{"name":"n","url":"u","version":"1","capabilities":{}}`, "0.3"},
		{"0.1", `{"name":"n","url":"u","version":"1","capabilities":{},"authentication":{"schemes":["Bearer"]}}`, "0.1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			card, err := Protocol().DecodeCard([]byte(tt.card))
			if err != nil {
				t.Fatal(err)
			}
			if got := card.CardInfo().Interfaces[0].Version; got != tt.want {
				t.Errorf("interface of version %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDecodeCardTakesTheNextVersionThatIsSpoken(t *testing.T) {
	versions := []*runtime.Version{versionOf("1.0"), versionOf("0.3")}
	for _, version := range []string{"0.2.9", "0.1", "0.4.0", "0.3"} {
		card, err := legacy.DecodeCard([]byte(`{"name":"n","url":"u","protocolVersion":"`+version+`"}`), versions)
		if err != nil || card.CardInfo().Interfaces[0].URL != "u" {
			t.Errorf("%s: %v %v", version, card, err)
		}
	}
}
