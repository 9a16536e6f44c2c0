package equivalence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// value reads what a speaker heard.
func (s *speaker) value(h heard, body []byte) (any, error) {
	if h.event {
		return s.table.ReadEvent(body)
	}
	return s.row(h.op).Read(body)
}

// neutral writes a value in the words of 1.0.
func neutral(hub *runtime.Version, h heard) (string, error) {
	var b []byte
	var err error
	switch e, ok := h.value.(runtime.Event); {
	case h.event && ok:
		b, err = hub.AppendEvent(nil, e)
	default:
		b, err = h.op.Append(nil, h.value)
	}
	if err != nil {
		return "", err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, b)
	return compact.String(), err
}

// sayable is a value as far as the speaker's version can say it: what is left of it when it was written and read.
func (s *speaker) sayable(p *runtime.Protocol, h heard) (heard, error) {
	op := s.row(h.op)
	var b []byte
	var err error
	switch v := h.value.(type) {
	case runtime.Event:
		if task, ok := v.(runtime.Task); ok && s.version.Rules.Places {
			if v, err = p.Placed(task); err != nil {
				return h, err
			}
		}
		if h.event {
			b, err = s.table.AppendEvent(nil, v)
		} else {
			b, err = op.Append(nil, v)
		}
	default:
		b, err = op.Append(nil, v)
	}
	if err != nil {
		return h, err
	}
	h.value, err = s.value(h, b)
	return h, err
}

// lines are what was heard at the steps that count, as text: equal for equal answers.
func lines(hub *runtime.Version, all []heard, skip map[int]bool, say func(heard) (heard, error), errors func(*fault) string) ([]string, error) {
	var list []string
	for _, h := range all {
		if skip[h.step] {
			continue
		}
		text := h.text
		switch {
		case h.fault != nil:
			text = errors(h.fault)
		case h.op != nil:
			said, err := say(h)
			if err != nil {
				return nil, fmt.Errorf("step %d: %w", h.step, err)
			}
			if text, err = neutral(hub, said); err != nil {
				return nil, fmt.Errorf("step %d: %w", h.step, err)
			}
		}
		list = append(list, fmt.Sprintf("%d %s", h.step, text))
	}
	return masked(list), nil
}

var (
	madeID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	clock  = regexp.MustCompile(`"(timestamp|expires)":"2026-01-02T1[^"]+"`)
	next   = regexp.MustCompile(`"(nextPageToken)":"[^"]+"`)
)

// masked gives what the agent chose names in the order in which they come.
func masked(list []string) []string {
	names := map[string]string{}
	for i, line := range list {
		line = clock.ReplaceAllString(next.ReplaceAllString(line, `"$1":"…"`), `"$1":"…"`)
		list[i] = madeID.ReplaceAllStringFunc(line, func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprintf("#%d", len(names)+1)
			}
			return names[id]
		})
	}
	return list
}

// detailed says all of an error that 1.0 has.
func (t classTable) detailed(f *fault) string {
	if f.Code == runtime.ErrMethodNotFound.Code {
		return fmt.Sprintf("error %d", f.Code) // each binding names what it looked for
	}
	text := fmt.Sprintf("error %d %s %q %q %s", f.Code, f.Reason, f.Message, f.Note, t.say(f))
	for _, d := range f.Details {
		names := make([]string, 0, len(d.Metadata))
		for k, v := range d.Metadata {
			names = append(names, fmt.Sprintf(" %s=%q", k, v))
		}
		slices.Sort(names)
		text += strings.Join(names, "")
		for _, v := range d.Violations {
			text += fmt.Sprintf(" %s: %s", v.Field, v.Description)
		}
	}
	return text
}

// plain says what errors before 1.0 have in common: a code that there is, and the specification's words.
func (t classTable) plain(f *fault) string {
	code, message := f.Code, f.Message
	if code == runtime.ErrExtensionSupportRequired.Code || code == runtime.ErrVersionNotSupported.Code {
		code = runtime.ErrInternal.Code
	}
	for _, known := range runtime.Errors() {
		if strings.HasPrefix(message, known.Message) {
			message = known.Message
		}
	}
	class := asTheTable
	if code == f.Code && code != runtime.ErrInternal.Code { // which stands for several
		class = t.say(f)
	}
	return fmt.Sprintf("error %d %q %s", code, message, class)
}
