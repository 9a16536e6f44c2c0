package equivalence

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// operation finds an operation of 1.0 by the word of a script; nil if there is none.
func (s *session) operation(word string) *runtime.Operation {
	role, known := operations[word]
	for _, op := range s.hub.Operations {
		if known && op.Role == role || !known && op.RPC == word {
			return op
		}
	}
	return nil
}

// compose writes the request of a step in the speaker's words.
func (s *session) compose(word, request string) (c call, op *runtime.Operation, err error) {
	raw := word == "raw"
	if raw {
		word, request, _ = strings.Cut(request, " ")
	}
	if op = s.operation(word); op == nil {
		return c, nil, fmt.Errorf("no step: %q", word)
	}
	if c.op = s.speaker.row(op); c.op == nil {
		return c, op, errNoWord
	}
	neutral, err := s.request(request)
	if err != nil {
		return c, op, err
	}
	c.params = maps.Clone(s.params)
	if raw {
		c.request, err = s.speaker.raw(op, neutral)
		return c, op, err
	}
	wanted, err := op.Decode(neutral)
	if err != nil {
		return c, op, err
	}
	words := s.speaker.words(c.op)
	if c.request, err = words.AppendRequest(nil, s.generated(wanted)); err != nil {
		return c, op, err
	}
	said, err := words.Decode(c.request)
	if err == nil && !sameWish(wanted, said) {
		err = errNoWord
	}
	return c, op, err
}

// sameWish reports whether a request still wants the same now that it is written in another version's words.
func sameWish(wanted, said any) bool {
	return reflect.DeepEqual(wishes(wanted), wishes(said))
}

// wishes are what a request wants of the agent, as far as it changes what comes of it.
func wishes(v any) (list []any) {
	push := func(c *runtime.PushConfig) string {
		if c == nil {
			return ""
		}
		return c.URL + " " + c.ID
	}
	length := func(n *int) int {
		if n == nil {
			return -1 // which is none
		}
		return *n
	}
	switch p := v.(type) {
	case *runtime.SendRequest:
		return []any{p.Tenant, p.ReturnImmediately, push(p.Push), len(p.AcceptedOutputModes), length(p.HistoryLength)}
	case *runtime.TaskRequest:
		return []any{p.Tenant, p.ID, length(p.HistoryLength)}
	case *runtime.PushRequest:
		return []any{p.Tenant, p.TaskID, p.Config.ID, length(p.PageSize), p.PageToken}
	}
	return nil
}

// generated is the generated request of a neutral one, as a client of the version would make it.
func (s *session) generated(v any) any {
	switch p := v.(type) {
	case *runtime.SendRequest:
		if info := p.Message; s.speaker.version.Rules.ClientIDs && info != nil && info.MessageInfo().TaskID == "" {
			key := s.params["Idempotency-Key"]
			if s.named[key] == "" || key == "" {
				s.named[key] = newID()
			}
			info.Bind(info.MessageInfo().ContextID, s.named[key])
		}
		return p.Source
	case *runtime.TaskRequest:
		return p.Source
	case *runtime.ListRequest:
		return p.Source
	case *runtime.PushRequest:
		return p.Source
	}
	return v
}

// request makes the JSON of a request of what a script says.
func (s *session) request(text string) ([]byte, error) {
	text = s.seen.fill(strings.NewReplacer("$me", s.me, "$hook", s.agent.hook.url).Replace(text))
	if strings.Contains(text, "$task") {
		return nil, errNoWord
	}
	if text == "" {
		return []byte("{}"), nil
	}
	if text[0] != '"' {
		return []byte(text), nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	var said string
	var more map[string]any
	if err := d.Decode(&said); err != nil {
		return nil, err
	}
	if d.More() {
		if err := d.Decode(&more); err != nil {
			return nil, err
		}
	}
	message := map[string]any{"messageId": fmt.Sprintf("m%d", s.step), "role": "ROLE_USER",
		"parts": []any{map[string]any{"text": said}}}
	request := map[string]any{"message": message}
	for name, value := range more {
		if extra, ok := value.(map[string]any); ok && name == "message" {
			maps.Copy(message, extra)
		} else {
			request[name] = value
		}
	}
	return json.Marshal(request)
}
