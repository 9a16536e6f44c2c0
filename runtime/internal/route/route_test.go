package route

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/wire"
)

// only makes the only skill of a catalog.
func only(t testing.TB, s Skill) *Skill {
	t.Helper()
	k, err := New([]Skill{s})
	if err != nil {
		t.Fatal(err)
	}
	return k.Skill(s.ID)
}

// needs decodes objects that have the members.
func needs(members ...string) func([]byte) (any, error) {
	return func(input []byte) (any, error) {
		var m map[string]any
		if err := json.Unmarshal(input, &m); err != nil {
			return nil, &check.Error{Violations: []check.Violation{{Message: "must be an object"}}}
		}
		var missing []check.Violation
		for _, name := range members {
			if m[name] == nil {
				missing = append(missing, check.Violation{Pointer: "/" + name, Message: "is required"})
			}
		}
		if missing != nil {
			return nil, &check.Error{Violations: missing}
		}
		return m, nil
	}
}

func schemaOf(members ...string) string {
	var properties []string
	for _, name := range members {
		properties = append(properties, fmt.Sprintf(`%q:{"type":"string"}`, name))
	}
	required, _ := json.Marshal(members)
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s}`, strings.Join(properties, ","), required)
}

func travel(t testing.TB, more ...Skill) *Catalog {
	t.Helper()
	k, err := New(append([]Skill{
		{ID: "forecast", Name: "Weather", Tags: []string{"weather", "rain"}, InputSchema: schemaOf("city"), Decode: needs("city")},
		{ID: "ticket", Name: "Tickets", Examples: []string{"a train to Rome"}, InputSchema: schemaOf("from", "to"), Decode: needs("from", "to")},
		{ID: "photo", Name: "Photos", InputModes: []string{"image/*"}},
	}, more...))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func text(s string) []runtime.Part { return []runtime.Part{runtime.Text(s)} }

func data(s string) []runtime.Part { return []runtime.Part{{Kind: runtime.PartData, Data: []byte(s)}} }

func image(s string) []runtime.Part {
	return []runtime.Part{{Kind: runtime.PartRaw, MediaType: s}}
}

// Each rule is shown by a message for which no earlier one decides.
func TestTheFirstRuleThatFindsASkillDecides(t *testing.T) {
	chat := Skill{ID: "chat", Name: "Talk", Default: true, InputModes: []string{"text/plain"}, InputSchema: schemaOf("ask"), Decode: needs("ask"), TextField: "ask"}
	for name, c := range map[string]struct {
		metadata string
		parts    []runtime.Part
		router   string
		more     []Skill
		skill    string
		input    string // "?" is a question
	}{
		"the extension": {metadata: `{"` + runtime.SkillsExtension + `":{"skill":"forecast"}}`, parts: text("Rome"), skill: "forecast", input: `{"city":"Rome"}`},
		"skillId":       {metadata: `{"skillId":"forecast"}`, parts: text("Rome"), skill: "forecast", input: `{"city":"Rome"}`},
		"the extension before its former name and skillId": {
			metadata: `{"skillId":"ticket","` + runtime.FormerSkillsExtension + `":{"skill":"ticket"},"` + runtime.SkillsExtension + `":{"skill":"forecast"}}`,
			parts:    data(`{"city":"Rome"}`), skill: "forecast", input: `{"city":"Rome"}`,
		},
		"data that names it":           {parts: data(`{"skill":"ticket","args":{"from":"A","to":"B"}}`), skill: "ticket", input: `{"from":"A","to":"B"}`},
		"text that is such data":       {parts: text(`{"SkillID":"ticket","parameters":{"from":"A","to":"B"}}`), skill: "ticket", input: `{"from":"A","to":"B"}`},
		"data that names another one":  {metadata: `{"skillId":"forecast"}`, parts: data(`{"skill":"ticket","city":"Rome"}`), skill: "forecast", input: `{"skill":"ticket","city":"Rome"}`},
		"the schema":                   {parts: data(`{"city":"Rome"}`), skill: "forecast", input: `{"city":"Rome"}`},
		"words":                        {parts: text("will there be rain"), skill: "forecast", input: `{"city":"will there be rain"}`},
		"words, and something to ask":  {parts: text("buy tickets"), skill: "ticket", input: "?"},
		"words of an example":          {parts: text("from: A, to: B, by train"), skill: "ticket", input: `{"from":"A","to":"B, by train"}`},
		"the router":                   {parts: text("xyzzy"), router: "forecast", skill: "forecast", input: `{"city":"xyzzy"}`},
		"the default for plain text":   {parts: text("xyzzy"), more: []Skill{chat}, skill: "chat", input: `{"ask":"xyzzy"}`},
		"the router before a default":  {parts: text("xyzzy"), more: []Skill{chat}, router: "forecast", skill: "forecast", input: `{"city":"xyzzy"}`},
		"nothing helps a person":       {parts: text("xyzzy"), skill: ""},
		"the key of a repeat names no": {metadata: `{"` + runtime.SkillsExtension + `":{"idempotencyKey":"k"}}`, parts: data(`{"city":"Rome"}`), skill: "forecast", input: `{"city":"Rome"}`},
	} {
		t.Run(name, func(t *testing.T) {
			m := Message{Metadata: wire.Object(c.metadata), Parts: c.parts}
			if c.router != "" {
				m.Router = func() (string, error) { return c.router, nil }
			}
			target, err := travel(t, c.more...).Route(t.Context(), &m)
			if err != nil {
				t.Fatal(err)
			}
			got, input := "", string(target.Input.Raw)
			if target.Skill != nil {
				got = target.Skill.ID
			}
			if target.Missing != nil {
				input = "?"
			}
			if got != c.skill || input != c.input {
				t.Errorf("skill %q with the input %s, want %q with %s", got, input, c.skill, c.input)
			}
		})
	}
}

func TestTheOnlySkillThatTakesTheMediaTypesIsFound(t *testing.T) {
	k, err := New([]Skill{{ID: "photo", InputModes: []string{"image/*"}}, {ID: "film", InputModes: []string{"video/*"}}})
	if err != nil {
		t.Fatal(err)
	}
	if target, err := k.Route(t.Context(), &Message{Parts: image("image/png")}); err != nil || target.Skill.ID != "photo" {
		t.Errorf("%v, %v", target, err)
	}
}

func TestAMessageThatCannotBeRoutedIsRefused(t *testing.T) {
	refused := errors.New("not for you")
	for name, c := range map[string]struct {
		m    Message
		want string
	}{
		"a skill that does not exist":          {Message{Metadata: wire.Object(`{"skillId":"x"}`), Parts: text("a")}, "message.metadata.skillId"},
		"an extension without a skill":         {Message{Metadata: wire.Object(`{"` + runtime.SkillsExtension + `":{}}`), Parts: text("a")}, "message.metadata"},
		"data that fits no skill":              {Message{Parts: data(`{"x":1}`)}, "message.parts"},
		"no content":                           {Message{}, "message.parts"},
		"a router that names what is not here": {Message{Parts: text("xyzzy"), Router: func() (string, error) { return "x", nil }}, "message"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := travel(t).Route(t.Context(), &c.m)
			e := runtime.Made(err)
			if e == nil || e.Code != runtime.ErrInvalidParams.Code || len(e.Violations()) != 1 || e.Violations()[0].Field != c.want {
				t.Errorf("%v", err)
			}
		})
	}
	m := Message{Metadata: wire.Object(`{"skillId":"forecast"}`), Permit: func(skill string) error {
		if skill == "forecast" {
			return refused
		}
		return nil
	}}
	if _, err := travel(t).Route(t.Context(), &m); err != refused {
		t.Errorf("a skill that is not permitted: %v", err)
	}
	m = Message{Parts: text("xyzzy"), Router: func() (string, error) { return "", refused }}
	if _, err := travel(t).Route(t.Context(), &m); err != refused {
		t.Errorf("a router that fails: %v", err)
	}
}

func TestASkillsNameAndItsPlaceAreItsOwn(t *testing.T) {
	for name, list := range map[string][]Skill{
		"no id": {{Name: "x"}}, "twice the same": {{ID: "x"}, {ID: "x"}}, "two defaults": {{ID: "x", Default: true}, {ID: "y", Default: true}},
	} {
		if _, err := New(list); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestHiddenSkillsAreNotPublic(t *testing.T) {
	k := travel(t, Skill{ID: "secret", Name: "Secret", Hidden: true})
	public := k.Public()
	if len(public.skills) != 3 || public.Skill("secret") != nil || k.Skill("secret") == nil || strings.Contains(public.Help(), "secret") {
		t.Errorf("public: %s", public.Help())
	}
	m := Message{Metadata: wire.Object(`{"skillId":"secret"}`)}
	if _, err := public.Route(t.Context(), &m); err == nil || strings.Contains(err.Error(), "Secret") {
		t.Errorf("%v", err)
	}
}

func TestAFollowUpGoesOverTheInputSoFar(t *testing.T) {
	s := travel(t).Skill("ticket")
	for name, c := range map[string]struct {
		have  string
		asked bool
		parts []runtime.Part
		want  string // "?" is a question, "!" an error
	}{
		"text that was not asked for":       {`{"from":"A","to":"B"}`, false, text("C"), `{"from":"A","to":"B"}`},
		"text that answers":                 {`{"from":"A"}`, true, text("C"), `{"from":"A","to":"C"}`},
		"data that was not asked for":       {`{"from":"A","to":"B"}`, false, data(`{"to":"C"}`), `{"from":"A","to":"C"}`},
		"data that leaves something to ask": {``, true, data(`{"to":"C"}`), "?"},
		"data that does not fit":            {`{"from":"A","to":"B"}`, false, data(`{"to":null}`), "!"},
		"names and values":                  {``, true, text("to: C; from = A"), `{"from":"A","to":"C"}`},
	} {
		t.Run(name, func(t *testing.T) {
			in, missing, err := s.FollowUp(t.Context(), []byte(c.have), c.asked, c.parts)
			got := string(in.Raw)
			switch {
			case err != nil:
				got = "!"
			case missing != nil:
				got = "?"
			}
			if got != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestFilesAndAcceptedTypesMustFitTheSkill(t *testing.T) {
	s := only(t, Skill{ID: "photo", InputModes: []string{"image/*"}, OutputModes: []string{"application/json"}})
	for name, c := range map[string]struct {
		parts    []runtime.Part
		accepted []string
		ok       bool
	}{
		"an image":                {image("image/png"), nil, true},
		"a film":                  {image("video/mp4"), nil, false},
		"text, which is tried":    {text("a"), nil, true},
		"a client that takes it":  {nil, []string{"application/*"}, true},
		"JSON counts as text":     {nil, []string{"text/plain"}, true},
		"a client that does not":  {nil, []string{"image/png"}, false},
		"a file of unknown type":  {image(""), []string{"application/json"}, true},
		"a client of many habits": {nil, []string{"image/png", "application/json; charset=utf-8"}, true},
	} {
		if err := s.CheckModes(c.parts, c.accepted); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
