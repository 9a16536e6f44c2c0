// Package snippet writes a recorded call in other words: as a command of curl, as a Go program with the typed client,
// and as a test of the project.
package snippet

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// Project is what there is to know of the agent that was called.
type Project struct {
	URL      string    // where its callers find it
	Agent    *ir.Agent // nil: it is somebody else's, and there is no typed client
	Client   string    // import path of the typed client
	Server   string    // likewise of the generated server
	Handlers string    // likewise of the handlers
	Helper   bool      // the tests of the handlers have newClient
}

// skill returns a skill of the agent; nil if there is none of that id.
func (p *Project) skill(id string) *ir.Skill {
	i := slices.IndexFunc(p.Agent.Skills, func(s *ir.Skill) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return p.Agent.Skills[i]
}

// said is what a request to send a message says, in any version.
type said struct {
	skill string // that it names; "" for none
	task  string // that it goes on with; "" for none
	parts []part
}

// part is one of a message or artifact, in any version of JSON.
type part struct {
	Text      *string         `json:"text"`
	Data      json.RawMessage `json:"data"`
	Raw       []byte          `json:"raw"`
	URL       string          `json:"url"`
	Filename  string          `json:"filename"`
	MediaType string          `json:"mediaType"`
	File      *struct {
		Bytes         []byte `json:"bytes"`
		FileWithBytes []byte `json:"fileWithBytes"`
		URI           string `json:"uri"`
		FileWithURI   string `json:"fileWithUri"`
		Name          string `json:"name"`
		MimeType      string `json:"mimeType"`
	} `json:"file"`
}

// message is one, in any version.
type message struct {
	Parts   []part `json:"parts"`
	Content []part `json:"content"`
	TaskID  string `json:"taskId"`
}

// IsSend reports whether an exchange sends a message.
func IsSend(x *traffic.Summary) bool {
	return x.Operation == "SendMessage" || x.Operation == "SendStreamingMessage"
}

// read reads what a request says; nil if it sends no message that can be read.
func read(x *traffic.Exchange) *said {
	var body struct {
		Message *message `json:"message"`
		Request *message `json:"request"` // of gRPC in 0.3
		Params  struct {
			Message *message `json:"message"`
		} `json:"params"`
	}
	if !IsSend(&x.Summary) || x.Request.Cut || json.Unmarshal(text(&x.Request), &body) != nil {
		return nil
	}
	m := cmp.Or(body.Message, body.Request, body.Params.Message)
	if m == nil {
		return nil
	}
	s := &said{skill: x.Skill, task: m.TaskID}
	for _, p := range append(m.Parts, m.Content...) {
		s.parts = append(s.parts, p.flat())
	}
	return s
}

// text is the JSON of a body.
func text(b *traffic.Body) []byte {
	if len(b.JSON) > 0 {
		return b.JSON[0]
	}
	return b.Bytes
}

// flat is a part as 1.0 has it.
func (p part) flat() part {
	if f := p.File; f != nil {
		p.Raw, p.URL, p.Filename, p.MediaType = append(f.Bytes, f.FileWithBytes...), cmp.Or(f.URI, f.FileWithURI), f.Name, f.MimeType
	}
	return p
}

// data is the input that a message has for a skill; nil for none, or if there is more in it than that.
func (s *said) data() json.RawMessage {
	if len(s.parts) != 1 {
		return nil
	}
	return s.parts[0].Data
}

// told is what came of a conversation.
type told struct {
	state string          // in the words of 1.0, in lower case, without "task_state_"; "" if it is not known
	err   string          // that the agent answered in place of a result
	data  json.RawMessage // of the result
	text  *string         // of the result
}

// result reads what an exchange came to.
func result(x *traffic.Exchange) told {
	state := strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(x.Outcome), "task_state_"), "_", "-")
	if state == "error" || x.Status >= 400 {
		return told{err: errorOf(x)}
	}
	t := told{state: state}
	for _, e := range x.Events {
		t.add(dataOf(e))
	}
	t.add(text(&x.Response))
	return t
}

// errorOf is what an agent says is wrong.
func errorOf(x *traffic.Exchange) string {
	for _, e := range x.Events {
		if e.Kind == "error" {
			return e.Text
		}
	}
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(text(&x.Response), &body) // it need not be JSON
	return cmp.Or(body.Error.Message, "an error")
}

// dataOf is the JSON of an event.
func dataOf(e traffic.Event) []byte {
	if e.JSON != nil {
		return e.JSON
	}
	var data []byte
	for line := range strings.Lines(string(e.Bytes)) {
		if rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:"); ok {
			data = append(data, strings.TrimPrefix(rest, " ")...)
		}
	}
	return data
}

// output is where results and events have artifacts.
type output struct {
	Result         *output    `json:"result"`
	Task           *output    `json:"task"`
	ArtifactUpdate *output    `json:"artifactUpdate"`
	Artifact       *artifact  `json:"artifact"`
	Artifacts      []artifact `json:"artifacts"`
	Append         bool       `json:"append"`
}

type artifact struct {
	Parts []part `json:"parts"`
}

// add takes over what JSON has of the result: the last data, and the text if it is in one artifact.
func (t *told) add(b []byte) {
	var o output
	if len(b) == 0 || json.Unmarshal(b, &o) != nil {
		return
	}
	for _, inner := range []func() *output{func() *output { return o.Result }, func() *output { return o.Task }, func() *output { return o.ArtifactUpdate }} {
		if next := inner(); next != nil {
			o = *next
		}
	}
	list := o.Artifacts
	if o.Artifact != nil {
		list = append(list, *o.Artifact)
	}
	for _, a := range list {
		for _, p := range a.Parts {
			switch {
			case p.Data != nil:
				t.data = p.Data
			case p.Text != nil && (o.Append || t.text != nil || len(a.Parts) > 1):
				none := ""
				t.text = &none // several: how they are joined is the client's to know
			case p.Text != nil:
				t.text = p.Text
			}
		}
	}
}
