package legacy

import (
	"reflect"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// readAll reads src by read and returns what went wrong.
func readAll[T any](src string, read func(*wire.Reader) T) (T, error) {
	var r wire.Reader
	r.Reset([]byte(src))
	x := read(&r)
	return x, r.Done()
}

func TestResourceNames(t *testing.T) {
	task := func(r *wire.Reader) [2]string { return [2]string{TaskName.Read(r)} }
	parent := func(r *wire.Reader) [2]string { return [2]string{ConfigParent.Read(r)} }
	config := func(r *wire.Reader) [2]string { id, c := ConfigName.Read(r); return [2]string{id, c} }
	for _, tt := range []struct {
		name, src string
		read      func(*wire.Reader) [2]string
		want      [2]string
	}{
		{"task", `"tasks/t"`, task, [2]string{"t"}},
		{"task without its collection", `"t"`, task, [2]string{"t"}},
		{"task whose id looks like a name", `"tasks/tasks/t"`, task, [2]string{"tasks/t"}},
		{"parent", `"tasks/t/pushNotificationConfigs"`, parent, [2]string{"t"}},
		{"parent that is the task", `"tasks/t"`, parent, [2]string{"t"}},
		{"config", `"tasks/t/pushNotificationConfigs/c"`, config, [2]string{"t", "c"}},
		{"config whose id has a slash", `"tasks/t/pushNotificationConfigs/c/d"`, config, [2]string{"t", "c/d"}},
		{"config without an id", `"tasks/t/pushNotificationConfigs/"`, config, [2]string{"t"}},
		{"the configs of a task", `"tasks/t/pushNotificationConfigs"`, config, [2]string{"t"}},
		{"only the task of a config", `"tasks/t"`, config, [2]string{"t"}},
		{"config without a task", `"tasks//pushNotificationConfigs/c"`, config, [2]string{"", "c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := readAll(tt.src, tt.read); err != nil || got != tt.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	for want, write := range map[string]func() ([]byte, error){
		`"tasks/t"`:                            func() ([]byte, error) { return TaskName.Append(nil, "t") },
		`"tasks/u"`:                            func() ([]byte, error) { return ConfigParent.Append(nil, "u") },
		`"tasks/t/pushNotificationConfigs/c"`:  func() ([]byte, error) { return ConfigName.Append(nil, "t", "c"), nil },
		`"tasks/t/pushNotificationConfigs/"`:   func() ([]byte, error) { return ConfigName.Append(nil, "t", ""), nil },
		`"tasks/\"/pushNotificationConfigs/c"`: func() ([]byte, error) { return ConfigName.Append(nil, `"`, "c"), nil },
	} {
		if got, err := write(); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	if TaskName.Has("") || ConfigParent.Has("") || ConfigName.Has("", "") || !TaskName.Has("t") || !ConfigParent.Has("t") || !ConfigName.Has("t", "") || !ConfigName.Has("", "c") {
		t.Error("a name is written for nothing, or not for something")
	}
}

func TestBlockingFlagIsWrittenOnlyWhenTrue(t *testing.T) {
	if BlockingFlag.Has(true) || !BlockingFlag.Has(false) || !BlockingFlag.Absent() {
		t.Error("blocking is not the opposite of returning at once")
	}
	if b, err := BlockingFlag.Append(nil, false); err != nil || string(b) != "true" {
		t.Errorf("wrote %s, %v", b, err)
	}
	if at, err := readAll("true", BlockingFlag.Read); err != nil || at {
		t.Errorf("read %v, %v", at, err)
	}
}

func TestWrappedParts(t *testing.T) {
	for _, tt := range []struct {
		name, src, written string // written: when it is not src
		part               runtime.Part
	}{
		{"text", `{"text":""}`, "", runtime.Part{Kind: runtime.PartText}},
		{"bytes", `{"file":{"fileWithBytes":"Ky84PQ==","mimeType":"a/b","name":"n"}}`, "", runtime.Part{Kind: runtime.PartRaw, Raw: []byte{0xfb, 0xff}, MediaType: "a/b", Filename: "n"}},
		{"address", `{"file":{"fileWithUri":"u"},"metadata":{"k":1}}`, "", runtime.Part{Kind: runtime.PartURL, URL: "u", Metadata: wire.Object(`{"k":1}`)}},
		{"data", `{"data":{"data":{"a":1}}}`, "", runtime.Part{Kind: runtime.PartData, Data: wire.Value(`{"a":1}`)}},
		{"data that is no object", `{"data":{"data":{"value":[1]}},"metadata":{"data_part_compat":true}}`, "", runtime.Part{Kind: runtime.PartData, Data: wire.Value(`[1]`), Metadata: wire.Object(`{}`)}},
		{"names of the proto", `{"file":{"file_with_uri":"u","mime_type":"a/b"}}`, `{"file":{"fileWithUri":"u","mimeType":"a/b"}}`, runtime.Part{Kind: runtime.PartURL, URL: "u", MediaType: "a/b"}},
		{"a text of the schema", `{"kind":"text","text":"x"}`, `{"text":"x"}`, runtime.Part{Kind: runtime.PartText, Text: "x"}},
		{"a file of the schema", `{"kind":"file","file":{"uri":"u","mimeType":"a/b"}}`, `{"file":{"fileWithUri":"u","mimeType":"a/b"}}`, runtime.Part{Kind: runtime.PartURL, URL: "u", MediaType: "a/b"}},
		{"bytes that are no base64", `{"file":{"fileWithBytes":"+/8="}}`, `{"file":{"fileWithBytes":"Ky84PQ=="}}`, runtime.Part{Kind: runtime.PartRaw, Raw: []byte{0xfb, 0xff}}},
		{"bytes of the schema", `{"file":{"bytes":"+/8="},"kind":"file"}`, `{"file":{"fileWithBytes":"Ky84PQ=="}}`, runtime.Part{Kind: runtime.PartRaw, Raw: []byte{0xfb, 0xff}}},
		{"data of the schema", `{"data":{"data":{"a":1}},"kind":"data"}`, `{"data":{"data":{"data":{"a":1}}}}`, runtime.Part{Kind: runtime.PartData, Data: wire.Value(`{"data":{"a":1}}`)}},
		{"data without data", `{"data":{}}`, `{"data":{"data":{}}}`, runtime.Part{Kind: runtime.PartData, Data: wire.Value(`{}`)}},
		{"null and unknown members", `{"text":"x","file":null,"other":1}`, `{"text":"x"}`, runtime.Part{Kind: runtime.PartText, Text: "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := readAll(tt.src, func(r *wire.Reader) runtime.Part { p, _, _ := ReadWrappedPart(r); return p })
			if len(p.Metadata) == 0 && len(tt.part.Metadata) <= len("{}") {
				p.Metadata, tt.part.Metadata = nil, nil
			}
			if err != nil || !reflect.DeepEqual(p, tt.part) {
				t.Errorf("read %+v, %v", p, err)
			}
			want := tt.written
			if want == "" {
				want = tt.src
			}
			if b, err := AppendWrappedPart(nil, tt.part); err != nil || string(b) != want {
				t.Errorf("wrote %s, %v", b, err)
			}
		})
	}
	for name, tt := range map[string]struct{ src, want string }{
		"two contents": {`{"text":"x","data":{"data":{}}}`, ""}, "two files": {`{"file":{"fileWithUri":"u","fileWithBytes":""}}`, ""},
		"nothing": {`{"metadata":{}}`, "a part needs its text, file or data"}, "an empty file": {`{"file":{}}`, "a file needs bytes or a uri"},
		"data that is a list": {`{"data":{"data":[]}}`, ""}, "no object": {`"x"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := readAll(tt.src, func(r *wire.Reader) runtime.Part { p, _, _ := ReadWrappedPart(r); return p })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("read %+v, %v", p, err)
			}
		})
	}
	if _, err := AppendWrappedPart(nil, runtime.Part{}); err == nil {
		t.Error("a part of no kind was written")
	}
}

func TestUnknownWrappedPartsBecomeData(t *testing.T) {
	var r wire.Reader
	r.Reset([]byte(`{"video":{"uri":"u"},"metadata":{"k":1}}`))
	p, name, value := ReadWrappedPart(&r)
	if err := r.Done(); err != nil || name != "video" || string(value) != `{"uri":"u"}` {
		t.Fatalf("read %s %s, %v", name, value, err)
	}
	b, err := AppendUnknownWrappedPart(nil, name, value, p.Metadata)
	if want := `{"data":{"data":{"video":{"uri":"u"}}},"metadata":{"k":1}}`; err != nil || string(b) != want {
		t.Errorf("wrote %s, %v", b, err)
	}
	if _, err := AppendUnknownWrappedPart(nil, "x", wire.Value("nonsense"), nil); err == nil {
		t.Error("nonsense was written")
	}
}
