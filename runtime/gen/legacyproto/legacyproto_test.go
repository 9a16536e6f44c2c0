package legacyproto

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/gen/legacy"
	"github.com/a2agen/a2agen/runtime/gen/proto"
	"github.com/a2agen/a2agen/runtime/wire"
)

// field1 is the tag of a delimited field number 1.
const field1 = 1<<3 | 2

// written is what put writes.
func written(t *testing.T, put func(w *proto.Writer) error) string {
	t.Helper()
	var w proto.Writer
	w.Reset(nil)
	if err := put(&w); err != nil {
		t.Fatal(err)
	}
	b, err := w.Done()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestProtobufSideOfNamesAndLists(t *testing.T) {
	for name, tt := range map[string]struct {
		put  func(w *proto.Writer)
		want string
	}{
		"task":                  {func(w *proto.Writer) { TaskName.Write(w, field1, "t") }, "\x0a\x07tasks/t"},
		"no task":               {func(w *proto.Writer) { TaskName.Write(w, field1, "") }, ""},
		"parent":                {func(w *proto.Writer) { ConfigParent.Write(w, field1, "t") }, "\x0a\x07tasks/t"},
		"no parent":             {func(w *proto.Writer) { ConfigParent.Write(w, field1, "") }, ""},
		"config":                {func(w *proto.Writer) { ConfigName.Write(w, field1, "t", "c") }, "\x0a\x21tasks/t/pushNotificationConfigs/c"},
		"no config":             {func(w *proto.Writer) { ConfigName.Write(w, field1, "", "") }, ""},
		"scheme":                {func(w *proto.Writer) { Schemes.Write(w, field1, "Bearer") }, "\x0a\x06Bearer"},
		"no scheme":             {func(w *proto.Writer) { Schemes.Write(w, field1, "") }, ""},
		"blocking":              {func(w *proto.Writer) { BlockingFlag.Write(w, 8, false) }, "\x08\x01"},
		"not blocking":          {func(w *proto.Writer) { BlockingFlag.Write(w, 8, true) }, ""},
		"a card without places": {func(w *proto.Writer) { PutInterfaces(w, field1, nil, "0.3", "url") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := written(t, func(w *proto.Writer) error { tt.put(w); return nil })
			if got != tt.want {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTheFirstSchemeOfProtobufCounts(t *testing.T) {
	var r proto.Reader
	r.Reset([]byte("\x0a\x01a\x0a\x01b"))
	scheme := ""
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		scheme = Schemes.Read(&r, scheme)
	}
	if err := r.Done(); err != nil || scheme != "a" {
		t.Errorf("read %q, %v", scheme, err)
	}
}

func TestProtobufSideOfParts(t *testing.T) {
	for name, p := range map[string]runtime.Part{
		"text":                   {Kind: runtime.PartText, Text: ""},
		"bytes with a name":      {Kind: runtime.PartRaw, Raw: []byte("x"), MediaType: "a/b", Filename: "n"},
		"address with metadata":  {Kind: runtime.PartURL, URL: "u", Metadata: wire.Object(`{"k":1}`)},
		"data":                   {Kind: runtime.PartData, Data: wire.Value(`{"a":[1]}`)},
		"data that is no object": {Kind: runtime.PartData, Data: wire.Value(`[null]`), Metadata: wire.Object(`{"k":1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			var r proto.Reader
			r.Reset([]byte(written(t, func(w *proto.Writer) error { return PutWrappedPart(w, p) })))
			got, _, _ := TakeWrappedPart(&r)
			if err := r.Done(); err != nil || !reflect.DeepEqual(got, p) {
				t.Errorf("read %+v, want %+v (%v)", got, p, err)
			}
		})
	}
	var r proto.Reader
	r.Reset([]byte("\x0a\x01x\x12\x03\x0a\x01u")) // text, then a file
	if p, _, _ := TakeWrappedPart(&r); p.Kind != runtime.PartURL || p.URL != "u" || p.Text != "" {
		t.Errorf("the last content does not count: %+v", p)
	}
	r.Reset([]byte("\x3a\x01x")) // field 7
	_, name, value := TakeWrappedPart(&r)
	if name != "7" || len(value) == 0 {
		t.Errorf("an unknown content is lost: %q %s", name, value)
	}
	data := written(t, func(w *proto.Writer) error { return PutUnknownWrappedPart(w, name, value, nil) })
	r.Reset([]byte(data))
	if p, _, _ := TakeWrappedPart(&r); p.Kind != runtime.PartData {
		t.Errorf("an unknown content is written as %q", data)
	}
	r.Reset(nil)
	if TakeWrappedPart(&r); r.Complete() {
		t.Error("a part without content is complete")
	}
	var w proto.Writer
	w.Reset(nil)
	if err := PutWrappedPart(&w, runtime.Part{}); err == nil {
		t.Error("a part of no kind was written")
	}
}

// TestAFilesContentIsReadInEitherForm: SDKs have base64 in the field, or the content itself. What we write is always base64, so
// that a content that looks like it comes back as it was.
func TestAFilesContentIsReadInEitherForm(t *testing.T) {
	for name, tt := range map[string]struct{ field, want string }{
		"base64":              {"AAEC/w==", "\x00\x01\x02\xff"},
		"content":             {"\x00\x01\x02\xff", "\x00\x01\x02\xff"},
		"nothing":             {"", ""},
		"text":                {"hello, world", "hello, world"},
		"lines of words":      {"one\ntwo\n", "one\ntwo\n"},
		"base64 in lines":     {"AAEC\n/w==", "AAEC\n/w=="},
		"base64 not to its 4": {"AAEC/w=", "AAEC/w="},
		"base64 of more bits": {"AAEC/x==", "AAEC/x=="},
	} {
		if got := string(legacy.FileContent([]byte(tt.field))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for _, content := range []string{"", "test", "AAEC/w==", "\xff"} {
		if got := string(legacy.FileContent(legacy.FileText([]byte(content)))); got != content {
			t.Errorf("%q comes back as %q", content, got)
		}
	}
}

// FuzzProtobufParts holds the protobuf side of parts to the laws of FuzzHooks of package legacy.
func FuzzProtobufParts(f *testing.F) {
	for _, seed := range []string{"\x0a\x01x", "\x0a\x01x\x12\x03\x0a\x01u", "\x12\x06\x12\x01x\x1a\x01a", "\x1a\x02\x0a\x00", "\x3a\x01x", "\x22\x00", "\x0a\xff\xff\xff\xff\x0f"} {
		f.Add([]byte(seed))
	}
	round := func(src []byte) ([]byte, bool) {
		var r proto.Reader
		r.Reset(src)
		p, name, value := TakeWrappedPart(&r)
		if r.Done() != nil || name == "" && p.Kind == runtime.PartUnknown {
			return nil, false
		}
		var w proto.Writer
		w.Reset(nil)
		err := PutWrappedPart(&w, p)
		if name != "" {
			w.Reset(nil)
			err = PutUnknownWrappedPart(&w, name, value, p.Metadata)
		}
		if err != nil {
			return nil, false
		}
		out, err := w.Done()
		return out, err == nil
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		out, ok := round(src)
		if !ok {
			return
		}
		again, ok := round(out)
		if !ok || !bytes.Equal(again, out) {
			t.Errorf("%q becomes %q, and that %q", src, out, again)
		}
	})
}
