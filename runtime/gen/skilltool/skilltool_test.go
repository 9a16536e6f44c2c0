package skilltool

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/tool"
)

// city is what a generated type looks like.
type city struct {
	Name string
	Days *int
}

func (c *city) UnmarshalJSON(src []byte) error {
	var v struct{ Name, Days json.RawMessage }
	if err := json.Unmarshal(src, &v); err != nil {
		return violation("", "is no JSON")
	}
	if string(v.Days) == "null" {
		return violation("/days", "must be an integer, not null")
	}
	if v.Name == nil {
		return violation("/name", "required, but missing")
	}
	c.Days = new(int)
	return json.Unmarshal(v.Name, &c.Name)
}

func (c *city) AppendJSON(dst []byte) ([]byte, error) { return append(dst, `{"name":"Rome"}`...), nil }

func TestArgumentsAreReadAsModelsWriteThem(t *testing.T) {
	call := func(_ context.Context, in *city, _ ...rpc.CallOption) (*city, error) { return in, nil }
	tools := []tool.Tool{Of(tool.Tool{Name: "city"}, Data[city], JSON[city], call, nil)}
	for args, want := range map[string]string{
		`{"name":"Rome"}`:             "",
		`{"name":"Rome","days":null}`: "",
		``:                            "The arguments do not fit: input.name is required, but missing. Call the tool again with arguments that fit.",
		`{"name":`:                    "The arguments do not fit: input must be JSON. Call the tool again with arguments that fit.",
		`{"days":null}`:               "The arguments do not fit: input.days must be an integer, not null. Call the tool again with arguments that fit.",
	} {
		out, err := tool.Call(t.Context(), tools, "city", json.RawMessage(args))
		if tool.Text(err) != want || err == nil && string(out) != `{"name":"Rome"}` {
			t.Errorf("%s: %s, %s", args, out, tool.Text(err))
		}
	}
}

func TestASkillWithoutASchemaTakesText(t *testing.T) {
	for args, want := range map[string]string{`{"text":"hello"}`: "hello", `{}`: "", `{"text":5}`: "", `"hello"`: ""} {
		got, err := Words(json.RawMessage(args))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", args, got, err)
		}
	}
	raw, err := Result(&rpc.Result{Artifacts: []runtime.ArtifactData{{Parts: []runtime.Part{runtime.Text("hello"), runtime.Data(1), runtime.File("a", "b/c", []byte("def"))}}}})
	if err != nil || string(raw) != `{"text":"hello","data":1,"files":[{"name":"a","mediaType":"b/c","bytes":3}]}` {
		t.Errorf("got %s, %v", raw, err)
	}
}
