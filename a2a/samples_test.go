package a2a_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/official"
)

// sample is one sample of the specification, as the reference documents keep it.
type sample struct {
	Fragment   bool
	StrictJSON *bool
	Conforms   *bool
	Body       json.RawMessage
	Events     []json.RawMessage
	Check      []struct{ Type string }
}

// docs are the JSON documents of the sample, out of their JSON-RPC envelopes.
func (s *sample) docs() []json.RawMessage {
	docs := s.Events
	if len(s.Body) > 0 && string(s.Body) != "null" {
		docs = append(docs, s.Body)
	}
	for i, doc := range docs {
		var envelope struct {
			JSONRPC               string
			Params, Result, Error json.RawMessage
		}
		if json.Unmarshal(doc, &envelope) == nil && envelope.JSONRPC != "" {
			docs[i] = append(append(append(json.RawMessage{}, envelope.Params...), envelope.Result...), envelope.Error...)
		}
	}
	return docs
}

// others are the documents of samples that are not both strict JSON and conforming: by sample, and number where there
// are several. An empty want is a document that is read; what is ignored in it is said beside it.
var others = map[string]struct{ typ, want string }{
	"4.3.3-01":                  {"StreamResponse", "/task/id: required, but missing"}, // four alternatives with elided bodies
	"4.6.1-01":                  {"AgentCard", "/version: required, but missing"},      // the card lacks required members (and has a comma too many)
	"4.6.1-02":                  {"SendMessageRequest", "/message/messageId: required, but missing"},
	"4.6.2-01":                  {"Message", "/messageId: required, but missing"},
	"5.6.1-01":                  {"TaskStatus", "/state: required, but missing"}, // a list of timestamps, no message of the protocol
	"6.2-02/0":                  {"StreamResponse", ""},
	"6.2-02/1":                  {"StreamResponse", "/artifactUpdate/artifact/artifactId: required, but missing"},
	"6.2-02/2":                  {"StreamResponse", "/statusUpdate/contextId: required, but missing"},
	"6.3-02":                    {"StreamResponse", "/task/status/message/messageId: required, but missing"},
	"6.4-02":                    {"Task", "/status: expected an object"},                        // an error in a shape that the text itself replaces (§11.6)
	"6.5-06":                    {"ListTasksResponse", ""},                                      // an empty list of tasks is a page like any other
	"6.5-08":                    {"ListTasksResponse", "/tasks: required, but missing"},         // an error, as 6.4-02
	"6.7-01":                    {"SendMessageRequest", "/message/parts/1/raw: invalid base64"}, // shortened with dots
	"6.9-04":                    {"AgentCard", "/description: required, but missing"},           // most of the card is elided
	"8.4.2-01":                  {"AgentCardSignature", ""},
	"8.4.2-02":                  {"AgentCardSignature", "/protected: required, but missing"},                                  // the decoded protected header, not a signature
	"8.5-01":                    {"AgentCard", ""},                                                                            // "security" is 0.3's and ignored here
	"9.2-01":                    {"SendMessageRequest", "/message: required, but missing"},                                    // elided params
	"9.3-01":                    {"SendMessageRequest", "/message: required, but missing"},                                    // elided params
	"9.4.1-01":                  {"SendMessageRequest", "/message: required, but missing"},                                    // elided params
	"9.4.1-02":                  {"SendMessageResponse", "exactly one of task, message is required"},                          // elided result
	"9.4.2-01/0":                {"StreamResponse", "exactly one of task, message, statusUpdate, artifactUpdate is required"}, // elided result
	"9.4.2-01/1":                {"StreamResponse", "exactly one of task, message, statusUpdate, artifactUpdate is required"},
	"9.4.8-01":                  {"GetExtendedAgentCardRequest", "unexpected end of input, expected an object"}, // no params: the operation, not the codec, allows it
	"9.5-01":                    {"Task", "/id: required, but missing"},                                         // a JSON-RPC error, no message of the protocol
	"9.5-02":                    {"Task", "/id: required, but missing"},
	"11.2-01":                   {"SendMessageRequest", "/message/messageId: required, but missing"},
	"11.6-01":                   {"Task", "/id: required, but missing"},                                                       // an HTTP error, no message of the protocol
	"11.7-01":                   {"SendMessageRequest", "/message: required, but missing"},                                    // elided body
	"11.7-02/0":                 {"StreamResponse", "exactly one of task, message, statusUpdate, artifactUpdate is required"}, // elided events
	"11.7-02/1":                 {"StreamResponse", "exactly one of task, message, statusUpdate, artifactUpdate is required"},
	"A.2.1-01":                  {"Part", ""},                                                             // 0.3's "kind" is ignored beside a known case
	"A.2.1-02":                  {"Part", "exactly one of text, raw, url, data is required"},              // a file part of 0.3: two members unheard of
	"A.2.1-04":                  {"Part", "/raw: invalid base64"},                                         // shortened with dots
	"A.2.2-01":                  {"AgentCapabilities", ""},                                                // a card of 0.3, whose members are ignored
	"topic-extensions-0-01":     {"AgentCard", "/supportedInterfaces: required, but missing"},             // a card of 0.3
	"topic-life-of-a-task-0-01": {"SendMessageRequest", ""},                                               // the role "user" is kept; the operation refuses it
	"topic-life-of-a-task-0-02": {"SendMessageResponse", "/task/artifacts/0/parts/0/raw: invalid base64"}, // shortened with dots
	"topic-life-of-a-task-0-03": {"SendMessageRequest", ""},                                               // as -01
	"topic-life-of-a-task-0-04": {"SendMessageResponse", "/task/artifacts/0/parts/0/raw: invalid base64"},
}

// rest of a card, for samples that show only some of its members.
var cardRest = map[string]any{
	"name": "n", "description": "d", "version": "1", "capabilities": map[string]any{}, "defaultInputModes": []any{"text/plain"},
	"defaultOutputModes": []any{"text/plain"}, "skills": []any{},
	"supportedInterfaces": []any{map[string]any{"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}},
}

func TestSamplesOfTheSpecification(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(official.Folder(t, "samples", "v1.0.1"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples: %v", len(files), err)
	}
	met := map[string]bool{}
	roundTrips := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s sample
		if err := json.Unmarshal(src, &s); err != nil {
			t.Fatal(err)
		}
		name := sampleName(file)
		for i, doc := range s.docs() {
			key := name
			if len(s.Events) > 1 {
				key += "/" + strconv.Itoa(i)
			}
			if s.StrictJSON != nil && *s.StrictJSON && s.Conforms != nil && *s.Conforms {
				roundTrips++
				t.Run(key, func(t *testing.T) { checkRoundTrip(t, s.Check[0].Type, doc, s.Fragment) })
				continue
			}
			met[key] = true
			t.Run(key, func(t *testing.T) { checkOther(t, key, doc) })
		}
	}
	for key := range others {
		if !met[key] {
			t.Errorf("there is no document %s", key)
		}
	}
	t.Logf("%d documents survive, %d others", roundTrips, len(met))
}

// sampleName is the section and number at the start of a sample's file name.
func sampleName(file string) string {
	words := strings.Split(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
	for i, w := range words {
		if _, err := strconv.Atoi(w); err == nil && len(w) == 2 {
			return strings.Join(words[:i+1], "-")
		}
	}
	return filepath.Base(file)
}

func checkOther(t *testing.T, key string, doc json.RawMessage) {
	row, ok := others[key]
	if !ok {
		t.Fatalf("%s is in no table", doc)
	}
	x := roots[row.typ]
	if x == nil {
		t.Fatalf("no type %s", row.typ)
	}
	if got := outcome(fresh(x), string(doc)); got != row.want {
		t.Errorf("%s\ngot  %q\nwant %q", doc, got, row.want)
	}
}

// checkRoundTrip decodes and encodes doc and compares the meaning. A fragment of a card is completed first.
func checkRoundTrip(t *testing.T, typ string, doc json.RawMessage, fragment bool) {
	want := parse(t, doc)
	if fragment {
		complete(want.(map[string]any))
	}
	src, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	x := fresh(roots[typ])
	if e := outcome(x, string(src)); e != "" {
		t.Fatalf("%s: %s", src, e)
	}
	written := encode(t, x)
	if where := differs(want, parse(t, []byte(written))); where != "" {
		t.Errorf("%s differs:\n%s\n%s", where, src, written)
	}
}

func complete(card map[string]any) {
	for name, v := range cardRest {
		if _, ok := card[name]; !ok {
			card[name] = v
		}
	}
	for _, face := range card["supportedInterfaces"].([]any) {
		if _, ok := face.(map[string]any)["protocolVersion"]; !ok {
			face.(map[string]any)["protocolVersion"] = "1.0"
		}
	}
}

func parse(t *testing.T, src []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(src)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// differs returns the path at which two JSON values differ in meaning: a member may be left out at its zero value, and
// a time may be written otherwise.
func differs(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return "/"
		}
		for name, w := range want {
			v, ok := g[name]
			if !ok && isZero(w) {
				continue
			}
			if where := differs(w, v); !ok || where != "" {
				return "/" + name + where
			}
		}
		for name := range g {
			if _, ok := want[name]; !ok {
				return "/" + name
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return "/"
		}
		for i := range want {
			if where := differs(want[i], g[i]); where != "" {
				return "/" + strconv.Itoa(i) + where
			}
		}
		return ""
	case string:
		g, _ := got.(string)
		a, err1 := time.Parse(time.RFC3339Nano, want)
		b, err2 := time.Parse(time.RFC3339Nano, g)
		if err1 == nil && err2 == nil && a.Equal(b) {
			return ""
		}
	}
	if !reflect.DeepEqual(want, got) {
		return "/"
	}
	return ""
}

func isZero(v any) bool {
	list, isList := v.([]any)
	return isList && len(list) == 0 || v == "" || v == false || v == json.Number("0")
}
