package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/gen/extension"
)

const traceURI = "https://example.com/trace/v1"

// traced is a generated type of an extension, by hand.
type traced struct{ N int }

func (v *traced) UnmarshalJSON(src []byte) error {
	var read struct{ N *int }
	if json.Unmarshal(src, &read) != nil || read.N == nil {
		return &check.Error{Violations: []check.Violation{{Pointer: "/n", Message: "must be a number"}}}
	}
	v.N = *read.N
	return nil
}

func (v *traced) AppendJSON(dst []byte) ([]byte, error) {
	if v.N < 0 {
		return dst, &check.Error{Violations: []check.Violation{{Pointer: "/n", Message: "must be at least 0"}}}
	}
	return fmt.Appendf(dst, `{"n":%d}`, v.N), nil
}

var tracing = &extension.Contract{URI: traceURI, Key: "trace", MediaType: "application/x-trace+json"}

// extending is a card that declares the extension.
func extending(f *fake, more string) string {
	return cardJSON(f.url, "", `"extensions":[{"uri":"`+traceURI+`"`+more+`}],`)
}

var tracedTalk = &rpc.Skill[[]runtime.Part, *rpc.Result]{In: rpc.PlainInput, Out: rpc.PlainOutput}

func TestACallCarriesTheValuesOfAnExtension(t *testing.T) {
	f := newFake(t, "JSONRPC", map[string][]reply{"SendMessage": {result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`)}})
	c := f.dialCard(extending(f, `,"params":{"n":4}`))
	_, err := tracedTalk.Call(t.Context(), c, rpc.Say("hello"),
		rpc.WithExtension(tracing, &traced{1}), rpc.WithRequestExtension(tracing, &traced{2}), rpc.WithExtensionPart(tracing, &traced{3}))
	if err != nil {
		t.Fatal(err)
	}
	q := f.call(0)
	if got := q.Header.Get("A2A-Extensions"); got != traceURI {
		t.Errorf("the header is %q", got)
	}
	for _, want := range []string{`"metadata":{"trace":{"n":1}}`, `"metadata":{"trace":{"n":2}}`, `"data":{"n":3}`, `"extensions":["` + traceURI + `"]`} {
		if !strings.Contains(string(q.Params), want) {
			t.Errorf("%s is not in %s", want, q.Params)
		}
	}
	if v, err := rpc.ExtensionParams[traced](c, tracing); err != nil || v.N != 4 {
		t.Errorf("the params are %v, %v", v, err)
	}
	if v, err := rpc.ExtensionParams[traced](c, &extension.Contract{URI: "urn:other"}); v != nil || err != nil {
		t.Errorf("those of another extension are %v, %v", v, err)
	}
}

func TestNothingIsSentWithAValueThatDoesNotFit(t *testing.T) {
	f := newFake(t, "JSONRPC", nil)
	c := f.dialCard(extending(f, ""))
	for name, opt := range map[string]rpc.CallOption{
		"message": rpc.WithExtension(tracing, &traced{-1}), "request": rpc.WithRequestExtension(tracing, &traced{-1}), "part": rpc.WithExtensionPart(tracing, &traced{-1}),
	} {
		if _, err := tracedTalk.Call(t.Context(), c, rpc.Say("hello"), opt); err == nil || !strings.Contains(err.Error(), "/n: must be at least 0") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := f.methods(); got != "" {
		t.Errorf("requests were made: %s", got)
	}
}

// R49, R152: a required extension that a call does not name is refused before a request is made.
func TestARequiredExtensionIsDemandedBeforeARequest(t *testing.T) {
	f := newFake(t, "JSONRPC", map[string][]reply{"GetTask": {result(`{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`)}})
	card := extending(f, `,"required":true`)
	get := func(opts ...rpc.Option) func(...rpc.CallOption) error {
		c := f.dialCard(card, opts...)
		return func(opts ...rpc.CallOption) error {
			_, err := c.Await(context.Background(), "t", opts...)
			return err
		}
	}
	err := get()()
	if e := (*runtime.Error)(nil); !errors.As(err, &e) || !e.Is(runtime.ErrExtensionSupportRequired) || e.Metadata("extension") != traceURI || f.methods() != "" {
		t.Errorf("without it: %v, after %q", err, f.methods())
	}
	for name, call := range map[string]func() error{
		"an option of the call":   func() error { return get()(rpc.AskFor(tracing)) },
		"an option of the client": func() error { return get(rpc.DefaultExtensions(traceURI))() },
		"a header":                func() error { return get(rpc.DefaultHeader("A2A-Extensions", "urn:x, "+traceURI))() },
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
