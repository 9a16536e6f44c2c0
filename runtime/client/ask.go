package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// Limits of a question's text, in bytes.
const (
	maxToken = 4 << 10
	maxAskID = 512 // of each id in it
)

// tokenVersion begins every token. A new form of tokens gets another number.
const tokenVersion = "ask1."

// asker is the origin of a question: a token is compared with it.
type asker struct {
	name   string // on the card
	at     string // digest of the interface's URL, for an agent that was renamed
	tenant string
}

// kept is a question as a token has it. Its members are part of the format.
type kept struct {
	Agent    string `json:"a,omitempty"`
	At       string `json:"u,omitempty"`
	Tenant   string `json:"n,omitempty"`
	Skill    string `json:"s,omitempty"`
	Task     string `json:"t"`
	Context  string `json:"c,omitempty"`
	Question string `json:"q,omitempty"` // id of the message that asks
}

// Token returns the question as a text of at most 4 KiB, in letters, digits, "-", "_" and ".", which a database can
// keep: [Client.Ask] makes a question of it again, days later, in another process and over any binding. It
// has ids, and neither the question's text nor credentials: an answer needs the same access to the agent. It is
// "" if an id is longer than 512 bytes, which agents must not have.
func (e *InputRequiredError) Token() string {
	k := kept{
		Agent: e.from.name, At: e.from.at, Tenant: e.from.tenant,
		Skill: e.skill, Task: e.TaskID, Context: e.ContextID, Question: e.question,
	}
	for _, id := range []string{k.Tenant, k.Skill, k.Task, k.Context, k.Question} {
		if len(id) > maxAskID {
			return ""
		}
	}
	src, err := json.Marshal(k)
	if err != nil || k.Task == "" {
		return ""
	}
	return tokenVersion + base64.RawURLEncoding.EncodeToString(src)
}

// readToken reads a token, strictly.
func readToken(token string) (k kept, err error) {
	if len(token) > maxToken {
		return k, fmt.Errorf("it has %d bytes, more than %d", len(token), maxToken)
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(token), tokenVersion)
	if !ok {
		return k, fmt.Errorf("it does not begin with %q: it was made by a newer version, or is none", tokenVersion)
	}
	src, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return k, errors.New("it is cut or changed")
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if d.Decode(&k) != nil || k.Task == "" {
		return kept{}, errors.New("it is cut or changed")
	}
	if _, err := d.Token(); err != io.EOF {
		return kept{}, errors.New("it is cut or changed")
	}
	return k, nil
}

// AskFault is the reason why a question cannot be answered any more, or not by this client.
type AskFault string

// The faults.
const (
	AskMalformed  AskFault = "malformed"   // the text is no token
	AskOtherAgent AskFault = "other agent" // it is of another agent, or another tenant, than the client's
	AskOtherSkill AskFault = "other skill" // it is of another skill than the one that was to be answered
	AskGone       AskFault = "gone"        // the agent no longer has the task, or not for this caller
	AskEnded      AskFault = "ended"       // the task has ended, with Result
	AskAnswered   AskFault = "answered"    // the task goes on: Client.Await waits for it
	AskChanged    AskFault = "changed"     // the task asks something else by now: Now
)

// AskError is a question that cannot be answered. Nothing was sent to the task.
type AskError struct {
	Fault  AskFault
	TaskID string              // "" if the text is malformed
	Agent  string              // that asked, by the name on its card; "" if that is not known
	Skill  string              // that asked; "" if that is not known
	Result *Result             // the task as it stands, where the agent has it
	Now    *InputRequiredError // what the task asks by now, with AskChanged
	Err    error               // the cause; nil without
}

// Error renders the reason and the remedy.
func (e *AskError) Error() string {
	task, agent, skill := Printable(e.TaskID), Printable(e.Agent), Printable(e.Skill)
	switch e.Fault {
	case AskMalformed:
		return fmt.Sprintf("the text is no question: %v", e.Err)
	case AskOtherAgent:
		return fmt.Sprintf("the question of task %s is of agent %q: use a client of that one, for the same tenant", task, agent)
	case AskOtherSkill:
		return fmt.Sprintf("the question of task %s is of skill %q: answer it by that skill's method", task, skill)
	case AskGone:
		return fmt.Sprintf("the agent no longer has task %s, or not for this caller: call the skill again", task)
	case AskEnded:
		return fmt.Sprintf("task %s has ended (%s), and takes no answer: its result is there", task, e.Result.State)
	case AskAnswered:
		return fmt.Sprintf("task %s goes on (%s), and waits for no answer: wait for it", task, e.Result.State)
	}
	return fmt.Sprintf("task %s asks something else by now: answer that", task)
}

// Unwrap returns the cause.
func (e *AskError) Unwrap() error { return e.Err }

// Ask makes a question of the text that [InputRequiredError.Token] returned: as the task has it now, for the Answer method of the skill that
// asked. Errors: *[AskError] when it cannot be answered any more, or not by this client; otherwise those of [Client.Await].
func (c *Client) Ask(ctx context.Context, token string, opts ...CallOption) (*InputRequiredError, error) {
	k, err := readToken(token)
	if err != nil {
		return nil, &AskError{Fault: AskMalformed, Err: err}
	}
	fault := &AskError{TaskID: k.Task, Agent: k.Agent, Skill: k.Skill}
	same := func(i runtime.Interface) bool { return digestOf(i.URL) == k.At }
	known := k.Agent == "" && k.At == "" || k.Agent != "" && k.Agent == c.agent.name() ||
		slices.ContainsFunc(c.agent.info.Interfaces, same) || same(c.links.all[0].iface) // an agent may be renamed, or move
	if k.Tenant != c.Tenant() || !known {
		fault.Fault = AskOtherAgent
		return nil, fault
	}
	cl := c.newCall(opts)
	ctx, done := cl.policy.limit(ctx)
	defer done()
	task, err := c.task(ctx, patient, k.Task, cl)
	if errors.Is(err, runtime.ErrTaskNotFound) {
		fault.Fault, fault.Err = AskGone, err
		return nil, fault
	}
	if err != nil {
		return nil, err
	}
	r := taskResult(task)
	r.skill, fault.Result = k.Skill, r
	var ask *InputRequiredError
	switch err := c.withOrigin(r.err(), r); {
	case errors.As(err, &ask) && (k.Question == "" || ask.question == "" || k.Question == ask.question):
		return ask, nil
	case ask != nil:
		fault.Fault, fault.Now = AskChanged, ask
	case r.State.Terminal():
		fault.Fault = AskEnded
	default:
		fault.Fault = AskAnswered
	}
	return nil, fault
}

// withOrigin sets the agent and the skill in the error of a task that waits.
func (c *Client) withOrigin(err error, r *Result) error {
	ask, ok := err.(*InputRequiredError)
	if !ok {
		return err
	}
	ask.skill, ask.from = r.skill, asker{name: c.agent.name(), at: digestOf(c.links.all[0].iface.URL), tenant: c.Tenant()}
	if r.message != nil {
		ask.question = r.message.MessageInfo().ID
	}
	return ask
}

// name is the start of the agent's name, as a token has it.
func (a *agentCard) name() string {
	return Printable(a.info.Name[:min(len(a.info.Name), maxAskID/2)])
}

// digestOf is a short digest of a URL, which may have secrets in it.
func digestOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// checkSkill checks that a question is answered by the skill that asked.
func (e *InputRequiredError) checkSkill(id string) error {
	if e.skill == "" || id == "" || e.skill == id {
		return nil
	}
	return &AskError{Fault: AskOtherSkill, TaskID: e.TaskID, Agent: e.from.name, Skill: e.skill, Result: e.Result}
}
