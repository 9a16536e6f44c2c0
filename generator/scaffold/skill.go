package scaffold

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/schema"
)

// skillView is the input of the templates of a handler and its test.
type skillView struct {
	packages
	ID, Go string
	Call   string // name of the client's method
	File   string // base name of the handler's file
	Quoted string // the id as a quoted ASCII string on one line
	Input  bool   // the skill has an input schema
	Output bool
	// InType and OutType are the handler's types, Zero the output's zero value.
	InType, OutType, Zero string
	// Answer is the expression that the handler returns; InputCode the argument that the test calls it with.
	Answer, InputCode string
	// NoAnswer: no valid answer could be made up, so the handler returns an error. NoInput: likewise no valid question.
	NoAnswer, NoInput bool

	input sample
	text  string // what a skill without an input schema is asked
	chat  bool   // plain text is an input of the skill
}

func newSkillView(ps packages, s *ir.Skill) *skillView {
	v := &skillView{
		packages: ps, ID: s.ID, Go: s.Go, Call: s.Client.Call, File: s.File, Quoted: quoted(s.ID),
		chat:  s.Input == nil || s.TextField != "",
		Input: s.Input != nil, Output: s.Output != nil,
		InType: "a2a.Message", OutType: "string", Zero: `""`,
	}
	v.sampleInput(s)
	v.sampleOutput(s)
	return v
}

// SampleOutput returns a made-up output of a skill as JSON; nil for a skill without an output schema, or where none could be made
// up that is valid.
func SampleOutput(s *ir.Skill) json.RawMessage {
	if s.Output == nil {
		return nil
	}
	out, err := checked(&sampler{}, s.Output, s.OutputSchema)
	if err != nil {
		return nil
	}
	return json.RawMessage(out.json)
}

// quoted shortens and quotes an id, which may be any text.
func quoted(id string) string {
	if rs := []rune(id); len(rs) > 80 {
		id = string(rs[:80]) + "…"
	}
	return strconv.QuoteToASCII(id)
}

// sampleInput chooses the input in tests.
func (v *skillView) sampleInput(s *ir.Skill) {
	if !v.Input {
		v.text = sampleText(s)
		v.InputCode = strconv.Quote(v.text)
		return
	}
	v.InType = "agent." + s.Input.Name
	var err error
	v.input, err = checked(&sampler{pkg: "agent"}, s.Input, s.InputSchema)
	if err != nil {
		v.input = sample{"{}", "new(" + v.InType + ")"}
		v.NoInput = true
	}
	v.InputCode = v.input.code
}

// sampleOutput chooses what the handler answers: a value of its output type that repeats values of the input where
// types agree or, without an output schema, an echo.
func (v *skillView) sampleOutput(s *ir.Skill) {
	switch {
	case v.Output:
		v.OutType, v.Zero = "*agent."+s.Output.Name, "nil"
		out, err := checked(&sampler{pkg: "agent", copies: copies(s.Input)}, s.Output, s.OutputSchema)
		v.Answer, v.NoAnswer = out.code, err != nil
	case v.Input:
		v.Answer = strconv.Quote(v.Go + " works.")
	default:
		v.Answer = `"You said: " + t.Text()`
	}
}

// copies returns the input's plain required fields.
func copies(input *ir.DataRef) map[string]copyable {
	m := map[string]copyable{}
	if input == nil || input.Type.Kind != ir.DataStruct {
		return m
	}
	for _, f := range input.Type.Fields {
		if f.Required && f.Go != "" && !f.Pointer && !f.Type.Null && plainKind(f.Type.Kind) {
			m[f.Name] = copyable{f.Type.Kind, "in." + f.Go}
		}
	}
	return m
}

func plainKind(k ir.DataKind) bool {
	switch k {
	case ir.DataNamed, ir.DataList, ir.DataMap, ir.DataAny:
		return false
	}
	return true
}

// checked makes a sample that the schema accepts, which may be stricter than the sampler: with optional values, else
// without.
func checked(s *sampler, ref *ir.DataRef, contract json.RawMessage) (sample, error) {
	v, err := accepted(s, ref, contract)
	if err == nil {
		return v, nil
	}
	s.least = true
	if v, err := accepted(s, ref, contract); err == nil {
		return v, nil
	}
	return v, err
}

// accepted makes a sample and checks it against the schema.
func accepted(s *sampler, ref *ir.DataRef, contract json.RawMessage) (sample, error) {
	v, err := s.root(ref)
	if err != nil {
		return sample{}, err
	}
	if !s.doubt {
		return v, nil
	}
	return v, holds(v, contract)
}

// holds checks a sample against the schema.
func holds(v sample, contract json.RawMessage) error {
	e, err := schema.NewEvaluator(contract)
	if err != nil {
		return err
	}
	problem, err := e.Problem("", []byte(v.json))
	if problem != "" {
		return errors.New(problem)
	}
	return err
}

// Fails reports whether the test of the skill must expect an error.
func (v *skillView) Fails() bool { return v.NoAnswer || v.NoInput }

// rpc returns a JSON-RPC call of SendMessage, with its members in the usual order.
type rpc struct {
	JSONRPC string `json:"jsonrpc"`
	ID      string `json:"id"`
	Method  string `json:"method"`
	Params  struct {
		Message message `json:"message"`
	} `json:"params"`
}

type message struct {
	ID         string         `json:"messageId"`
	Role       string         `json:"role"`
	Parts      []part         `json:"parts"`
	Extensions []string       `json:"extensions,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

type part struct {
	Text      string          `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
}

// send returns a request that sends a message, as JSON.
func send(m message) string {
	m.ID, m.Role = "m1", "ROLE_USER"
	r := rpc{JSONRPC: "2.0", ID: "1", Method: "SendMessage"}
	r.Params.Message = m
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		panic(err) // strings, and JSON that was decoded before
	}
	return strings.TrimSpace(b.String())
}
