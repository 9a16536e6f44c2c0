package traffic

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime"
)

// Digest is what an answer or event says, in any version, in brief.
type Digest struct {
	Kind     string `json:"kind,omitempty"` // task, status, artifact, message, error, comment
	Task     string `json:"task,omitempty"`
	Context  string `json:"context,omitempty"`
	State    string `json:"state,omitempty"` // as the version writes it
	Artifact string `json:"artifact,omitempty"`
	Append   bool   `json:"append,omitempty"`
	Last     bool   `json:"last,omitempty"` // piece of the artifact
	Text     string `json:"text,omitempty"` // the first characters
}

const (
	maxDigested = 4 << 20 // bytes of what is read for its digest
	maxText     = 200     // characters
)

// part is one of a message or an artifact, in any version.
type part struct {
	Text string          `json:"text"`
	Data json.RawMessage `json:"data"`
	URL  string          `json:"url"`
	Raw  json.RawMessage `json:"raw"`
	File json.RawMessage `json:"file"`
}

// spoken is a message, in any version.
type spoken struct {
	Parts     []part                     `json:"parts"`
	Content   []part                     `json:"content"`
	MessageID string                     `json:"messageId"`
	TaskID    string                     `json:"taskId"`
	ContextID string                     `json:"contextId"`
	Role      string                     `json:"role"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
}

// skill is the one that a message names; "" for none.
func (m *spoken) skill() (id string) {
	if json.Unmarshal(m.Metadata["skillId"], &id) == nil && id != "" {
		return id
	}
	var named struct {
		Skill string `json:"skill"`
	}
	for _, uri := range []string{runtime.SkillsExtension, runtime.FormerSkillsExtension} {
		_ = json.Unmarshal(m.Metadata[uri], &named) // "" if it is no such
	}
	return named.Skill
}

// told is a result or event, in any version.
type told struct {
	ID        string `json:"id"`
	TaskID    string `json:"taskId"`
	ContextID string `json:"contextId"`
	SessionID string `json:"sessionId"`
	Status    *struct {
		State   string  `json:"state"`
		Message *spoken `json:"message"`
		Update  *spoken `json:"update"`
	} `json:"status"`
	Artifact *struct {
		spoken
		ArtifactID string `json:"artifactId"`
	} `json:"artifact"`
	Append    bool `json:"append"`
	LastChunk bool `json:"lastChunk"`

	Task           *told   `json:"task"`
	StatusUpdate   *told   `json:"statusUpdate"`
	ArtifactUpdate *told   `json:"artifactUpdate"`
	Message        *spoken `json:"message"`
	Msg            *spoken `json:"msg"`
	spoken                 // a message of 0.3 stands for itself
}

// answer is what JSON-RPC puts around a result.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// digest reads a result or event. What it does not understand it leaves out.
func digest(data []byte) (d Digest) {
	if len(data) > maxDigested {
		return d
	}
	var around answer
	if json.Unmarshal(data, &around) == nil {
		switch {
		case around.Error != nil:
			return Digest{Kind: "error", Text: brief(around.Error.Message)}
		case around.Result != nil:
			data = around.Result
		}
	}
	var t told
	if json.Unmarshal(data, &t) != nil {
		return d
	}
	return t.digest()
}

func (t *told) digest() (d Digest) {
	switch {
	case t.Task != nil:
		return t.Task.digest()
	case t.StatusUpdate != nil:
		return t.StatusUpdate.as("status")
	case t.ArtifactUpdate != nil:
		return t.ArtifactUpdate.as("artifact")
	case t.Message != nil:
		return t.Message.digest()
	case t.Msg != nil:
		return t.Msg.digest()
	case t.Artifact != nil:
		return t.as("artifact")
	case t.Status != nil && t.TaskID != "":
		return t.as("status")
	case t.Status != nil:
		return t.as("task")
	case t.Role != "":
		return Digest{Kind: "message", Task: t.TaskID, Context: t.ContextID, Text: t.text()}
	}
	return d
}

// as makes the digest of a kind.
func (t *told) as(kind string) Digest {
	d := Digest{Kind: kind, Task: t.TaskID, Context: t.ContextID, Append: t.Append, Last: t.LastChunk}
	if d.Task == "" {
		d.Task = t.ID
	}
	if d.Context == "" {
		d.Context = t.SessionID
	}
	if t.Status != nil {
		d.State = t.Status.State
		for _, m := range []*spoken{t.Status.Message, t.Status.Update} {
			if m != nil {
				d.Text = m.text()
			}
		}
	}
	if t.Artifact != nil {
		d.Artifact, d.Text = t.Artifact.ArtifactID, t.Artifact.text()
	}
	return d
}

func (m *spoken) digest() Digest {
	return Digest{Kind: "message", Task: m.TaskID, Context: m.ContextID, Text: m.text()}
}

// text is what a message says, in brief.
func (m *spoken) text() string {
	var words []string
	for _, p := range append(m.Parts, m.Content...) {
		switch {
		case p.Text != "":
			words = append(words, p.Text)
		case p.Data != nil:
			words = append(words, string(p.Data[:min(len(p.Data), 4*maxText)]))
		case p.URL != "" || p.Raw != nil || p.File != nil:
			words = append(words, "(file)")
		}
		if len(words) == 10 {
			break
		}
	}
	return brief(strings.Join(words, " "))
}

// brief is the beginning of a text.
func brief(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxText {
			return strings.ToValidUTF8(s[:i], "") + "…"
		}
	}
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "�")
	}
	return s
}

// asked is what a request says, in any version.
type asked struct {
	Method  string  `json:"method"`
	Message *spoken `json:"message"`
	Params  *struct {
		ID        string  `json:"id"`
		TaskID    string  `json:"taskId"`
		SessionID string  `json:"sessionId"`
		Message   *spoken `json:"message"`
	} `json:"params"`
}

// learn takes over what a request says.
func (s *Summary) learn(body []byte) {
	var a asked
	if len(body) > maxDigested || json.Unmarshal(body, &a) != nil {
		return
	}
	s.Called = brief(a.Method)
	m := a.Message
	if p := a.Params; p != nil {
		if s.Task = p.ID; s.Task == "" {
			s.Task = p.TaskID
		}
		s.Context = p.SessionID
		if p.Message != nil {
			m = p.Message
		}
	}
	if m != nil {
		if m.TaskID != "" {
			s.Task = m.TaskID
		}
		if m.ContextID != "" {
			s.Context = m.ContextID
		}
		s.Skill, s.Message = m.skill(), brief(m.MessageID)
	}
	s.Task, s.Context, s.Skill = brief(s.Task), brief(s.Context), brief(s.Skill)
}
