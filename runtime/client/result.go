package client

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Result is the outcome of a call of a skill: a task with its artifacts, or a plain message.
type Result struct {
	TaskID, ContextID string
	State             runtime.State
	Generation        int64 // of the task, for [IfGeneration]; 0 in versions that have none
	Task              any   // the generated task (*a2a.Task); nil when the agent answered with a message
	Message           any   // the answer, or the message of the task's status (*a2a.Message); nil without
	Artifacts         []runtime.ArtifactData
	message           runtime.Message // Message, as the runtime sees it
	skill             string          // that was called, by its id
	lenient           bool            // an output that breaks its schema is decoded as far as possible
}

// File is a file of a result: its content, or the URL where it is.
type File struct {
	Name, MediaType string
	Content         []byte // nil when URL is set
	URL             string
}

func taskResult(t runtime.Task) *Result {
	info, m := t.TaskInfo(), t.StatusMessage()
	return &Result{
		TaskID: info.ID, ContextID: info.ContextID, State: info.State, Generation: t.EventInfo().Generation, Artifacts: t.ArtifactList(),
		Task: t.Generated(), Message: runtime.Generated(m), message: m,
	}
}

func messageResult(m runtime.Message) *Result {
	info := m.MessageInfo()
	return &Result{
		TaskID: info.TaskID, ContextID: info.ContextID, State: runtime.StateCompleted, Message: m.Generated(), message: m,
	}
}

// Parts returns the parts that make up the answer: those of the artifact marked as the skill's result, else those of all
// artifacts, else those of the message.
func (r *Result) Parts() []runtime.Part {
	if a := r.marked(); a != nil {
		return a.Parts
	}
	var parts []runtime.Part
	for _, a := range r.Artifacts {
		parts = append(parts, a.Parts...)
	}
	if len(parts) == 0 && r.message != nil {
		parts = r.message.Contents()
	}
	return parts
}

// Beside returns the artifacts that are not the answer: those beside the one that is marked as the skill's result.
func (r *Result) Beside() []runtime.ArtifactData {
	answer := r.marked()
	if answer == nil {
		return nil
	}
	var list []runtime.ArtifactData
	for i := range r.Artifacts {
		if &r.Artifacts[i] != answer {
			list = append(list, r.Artifacts[i])
		}
	}
	return list
}

// Text returns the text parts of the answer, joined by line breaks; chunks of one streamed artifact are joined as they are.
func (r *Result) Text() string {
	if a := r.marked(); a != nil {
		return text(a.Parts, "")
	}
	var all []string
	for _, a := range r.Artifacts {
		if s := text(a.Parts, ""); s != "" {
			all = append(all, s)
		}
	}
	if len(all) == 0 && r.message != nil {
		return text(r.message.Contents(), "\n")
	}
	return strings.Join(all, "\n")
}

// Data decodes the answer's data into v, which is as of [json.Unmarshal].
func (r *Result) Data(v any) error {
	raw, err := r.JSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// JSON returns the answer's data: the first data part, or else the text if that is JSON, or has one fenced block of it.
func (r *Result) JSON() (wire.Value, error) {
	for _, p := range r.Parts() {
		if p.Kind == runtime.PartData {
			return p.Data, nil
		}
	}
	s := r.Text()
	if json.Valid([]byte(s)) {
		return wire.Value(s), nil
	}
	if raw := fenced(s); raw != nil {
		return raw, nil
	}
	return nil, errors.New("the answer holds no data")
}

// fenced returns the JSON in the one fenced block of a text, where language models put it; nil without.
func fenced(text string) wire.Value {
	parts := strings.Split(text, "```")
	if len(parts) != 3 {
		return nil
	}
	if inside := strings.TrimPrefix(strings.TrimSpace(parts[1]), "json"); json.Valid([]byte(inside)) {
		return wire.Value(strings.TrimSpace(inside))
	}
	return nil
}

// Decode decodes a skill's result into the type T from its JSON: the first data part, else the text if that is JSON, or a block of JSON in
// it. It takes both results of a call, for skills without an output schema:
//
//	trip, err := client.Decode[Trip](c.PlanTrip(ctx, "two days in Rome"))
//
// A result that holds no such JSON is an [*OutputError], which has the result.
func Decode[T any](r *Result, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	raw, err := r.JSON()
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		return v, &OutputError{Skill: r.skill, Result: r, Err: err}
	}
	return v, nil
}

// Files returns the files of all artifacts and of the message.
func (r *Result) Files() []File {
	var files []File
	add := func(parts []runtime.Part) {
		for _, p := range parts {
			if p.Kind == runtime.PartRaw || p.Kind == runtime.PartURL {
				files = append(files, File{Name: p.Filename, MediaType: p.MediaType, Content: p.Raw, URL: p.URL})
			}
		}
	}
	for _, a := range r.Artifacts {
		add(a.Parts)
	}
	if r.message != nil {
		add(r.message.Contents())
	}
	return files
}

// marked returns the artifact that the skills extension marks as the result, or nil.
func (r *Result) marked() *runtime.ArtifactData {
	for i, a := range r.Artifacts {
		if _, ok := extensionData(a.Metadata); ok {
			return &r.Artifacts[i]
		}
	}
	return nil
}

// err returns the error of a task that waits, goes on, or ended otherwise than completed.
func (r *Result) err() error {
	switch {
	case r.State == runtime.StateInputRequired || r.State == runtime.StateAuthRequired:
		return r.question()
	case r.State.Terminal() && r.State != runtime.StateCompleted:
		return &TaskError{TaskID: r.TaskID, ContextID: r.ContextID, State: r.State, Message: messageText(r.message), Result: r}
	case r.State != runtime.StateCompleted:
		return &PendingError{TaskID: r.TaskID, ContextID: r.ContextID, State: r.State}
	}
	return nil
}

// question makes the error of a task that waits, from the message of its status.
func (r *Result) question() *InputRequiredError {
	q := &InputRequiredError{TaskID: r.TaskID, ContextID: r.ContextID, Result: r}
	if r.State == runtime.StateAuthRequired {
		q.Auth = new(runtime.Authorization)
	}
	if r.message == nil {
		return q
	}
	if e, ok := extensionData(r.message.MessageInfo().Metadata); ok && e.Authorization != nil {
		q.Auth = e.Authorization // 0.1 has no state for it
		if u, err := url.Parse(q.Auth.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			q.Auth.URL = "" // no page for a browser
		}
	}
	var texts []string
	for _, p := range r.message.Contents() {
		if p.Kind == runtime.PartText && (q.Auth == nil || p.Text != q.Auth.URL) {
			texts = append(texts, p.Text)
		}
		q.Prompt = strings.Join(texts, "\n")
		if p.Kind != runtime.PartData {
			continue
		}
		if schema := wantedInput(p.Data); schema != nil && q.Schema == nil {
			q.Schema = schema
		} else if q.Data == nil {
			q.Data = p.Data
		}
	}
	return q
}

// wantedInput returns the schema in the data part by which our server asks for a skill's input: {"skill": id, "input": schema}.
func wantedInput(data wire.Value) wire.Value {
	var m map[string]json.RawMessage
	var skill string
	if json.Unmarshal(data, &m) != nil || len(m) != 2 || json.Unmarshal(m["skill"], &skill) != nil {
		return nil
	}
	return wire.Value(m["input"])
}

// extension is the payload of the skills extension in the metadata of a message or an artifact.
type extension struct {
	Skill         string                 `json:"skill,omitempty"`
	Authorization *runtime.Authorization `json:"authorization,omitempty"`
}

func extensionData(metadata wire.Object) (extension, bool) {
	var m map[string]json.RawMessage
	var e extension
	if len(metadata) == 0 || json.Unmarshal(metadata, &m) != nil {
		return e, false
	}
	raw, ok := m[runtime.SkillsExtension]
	if !ok {
		raw, ok = m[runtime.FormerSkillsExtension]
	}
	return e, ok && json.Unmarshal(raw, &e) == nil
}

func messageText(m runtime.Message) string {
	if m == nil {
		return ""
	}
	return text(m.Contents(), "\n")
}

// text joins the text parts.
func text(parts []runtime.Part, sep string) string {
	var all []string
	for _, p := range parts {
		if p.Kind == runtime.PartText {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, sep)
}

// Metadata returns the metadata of the answer: of the message, or of the message of the task's status; nil without one.
func (r *Result) Metadata() wire.Object {
	if r.message == nil {
		return nil
	}
	return r.message.MessageInfo().Metadata
}
