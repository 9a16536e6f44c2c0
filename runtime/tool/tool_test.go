package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

func TestNamesAreValidAndUnique(t *testing.T) {
	long := strings.Repeat("a", 70)
	got := Names("get_forecast", "get forecast", "get.forecast", "", "ü", long, long, "get_forecast_2")
	want := []string{
		"get_forecast", "get_forecast_2", "get_forecast_3", "tool", "_", long[:64], long[:62] + "_2", "get_forecast_2_2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestJoinedToolsKeepTheirNamesIfTheyCan(t *testing.T) {
	all := Join([]Tool{{Name: "search"}, {Name: "read"}}, []Tool{{Name: "search"}})
	if all[0].Name != "search" || all[1].Name != "read" || all[2].Name != "search_2" {
		t.Errorf("got %s, %s, %s", all[0].Name, all[1].Name, all[2].Name)
	}
}

func TestAnUnknownToolIsToldWithThoseThatThereAre(t *testing.T) {
	_, err := Call(t.Context(), []Tool{{Name: "read"}, {Name: "write"}}, "delete", nil)
	var unknown *UnknownError
	if !errors.As(err, &unknown) || Text(err) != `There is no tool "delete". The tools are read, write.` {
		t.Errorf("got %v: %s", err, Text(err))
	}
}

func TestErrorsAreWordedForAModel(t *testing.T) {
	broken := &check.Error{Violations: []check.Violation{{Pointer: "/days", Message: "must be at most 5"}, {Pointer: "/city", Message: "required, but missing"}}}
	refused := runtime.ErrInvalidParams.With("the input does not fit").WithViolations(runtime.Violation{Field: "input.days", Description: "must be at most 5"})
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no error", nil, ""},
		{"arguments that do not fit", &ArgumentsError{Tool: "x", Err: broken}, "The arguments do not fit: input.days must be at most 5; input.city is required, but missing. Call the tool again with arguments that fit."},
		{"an agent that refuses arguments", refused, "The arguments do not fit: input.days must be at most 5. Call the tool again with arguments that fit."},
		{"an output", &rpc.OutputError{Skill: "x", Err: broken}, "The tool has done its work, but its answer does not fit its schema. Do not call it again for the same."},
		{"a question", &rpc.InputRequiredError{Prompt: "Which one?", Schema: []byte(`{"type":"string"}`)}, `The tool asks: Which one? The answer must fit this JSON Schema: {"type":"string"} Call it again with arguments that say so, or ask the user.`},
		{"a rejected task", &rpc.TaskError{State: runtime.StateRejected, Message: "not on\nSundays"}, "The tool declined: not on Sundays."},
		{"a failed task", &rpc.TaskError{State: runtime.StateFailed}, "The tool failed."},
		{"a status without an error", &rpc.HTTPError{Status: 401}, "The tool may not be used with the credentials that there are. Go on without it."},
		{"a credential that is missing", &rpc.CredentialError{}, "The tool may not be used with the credentials that there are. Go on without it."},
		{"no credentials", &rpc.HTTPError{Status: 401, Err: runtime.ErrUnauthenticated}, "The tool may not be used with the credentials that there are. Go on without it."},
		{"time is up", context.DeadlineExceeded, "The tool took too long. It may have done its work nevertheless."},
		{"a secret", errors.New("dial tcp 10.0.0.1: password"), "The tool cannot be reached now, or did not answer as it should. Try once more, or go on without it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestASchemaOfNoObjectIsPutBelowValue(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`: "",
		`{"type":"string"}`: `{"type":"object","required":["value"],"properties":{"value":{"type":"string"}},"additionalProperties":false}`,
		`{"$schema":"s","anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#"}],"$defs":{"A":{}}}`: `{"type":"object","required":["value"],` +
			`"properties":{"value":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/properties/value"}]}},"additionalProperties":false,"$schema":"s","$defs":{"A":{}}}`,
	} {
		got, wrapped := Object(json.RawMessage(schema))
		if want == "" {
			want = schema
		}
		if string(got) != want || wrapped != (want != schema) {
			t.Errorf("%s\ngot  %s\nwant %s", schema, got, want)
		}
	}
}
