package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// goValues is a test inside the emitted package: values made in Go instead of read from JSON.
const goValues = `package agent

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/check"
)

func valid() *Case000Input {
	return &Case000Input{Name: "x", Shape: Case000InputShapeString("s"), Any: []byte("1")}
}

func at(pointer, message string) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		t.Helper()
		var e *check.Error
		if !errors.As(err, &e) || len(e.Violations) != 1 || e.Violations[0] != (check.Violation{Pointer: pointer, Message: message}) {
			t.Errorf("got %v, want %s: %s", err, pointer, message)
		}
	}
}

func TestValidateFindsWhatWasBuiltWrong(t *testing.T) {
	nan := math.NaN()
	for name, test := range map[string]struct {
		change func(*Case000Input)
		want   func(*testing.T, error)
	}{
		"union not set":        {func(v *Case000Input) { v.Shape = nil }, at("/shape", "required, but not set")},
		"union holds a nil":    {func(v *Case000Input) { v.Shape = (*Case000InputShapeCircle)(nil) }, at("/shape", "required, but not set")},
		"inside a union":       {func(v *Case000Input) { v.Shape = &Case000InputShapeCircle{R: nan} }, at("/shape/r", "not a number that JSON can express")},
		"any not set":          {func(v *Case000Input) { v.Any = nil }, at("/any", "required, but not set")},
		"any is no JSON":       {func(v *Case000Input) { v.Any = []byte("{") }, at("/any", "not a JSON value: unexpected end of input, expected a member name")},
		"enum not listed":      {func(v *Case000Input) { v.Unit = new(Case000InputUnit("kelvin")) }, at("/unit", "must be one of \"c\", \"f\"")},
		"bytes that are no text": {func(v *Case000Input) { v.Name = "\xff" }, at("/name", "must be valid UTF-8")},
		"key that is no text":  {func(v *Case000Input) { v.More = map[string]int64{"\xff": 1} }, at("/more/\xff", "must be valid UTF-8")},
		"too many properties":  {func(v *Case000Input) { v.Days, v.Unit, v.At = 1, new(Case000InputUnitC), time.Unix(0, 0).UTC() }, at("", "must have at most 6 properties")},
		"dependent property":   {func(v *Case000Input) { v.More = map[string]int64{} }, at("/days", "required because of \"more\", but missing")},
		"year 10000":           {func(v *Case000Input) { v.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, at("/at", "must have a year from 0 to 9999 and a zone offset of whole minutes below 24 hours")},
	} {
		t.Run(name, func(t *testing.T) {
			v := valid()
			if err := v.Validate(); err != nil {
				t.Fatal(err)
			}
			test.change(v)
			if name == "key that is no text" {
				v.Days = 2
			}
			test.want(t, v.Validate())
			if b, err := v.AppendJSON([]byte("x")); err == nil || string(b) != "x" {
				t.Errorf("encoded %s", b)
			}
		})
	}
}

func TestZeroOfADefaultedFieldIsAbsent(t *testing.T) {
	b, err := json.Marshal(valid())
	if want := ` + "`" + `{"kind":"k","name":"x","shape":"s","any":1}` + "`" + `; err != nil || string(b) != want {
		t.Errorf("got %s %v, want %s", b, err, want)
	}
	var back Case000Input
	if err := json.Unmarshal(b, &back); err != nil || back.Days != 3 {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestNilValueIsAnError(t *testing.T) {
	var v *Case000Input
	if err := v.Validate(); err == nil {
		t.Error("no error")
	}
	if _, err := v.AppendJSON(nil); err == nil {
		t.Error("no error")
	}
}
`

func TestValuesMadeInGoAreValidated(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	cases := []conformance{{name: "built", schema: `
type: object
required: [kind, name, shape, any]
maxProperties: 6
properties:
  kind: {const: k}
  name: {type: string}
  shape:
    oneOf:
      - {type: object, required: [k, r], properties: {k: {const: circle}, r: {type: number}}}
      - {type: object, required: [k], properties: {k: {const: dot}}}
      - {type: string}
  any: {}
  unit: {enum: [c, f]}
  days: {type: integer, minimum: 1, default: 3}
  at: {type: string, format: date-time}
  more: {type: object, additionalProperties: {type: integer}}
dependentRequired: {more: [days]}
`}}
	res := compileCases(t, cases)
	dir := module(t, res)
	if err := os.WriteFile(filepath.Join(dir, "agent", "values_test.go"), []byte(goValues), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := gotool.Command(dir, "test", "-vet=off", "./agent")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
