// Package skilltool is what generated code makes tools of skills with, for package tool.
package skilltool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/tool"
)

// TextInput and TextOutput are the schemas of skills that have none: a text in, and a text out with what else there is.
const (
	TextInput = `{"type":"object","required":["text"],"properties":{"text":{"type":"string","minLength":1,` +
		`"description":"What to say, in plain words."}},"additionalProperties":false}`
	TextOutput = `{"type":"object","required":["text"],"properties":{"text":{"type":"string"},` +
		`"data":{"description":"The first value that is no text."},"files":{"type":"array","items":{"type":"object",` +
		`"properties":{"name":{"type":"string"},"mediaType":{"type":"string"},"url":{"type":"string"},` +
		`"bytes":{"type":"integer","description":"How long it is, where there is no url."}}}}}}`
)

// Of makes the tool of a skill: t without Call, and the client's method that calls the skill, with options for all
// calls. in and out are [Data] and [JSON] for generated types, [Value] for an input whose schema [tool.Object] wrapped, and
// [Words] and [Result] for a skill without a schema.
func Of[In, Out any](
	t tool.Tool, in func(args json.RawMessage) (In, error), out func(Out) (json.RawMessage, error),
	call func(context.Context, In, ...rpc.CallOption) (Out, error), opts []rpc.CallOption,
) tool.Tool {
	t.Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		v, err := in(args)
		if err != nil {
			return nil, &tool.ArgumentsError{Tool: t.Name, Schema: t.Input, Err: err}
		}
		result, err := call(ctx, v, opts...)
		if err != nil {
			return nil, err
		}
		return out(result)
	}
	return t
}

// Data reads arguments into a generated type. A null for a property that may be absent but not null, which dialects
// that require every property make models write, is taken as absent.
func Data[T any, P rpc.Decoder[T]](args json.RawMessage) (P, error) {
	if args = bytes.TrimSpace(args); len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, violation("", "must be JSON")
	}
	v := P(new(T))
	err := v.UnmarshalJSON(args)
	if err == nil {
		return v, nil
	}
	if rest, found := withoutNulls(args); found {
		if again := P(new(T)); again.UnmarshalJSON(rest) == nil {
			return again, nil
		}
	}
	return nil, err
}

// Value is [Data] for an input that is no object: the arguments have it as "value".
func Value[T any, P rpc.Decoder[T]](args json.RawMessage) (P, error) {
	raw, err := member(args, "value")
	if err != nil {
		return nil, err
	}
	v := P(new(T))
	return v, below("/value", v.UnmarshalJSON(raw))
}

// Words reads the arguments of [TextInput].
func Words(args json.RawMessage) (string, error) {
	raw, err := member(args, "text")
	if err != nil {
		return "", err
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || text == "" {
		return "", violation("/text", "must be a text that is not empty")
	}
	return text, nil
}

// JSON encodes an output of a generated type.
func JSON[T any, P rpc.Encoder[T]](out P) (json.RawMessage, error) { return out.AppendJSON(nil) }

// Result encodes the result of a skill without a schema, as [TextOutput] says.
func Result(r *rpc.Result) (json.RawMessage, error) {
	type file struct {
		Name      string `json:"name,omitempty"`
		MediaType string `json:"mediaType,omitempty"`
		URL       string `json:"url,omitempty"`
		Bytes     int    `json:"bytes,omitempty"`
	}
	out := struct {
		Text  string          `json:"text"`
		Data  json.RawMessage `json:"data,omitempty"`
		Files []file          `json:"files,omitempty"`
	}{Text: r.Text()}
	for _, p := range r.Parts() {
		if p.Kind == runtime.PartData && out.Data == nil {
			out.Data = json.RawMessage(p.Data)
		}
	}
	for _, f := range r.Files() {
		out.Files = append(out.Files, file{f.Name, f.MediaType, f.URL, len(f.Content)})
	}
	return json.Marshal(out)
}

// member returns the one member that arguments must have.
func member(args json.RawMessage, name string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(args, &all); err != nil {
		return nil, violation("", "must be a JSON object")
	}
	raw, ok := all[name]
	if !ok {
		return nil, violation("/"+name, "required, but missing")
	}
	return raw, nil
}

// violation is the error of arguments in one place.
func violation(pointer, message string) error {
	return &check.Error{Violations: []check.Violation{{Pointer: pointer, Message: message}}}
}

// below moves the places of violations below another one.
func below(pointer string, err error) error {
	var found *check.Error
	if !errors.As(err, &found) {
		return err
	}
	moved := &check.Error{}
	for _, v := range found.Violations {
		moved.Violations = append(moved.Violations, check.Violation{Pointer: pointer + v.Pointer, Message: v.Message})
	}
	return moved
}

// withoutNulls returns a document without the members that are null, and whether there are any.
func withoutNulls(src []byte) (rest []byte, found bool) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || !dropNulls(v) {
		return nil, false
	}
	rest, err := json.Marshal(v)
	return rest, err == nil
}

func dropNulls(v any) (found bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
				found = true
				continue
			}
			found = dropNulls(e) || found
		}
	case []any:
		for _, e := range v {
			found = dropNulls(e) || found
		}
	}
	return found
}
