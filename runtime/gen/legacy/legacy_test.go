package legacy

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// read runs a reading hook over src and returns the error, if there is one.
func read[T any](src string, hook func(*wire.Reader) T) (T, error) {
	var r wire.Reader
	r.Reset([]byte(src))
	v := hook(&r)
	return v, r.Done()
}

func TestPartsThereAndBack(t *testing.T) {
	meta := wire.Object(`{"a":1}`)
	tests := []struct {
		name string
		part runtime.Part
		want string
	}{
		{"text", runtime.Part{Kind: runtime.PartText, Text: "x", Metadata: meta}, `{"kind":"text","text":"x","metadata":{"a":1}}`},
		{"empty text", runtime.Part{Kind: runtime.PartText}, `{"kind":"text","text":""}`},
		{"bytes", runtime.Part{Kind: runtime.PartRaw, Raw: []byte{0xfb, 0xff}, MediaType: "a/b", Filename: "f"}, `{"kind":"file","file":{"bytes":"+/8=","mimeType":"a/b","name":"f"}}`},
		{"link", runtime.Part{Kind: runtime.PartURL, URL: "u"}, `{"kind":"file","file":{"uri":"u"}}`},
		{"object", runtime.Part{Kind: runtime.PartData, Data: wire.Value(`{"b":2}`)}, `{"kind":"data","data":{"b":2}}`},
		{"null", runtime.Part{Kind: runtime.PartData, Data: wire.Value(`null`)}, `{"kind":"data","data":{"value":null},"metadata":{"data_part_compat":true}}`},
		{"list with metadata", runtime.Part{Kind: runtime.PartData, Data: wire.Value(`[1]`), Metadata: meta}, `{"kind":"data","data":{"value":[1]},"metadata":{"a":1,"data_part_compat":true}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AppendPart(nil, tt.part)
			if err != nil || string(got) != tt.want {
				t.Fatalf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
			typed, err := AppendTypedPart(nil, tt.part)
			if err != nil || string(typed) != strings.Replace(tt.want, `"kind"`, `"type"`, 1) {
				t.Errorf("0.1: %v %s", err, typed)
			}
			for _, src := range []string{string(got), string(typed)} {
				back, err := read(src, func(r *wire.Reader) runtime.Part { p, _, _ := ReadPart(r); return p })
				if err != nil || !reflect.DeepEqual(back, tt.part) {
					t.Errorf("%v: %s came back as %+v", err, src, back)
				}
			}
		})
	}
	if _, err := AppendPart(nil, runtime.Part{}); err == nil {
		t.Error("a part without content was written")
	}
}

func TestPartsOfUnknownKind(t *testing.T) {
	const src = `{"kind":"beam","x":[1],"metadata":{"a":1}}`
	var r wire.Reader
	r.Reset([]byte(src))
	_, name, value := ReadPart(&r)
	if err := r.Done(); err != nil || name != "beam" || string(value) != src {
		t.Fatalf("%v %s %s", err, name, value)
	}
	if b, err := AppendUnknownPart(nil, name, value, nil); err != nil || string(b) != src {
		t.Errorf("what was read so is not written so: %v %s", err, b)
	}
	if b, err := AppendUnknownTypedPart(nil, name, value, nil); err != nil || string(b) != `{"type":"data","data":{"beam":`+src+`}}` {
		t.Errorf("%v %s", err, b)
	}
	if b, err := AppendUnknownPart(nil, "ray", wire.Value(`7`), wire.Object(`{"m":1}`)); err != nil || string(b) != `{"kind":"data","data":{"ray":7},"metadata":{"m":1}}` {
		t.Errorf("%v %s", err, b)
	}
}

// Q10, Q26, Q28: interfaces of 1.0 in the members of older cards.
func TestInterfaces(t *testing.T) {
	all := []runtime.Interface{
		{URL: "n", Binding: "JSONRPC", Version: "1.0"}, {URL: "g", Binding: "GRPC", Version: "0.3", Tenant: "t"},
		{URL: "r", Binding: "HTTP+JSON", Version: "0.3.0"}, {URL: "o", Binding: "JSONRPC", Version: "0.1"},
	}
	tests := []struct {
		name, version string
		list          []runtime.Interface
		want          string
	}{
		{"those of the version", "0.3", all, `,"url":"g","preferredTransport":"GRPC","additionalInterfaces":[{"url":"g","transport":"GRPC"},{"url":"r","transport":"HTTP+JSON"}],"protocolVersion":"0.3.0"`},
		{"all where there are none of it", "0.2", all[:2], `,"url":"n","preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"n","transport":"JSONRPC"},{"url":"g","transport":"GRPC"}],"protocolVersion":"0.2.6"`},
		{"0.1 has a url only", "0.1", all, `,"url":"o"`},
		{"none", "0.3", nil, `,"url":"","preferredTransport":"JSONRPC","protocolVersion":"0.3.0"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := AppendInterfaces(nil, tt.list, tt.version); string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if one := (&Interfaces{More: []runtime.Interface{{URL: "a"}, {URL: "a", Binding: "JSONRPC"}, {}}}).List("0.3"); len(one) != 1 || one[0] != (runtime.Interface{URL: "a", Binding: "JSONRPC", Version: "0.3"}) {
		t.Errorf("each interface comes once: %+v", one)
	}
}

// T22: a scheme of 1.0 has one flow.
func TestSeveralFlowsBecomeSeveralSchemes(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"one flow", `{"o":{"type":"oauth2","flows":{"implicit":{"scopes":{}}}}}`, `{"o":{"type":"oauth2","flows":{"implicit":{"scopes":{}}}}}`},
		{"two flows", `{"o":{"type":"oauth2","flows":{"password":{"a":1},"clientCredentials":{"b":2}}}}`,
			`{"o":{"type":"oauth2","flows":{"clientCredentials":{"b":2}}},"o-password":{"type":"oauth2","flows":{"password":{"a":1}}}}`},
		{"a name that is taken", `{"o-password":{"type":"http","scheme":"x"},"o":{"flows":{"password":{},"implicit":{}}}}`, `{"o-password":{"type":"http","scheme":"x"},"o":{"flows":{"implicit":{}}}}`},
		{"a flow that is null", `{"o":{"flows":{"password":null,"implicit":{}}}}`, `{"o":{"flows":{"password":null,"implicit":{}}}}`},
		{"no flows", `{"k":{"type":"apiKey"},"x":{"flows":1},"n":null}`, `{"k":{"type":"apiKey"},"x":{"flows":1},"n":null}`},
		{"nothing", `{}`, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.src, SplitFlows.Read)
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
	if _, err := read(`[]`, SplitFlows.Read); err == nil {
		t.Error("a list was taken for schemes")
	}
}

// T48: the authentication of a card of 0.1 becomes security schemes, and back.
func TestAuthenticationOf01(t *testing.T) {
	got, err := read(`{"schemes":["Bearer","Basic"],"credentials":"secret","x":1}`, Authentication.Read)
	if want := `{"Bearer":{"scheme":"Bearer","type":"http"},"Basic":{"scheme":"Basic","type":"http"}}`; err != nil || string(got) != want {
		t.Errorf("%v %s", err, got)
	}
	schemes := `{"b":{"type":"http","scheme":"Bearer"},"c":{"type":"oauth2"},"d":{"type":"http","scheme":"Bearer"},"e":7}`
	if written := Authentication.Write([]byte("x"), wire.Object(schemes)); string(written) != `x{"schemes":["Bearer","oauth2"]}` {
		t.Errorf("%s", written)
	}
	if written := Authentication.Write([]byte("x"), nil); string(written) != `x{}` {
		t.Errorf("no schemes: %s", written)
	}
}

func TestTimestampsOfThatTime(t *testing.T) {
	want := time.Date(2023, 10, 27, 10, 0, 0, 0, time.UTC)
	for src, ok := range map[string]bool{
		`"2023-10-27T10:00:00Z"`: true, `"2023-10-27T12:00:00+02:00"`: true, `"2023-10-27T10:00:00"`: true, `"2023-10-27T10:00:00.000"`: true,
		`"2023-10-27 10:00:00"`: true, `"2023-10-27T10:00"`: true, `"yesterday"`: false, `17`: false, `""`: false, `"0000-01-01"`: false,
	} {
		got, err := read(src, Timestamp.Read)
		if (err == nil) != ok || ok && !got.Equal(want) {
			t.Errorf("%s: %v %v", src, got, err)
		}
	}
	if day, err := read(`"2023-10-27"`, Timestamp.Read); err != nil || !day.Equal(want.Add(-10*time.Hour)) {
		t.Errorf("a date: %v %v", day, err)
	}
}

func TestIndexOfAnArtifact(t *testing.T) {
	for id, want := range map[string]string{"0": "0", "17": "17", "2147483647": "2147483647"} {
		if got, err := Index.Append(nil, id); err != nil || string(got) != want {
			t.Errorf("%q: %s %v", id, got, err)
		}
	}
	seen := map[string]string{}
	for _, id := range []string{"", "result", "-1", "01", "2147483648", "a", "b"} {
		got, _ := Index.Append(nil, id)
		again, _ := Index.Append(nil, id)
		n, err := strconv.ParseInt(string(got), 10, 32)
		if err != nil || n < 0 || string(again) != string(got) || seen[string(got)] != "" {
			t.Errorf("%q becomes %s, as %q does (%v)", id, got, seen[string(got)], err)
		}
		seen[string(got)] = "another"
	}
	if id, err := read(`3`, Index.Read); err != nil || id != "3" || Index.Absent() != "0" {
		t.Errorf("%v %v", id, err)
	}
}

func TestSmallHooks(t *testing.T) {
	if Blocking.Has != nil || !Blocking.Absent() {
		t.Error("blocking is not always said, or true by default")
	}
	if at, err := read(`true`, Blocking.Read); err != nil || at {
		t.Errorf("blocking true: %v %v", at, err)
	}
	if b, _ := Blocking.Append(nil, false); string(b) != "true" {
		t.Errorf("%s", b)
	}
	for src, want := range map[string]string{`[]`: "", `["a","b"]`: "a"} {
		if got, err := read(src, Schemes.Read); err != nil || got != want {
			t.Errorf("%s: %q %v", src, got, err)
		}
	}
	if b, _ := Schemes.Append(nil, "a"); string(b) != `["a"]` || !Schemes.Has("a") || Schemes.Has("") {
		t.Errorf("%s", b)
	}
	if b, _ := Schemes.Append(nil, ""); string(b) != `[]` {
		t.Errorf("%s", b)
	}
	if got, err := read(`["text","data","image/png"]`, Modes.Read); err != nil || strings.Join(got, " ") != "text/plain application/json image/png" {
		t.Errorf("%v %v", got, err)
	}
	for state, want := range map[runtime.State]bool{runtime.StateWorking: false, runtime.StateCompleted: true, runtime.StateInputRequired: true, runtime.StateUnspecified: false} {
		if Final(state) != want {
			t.Errorf("final of %s", state)
		}
	}
}

// T37: patch numbers of protocolVersion do not count, and a card without one is told by its members.
func TestCardVersion(t *testing.T) {
	for src, want := range map[string]string{
		`{"url":"u","protocolVersion":"0.3.0"}`: "0.3", `{"url":"u","protocolVersion":"0.2"}`: "0.2", `{"url":"u"}`: "0.3", `{"url":"u","protocolVersion":7}`: "0.3",
		`{"url":"u","authentication":"none"}`: "0.3", `{"url":"u","defaultInputModes":["text"]}`: "0.1", `{"url":"u","defaultInputModes":["text"],"security":[]}`: "0.3",
		`{"url":"u","defaultInputModes":["text/plain"]}`: "0.3", `{"url":"u","authentication":{}}`: "0.1", `{"url":"u","supportedInterfaces":[]}`: "", `{"url":null}`: "", `[`: "",
	} {
		if got := CardVersion([]byte(src)); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
