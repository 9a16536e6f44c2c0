package conform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Contract has the messages that make an agent do what not every agent does. A nil step is taken from the card, or not tried: a skill
// with the tag "conform:ask" does it for its first example, and is answered by its second.
type Contract struct {
	Text   *Step `json:"text,omitempty"`   // answers and is done. Without it: the first example of a skill, else "hello"
	Ask    *Step `json:"ask,omitempty"`    // asks back, and is done when it has the answer
	Long   *Step `json:"long,omitempty"`   // works until it is canceled
	Stream *Step `json:"stream,omitempty"` // makes an artifact in more than one event
	Reply  *Step `json:"reply,omitempty"`  // answers with a message, without a task
	Auth   *Step `json:"auth,omitempty"`   // waits for an authorization
}

// Step is a message. In JSON it may be a string, the text.
type Step struct {
	Text     string         `json:"text,omitempty"`
	Data     map[string]any `json:"data,omitempty"`     // is sent as a second part, or as the only one
	Metadata map[string]any `json:"metadata,omitempty"` // of the message
	Answer   string         `json:"answer,omitempty"`   // the text that answers a question
}

// saying returns the step with another text, and without data.
func (s *Step) saying(text string) *Step { return &Step{Text: text, Metadata: s.Metadata} }

// UnmarshalJSON reads a step.
func (s *Step) UnmarshalJSON(src []byte) error {
	if bytes.HasPrefix(src, []byte(`"`)) {
		return json.Unmarshal(src, &s.Text)
	}
	type plain Step
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(s))
}

// ContractError is a mistake in a contract.
type ContractError struct {
	Step   string // the member of the contract: "ask"
	Member string // that of the step; "" for the step itself
	Text   string
}

func (e *ContractError) Error() string { return "the contract: " + e.Text }

// ParseContract reads a contract from JSON. The error is a [ContractError].
func ParseContract(src []byte) (*Contract, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(src, &members); err != nil {
		return nil, &ContractError{Text: "it is no object: write text, ask, long, stream, reply or auth, each with a text"}
	}
	c := &Contract{}
	steps := c.steps()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if steps[name] == nil {
			return nil, &ContractError{Step: name, Text: fmt.Sprintf("%q is no member: there are text, ask, long, stream, reply and auth", name)}
		}
		s := &Step{}
		if err := json.Unmarshal(members[name], s); err != nil {
			return nil, stepError(name, err)
		}
		switch {
		case s.Text == "" && s.Data == nil:
			return nil, &ContractError{Step: name, Text: name + " has neither a text nor data"}
		case name == "ask" && s.Answer == "":
			return nil, &ContractError{Step: name, Text: "ask has no answer: write what ends the question"}
		}
		*steps[name] = s
	}
	return c, nil
}

// stepError is why a step could not be read, in the words of a contract.
func stepError(name string, err error) *ContractError {
	says := name + " is a text or an object with text, data, metadata and answer"
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		_, member, _ := strings.Cut(err.Error(), "unknown field ")
		return &ContractError{name, strings.Trim(member, `"`), says + ": " + strings.TrimPrefix(err.Error(), "json: ")}
	}
	if wrong.Field == "" {
		return &ContractError{Step: name, Text: says + ": it has the JSON type " + wrong.Value}
	}
	must := "an object"
	if wrong.Field == "text" || wrong.Field == "answer" {
		must = "a text"
	}
	member, _, _ := strings.Cut(wrong.Field, ".")
	return &ContractError{name, member, fmt.Sprintf("%s of %s must be %s: it has the JSON type %s", member, name, must, wrong.Value)}
}

// steps are the members by their names.
func (c *Contract) steps() map[string]**Step {
	return map[string]**Step{"text": &c.Text, "ask": &c.Ask, "long": &c.Long, "stream": &c.Stream, "reply": &c.Reply, "auth": &c.Auth}
}

// contractTag begins the tags by which a skill says what it can be used for.
const contractTag = "conform:"

// withCard returns the contract completed by the card.
func (c *Contract) withCard(card object) *Contract {
	full := Contract{}
	if c != nil {
		full = *c
	}
	steps := full.steps()
	example := ""
	for _, skill := range objects(card["skills"]) {
		examples := texts(skill["examples"])
		for _, text := range examples {
			if example == "" && len(text) <= 500 {
				example = text
			}
		}
		for _, tag := range texts(skill["tags"]) {
			name, ok := strings.CutPrefix(tag, contractTag)
			if s := steps[name]; ok && s != nil && *s == nil && len(examples) > 0 {
				*s = &Step{Text: examples[0]}
				if len(examples) > 1 {
					(*s).Answer = examples[1]
				}
			}
		}
	}
	if full.Ask != nil && full.Ask.Answer == "" {
		full.Ask = nil
	}
	if full.Text == nil {
		full.Text = &Step{Text: cmp.Or(example, "hello")}
	}
	return &full
}
