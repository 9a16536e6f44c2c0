package server_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/gen/check/format"
	"github.com/a2agen/a2agen/runtime/server"
)

// rule checks a value as generated code would; it returns what is wrong with it, "" for nothing.
type rule func(v any) string

func date(v any) string {
	if s, ok := v.(string); !ok || !format.Valid("date", s) {
		return "must be a date such as 2006-01-02"
	}
	return ""
}

func number(v any) string {
	if _, ok := v.(float64); !ok {
		return "must be a number"
	}
	return ""
}

func boolean(v any) string {
	if _, ok := v.(bool); !ok {
		return "must be true or false"
	}
	return ""
}

func text(v any) string {
	if _, ok := v.(string); !ok {
		return "must be a string"
	}
	return ""
}

func oneOf(choices ...string) rule {
	return func(v any) string {
		if s, ok := v.(string); !ok || !slices.Contains(choices, s) {
			return "must be one of " + strings.Join(choices, ", ")
		}
		return ""
	}
}

// ruled makes a skill that returns its input: an object with these properties, or what root allows.
func ruled(id, schema string, required []string, properties map[string]rule, root rule) server.Skill {
	examine := func(input []byte) error {
		var v any
		if err := json.Unmarshal(input, &v); err != nil {
			return &check.Error{Violations: []check.Violation{{Message: "is not JSON"}}}
		}
		var vs []check.Violation
		fail := func(pointer, message string) {
			if message != "" {
				vs = append(vs, check.Violation{Pointer: pointer, Message: message})
			}
		}
		object, ok := v.(map[string]any)
		switch {
		case root != nil:
			fail("", root(v))
		case !ok:
			fail("", "must be an object")
		default:
			for name, v := range object {
				if properties[name] == nil {
					fail("/"+name, "is not a known property")
				} else {
					fail("/"+name, properties[name](v))
				}
			}
			for _, name := range required {
				if _, ok := object[name]; !ok {
					fail("/"+name, "required, but missing")
				}
			}
		}
		if vs != nil {
			return &check.Error{Violations: vs}
		}
		return nil
	}
	return server.Skill{
		ID: id, Name: id, InputSchema: schema, OutputSchema: `true`, Decode: func(input []byte) (any, error) { return input, examine(input) },
		Run: func(_ context.Context, _ *server.Task, in any) ([]byte, error) { return in.([]byte), nil },
	}
}

func calendar() server.Skill {
	return ruled("calendar", `{"type":"object","required":["day"],"properties":{"day":{"$ref":"#/$defs/Day"},"days":{"type":"integer"}},"$defs":{"Day":{"type":"string","format":"date","description":"The day to look at."}}}`,
		[]string{"day"}, map[string]rule{"day": date, "days": number}, nil)
}

func convert() server.Skill {
	return ruled("convert", `{"type":"object","required":["amount","to"],"properties":{"amount":{"type":"number"},"to":{"enum":["EUR","USD"]},"note":{"type":"string"}}}`,
		[]string{"amount", "to"}, map[string]rule{"amount": number, "to": oneOf("EUR", "USD"), "note": text}, nil)
}

func enabled() server.Skill {
	return ruled("enable", `{"type":"object","required":["on"],"properties":{"on":{"type":"boolean"}}}`, []string{"on"}, map[string]rule{"on": boolean}, nil)
}

func colour() server.Skill {
	return ruled("colour", `{"enum":["red","green","blue"],"description":"The colour of the wall."}`, nil, nil, oneOf("red", "green", "blue"))
}

func say() server.Skill {
	return ruled("say", `{"type":"string"}`, nil, nil, text)
}

func numberOrObject() server.Skill {
	return ruled("either", `{"oneOf":[{"type":"number"},{"type":"object"}]}`, nil, nil, func(v any) string {
		if _, ok := v.(map[string]any); ok || number(v) == "" {
			return ""
		}
		return "must be a number or an object"
	})
}

// A chat client gets on with texts alone, whatever the schema asks for.
func TestTextsAnswerTheServersQuestions(t *testing.T) {
	for _, c := range []struct {
		name  string
		skill server.Skill
		texts []string
		want  string // the input in the end
	}{
		{"a date after a text that is none", calendar(), []string{"calendar tomorrow", "2025-01-02"}, `{"day":"2025-01-02"}`},
		{"a date after two that are none", calendar(), []string{"tomorrow", "next week", " 2025-01-02\n"}, `{"day":"2025-01-02"}`},
		{"a date at once", calendar(), []string{"2025-01-02"}, `{"day":"2025-01-02"}`},
		{"an optional property that did not fit", calendar(), []string{`{"day":"2025-01-02","days":"many"}`, "3"}, `{"day":"2025-01-02","days":3}`},
		{"a property that does not exist is forgotten", calendar(), []string{`{"day":"2025-01-02","week":1}`, `{"days":1}`}, `{"day":"2025-01-02","days":1}`},
		{"JSON over a bad value", calendar(), []string{"tomorrow", `{"day":"2025-01-02"}`}, `{"day":"2025-01-02"}`},
		{"colons", convert(), []string{"convert", "amount: 5, to: EUR"}, `{"amount":5,"to":"EUR"}`},
		{"equals signs and line breaks", convert(), []string{"convert", "amount=5\nto=EUR"}, `{"amount":5,"to":"EUR"}`},
		{"spaces, semicolons, other case", convert(), []string{"convert", "Amount 5; TO eur"}, `{"amount":5,"to":"EUR"}`},
		{"one after the other", convert(), []string{"convert", "amount 5", "usd"}, `{"amount":5,"to":"USD"}`},
		{"a value with a comma", convert(), []string{"convert", "amount 5, note: quick, please, to EUR"}, `{"amount":5,"note":"quick, please","to":"EUR"}`},
		{"pairs in the first message", convert(), []string{"amount 5, to EUR"}, `{"amount":5,"to":"EUR"}`},
		{"a bad value among good ones", convert(), []string{"convert", "amount five, to EUR", "5"}, `{"amount":5,"to":"EUR"}`},
		{"a boolean", enabled(), []string{"switch", "true"}, `{"on":true}`},
		{"a string as the whole input", say(), []string{"hello there"}, `"hello there"`},
		{"JSON is text where only text fits", say(), []string{`{"a":1}`}, `"{\"a\":1}"`},
		{"a choice as the whole input", colour(), []string{"paint it", "Green"}, `"green"`},
		{"a number in a union", numberOrObject(), []string{"hm", "5"}, `5`},
		{"an object in a union", numberOrObject(), []string{`{"a":1}`}, `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := start(t, testCard, []server.Skill{c.skill})
			var task any
			for i, text := range c.texts {
				var more []string
				if i > 0 {
					if state := str(task, "status", "state"); state != "TASK_STATE_INPUT_REQUIRED" {
						t.Fatalf("before %q the task is %s: %v", text, state, task)
					}
					more = []string{`"taskId":"` + str(task, "id") + `"`}
				}
				task = a.ok("SendMessage", message(text, more...))["task"]
			}
			got, _ := json.Marshal(at(task, "artifacts", 0, "parts", 0, "data"))
			if string(got) != c.want {
				t.Errorf("the input became %s, want %s: %v", got, c.want, at(task, "status"))
			}
		})
	}
}

// What a question says is enough to answer it (R37).
func TestQuestionsSayWhatFits(t *testing.T) {
	for _, c := range []struct {
		name  string
		skill server.Skill
		texts []string
		want  string
	}{
		{"choices", convert(), []string{"convert"}, `convert needs amount (number), to (EUR or USD), note (string, optional). Please`},
		{"only what is missing, and why", convert(), []string{"convert", "to Franc, amount 5"}, `convert needs to (EUR or USD), note (string, optional). Please send it as data, as JSON text or as "name: value".` + "\n- to: must be one of EUR, USD"},
		{"format and description", calendar(), []string{"tomorrow"}, `calendar needs day (date; The day to look at), days (integer, optional). Please send it as data, as JSON text or as "name: value".` + "\n- day: must be a date"},
		{"a whole input that is a choice", colour(), []string{"paint it"}, "colour needs a value (red, green or blue; The colour of the wall).\n- must be one of red, green, blue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := start(t, testCard, []server.Skill{c.skill})
			task := a.ok("SendMessage", message(c.texts[0]))["task"]
			for _, text := range c.texts[1:] {
				task = a.ok("SendMessage", message(text, `"taskId":"`+str(task, "id")+`"`))["task"]
			}
			if got := str(task, "status", "message", "parts", 0, "text"); !strings.Contains(got, c.want) {
				t.Errorf("the question is %q, want %q in it", got, c.want)
			}
		})
	}
}

// A chat client can write what a program sends as data; what is missing then is asked for.
func TestJSONInATextFindsItsSkill(t *testing.T) {
	a := start(t, testCard, agency())
	for _, c := range []struct{ name, text, skill, in string }{
		{"the only schema that it satisfies", ` {"from":"A","to":"B"} `, "route", `{"from":"A","to":"B"}`},
		{"a call by name", `{"skill":"forecast","parameters":{"city":"Rome"}}`, "forecast", `{"city":"Rome"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := at(a.ok("SendMessage", message(c.text)), "task", "artifacts", 0, "parts", 0, "data")
			in, _ := json.Marshal(at(out, "in"))
			if str(out, "skill") != c.skill || string(in) != c.in {
				t.Errorf("went to %q with %s", str(out, "skill"), in)
			}
		})
	}
	task := a.ok("SendMessage", message(`{"skill":"route","input":{"from":"A"}}`))["task"]
	if str(task, "status", "state") != "TASK_STATE_INPUT_REQUIRED" {
		t.Errorf("a call that lacks something: %v", task)
	}
}
