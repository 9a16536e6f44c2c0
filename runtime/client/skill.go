package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Skill describes a skill of an agent, for calls of it. Generated clients have one for each skill. In and Out are the Go types of its
// input and output.
type Skill[In, Out any] struct {
	ID string // "" leaves the choice of the skill to the agent
	// In makes the parts of the message from the input: [DataInput], or [TextInput] or [PlainInput] for a skill without schema.
	In func(In) ([]runtime.Part, error)
	// Out takes the output from the result: [DataOutput], or [PlainOutput] for a skill without schema.
	Out func(*Result) (Out, error)
	// By names the skill in a message; nil: as the agent's card declares. An answer to a question needs no convention.
	By Convention
}

// Encoder is a generated input type: AppendJSON validates and appends.
type Encoder[T any] interface {
	*T
	AppendJSON(dst []byte) ([]byte, error)
}

// Decoder is a generated output type: UnmarshalJSON parses and validates.
type Decoder[T any] interface {
	*T
	UnmarshalJSON(src []byte) error
}

// DataInput is [Skill].In for a generated input type: one data part, validated.
func DataInput[T any, P Encoder[T]](in P) ([]runtime.Part, error) {
	if in == nil {
		return nil, errors.New("the input is nil")
	}
	data, err := in.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	return []runtime.Part{runtime.Data(wire.Value(data))}, nil
}

// DataOutput is [Skill].Out for a generated output type: the first data part of the artifact marked as the result, else
// of any, else the text if it is JSON, else the text as a string; validated.
func DataOutput[T any, P Decoder[T]](r *Result) (P, error) {
	raw, err := r.JSON()
	if s := r.Text(); err != nil && s != "" {
		raw, err = runtime.Data(s).Data, nil
	}
	if err != nil {
		return nil, err
	}
	out := P(new(T))
	err = out.UnmarshalJSON(raw)
	var broken *check.Error
	if err != nil && !(r.lenient && errors.As(err, &broken) && !reflect.ValueOf(*out).IsZero()) {
		return nil, err
	}
	return out, nil
}

// PlainInput is [Skill].In for a skill without input schema that is called with any parts.
func PlainInput(parts []runtime.Part) ([]runtime.Part, error) {
	if len(parts) == 0 {
		return nil, errors.New("a message needs at least one part")
	}
	return parts, nil
}

// PlainOutput is [Skill].Out for a skill without output schema.
func PlainOutput(r *Result) (*Result, error) { return r, nil }

// Say makes the input of a skill without schema: text, and parts to go with it.
func Say(text string, more ...runtime.Part) []runtime.Part {
	return append([]runtime.Part{runtime.Text(text)}, more...)
}

// Call calls the skill and waits for its output. Errors: *check.Error (wrapped) when the input breaks its schema, before
// anything is sent; *[OutputError] when the output breaks its own, unless the call is [Lenient]; *[TaskError],
// *[InputRequiredError], *[PendingError] by the state of the task; *[LostCallError] when its outcome is unknown; otherwise those
// of [Client.Call].
func (s *Skill[In, Out]) Call(ctx context.Context, c *Client, in In, opts ...CallOption) (Out, error) {
	var none Out
	parts, err := s.In(in)
	if err != nil {
		return none, fmt.Errorf("input of skill %q: %w", s.ID, err)
	}
	cl := c.newCall(opts)
	cl.convention = s.By
	return s.run(ctx, c, parts, cl)
}

// run sends parts and waits for the output.
func (s *Skill[In, Out]) run(ctx context.Context, c *Client, parts []runtime.Part, cl *call) (out Out, err error) {
	ctx, done := cl.policy.limit(ctx)
	defer done()
	c = c.cards.current(ctx, c)
	if err := cl.nest(ctx, c, s.ID, parts); err != nil {
		return out, s.failed(err)
	}
	defer cl.reportEnd(ctx)
	return byNewest(ctx, c, s.ID, cl, func(c *Client) (Out, error) {
		var r *Result
		var err error
		if cl.nested != nil { // a handler's call follows the task's stream from its beginning
			r, _, err = s.steps(ctx, c, parts, cl, func(Event[Out], error) bool { return true })
		} else {
			r, err = c.send(ctx, s.ID, parts, cl)
			for next := c.credentials.answerAuth(r, err, cl); next != nil; next = c.credentials.answerAuth(r, err, next) {
				r, err = c.send(ctx, s.ID, authorizedParts(), next)
			}
		}
		if err != nil {
			return out, s.failed(err)
		}
		return s.output(c, r, cl)
	})
}

// failed names the skill in the error of a call.
func (s *Skill[In, Out]) failed(err error) error {
	if s.ID == "" || err == nil {
		return err
	}
	return fmt.Errorf("skill %q: %w", s.ID, err)
}

// Answer sends the answer to a task's question and waits for the output of the skill. The parts are text, or data that is merged over the
// input given so far. Options of the call are set on the question: [InputRequiredError.With].
func (s *Skill[In, Out]) Answer(ctx context.Context, c *Client, ask *InputRequiredError, parts ...runtime.Part) (Out, error) {
	if err := ask.checkSkill(s.ID); err != nil {
		return *new(Out), err
	}
	return s.run(ctx, c, parts, c.newCall(ask.options()))
}

// AnswerStream is [Skill.Answer] as a stream: it yields the steps that follow, as [Skill.Stream] does.
func (s *Skill[In, Out]) AnswerStream(ctx context.Context, c *Client, ask *InputRequiredError, parts ...runtime.Part) iter.Seq2[Event[Out], error] {
	return func(yield func(Event[Out], error) bool) {
		if err := ask.checkSkill(s.ID); err != nil {
			yield(Event[Out]{}, err)
			return
		}
		s.stream(ctx, c, parts, c.newCall(ask.options()), yield)
	}
}

// output decodes the output of a completed call.
func (s *Skill[In, Out]) output(c *Client, r *Result, cl *call) (Out, error) {
	var none Out
	r.skill = s.ID
	if err := r.err(); err != nil {
		return none, c.withOrigin(err, r)
	}
	if r.lenient = cl.lenient; cl.result != nil {
		*cl.result = *r
	}
	out, err := s.Out(r)
	if err != nil {
		return none, &OutputError{Skill: s.ID, Result: r, Err: err}
	}
	return out, nil
}

// send calls a skill by message and waits until its task settles.
func (c *Client) send(ctx context.Context, skill string, parts []runtime.Part, cl *call) (*Result, error) {
	request, err := c.sendRequest(skill, parts, cl)
	if err != nil {
		return nil, err
	}
	r, err := c.deliver(ctx, request, cl)
	if err == nil {
		err = cl.reportResult(c, r)
	}
	if err != nil || settled(r.State) || cl.data.ReturnImmediately {
		return r, err
	}
	task, err := c.await(ctx, r.TaskID, cl) // an agent may answer before the task settles, without being asked to
	if err != nil {
		return nil, cl.awaited(ctx, r.TaskID, err)
	}
	r = taskResult(task)
	return r, cl.reportResult(c, r)
}

// sendRequest makes the generated request that calls a skill, by the convention of the call.
func (c *Client) sendRequest(skill string, parts []runtime.Part, cl *call) (any, error) {
	k := &Calling{Skill: skill, Parts: slices.Concat(parts, cl.parts)}
	if len(k.Parts) == 0 {
		return nil, errors.New("a message needs at least one part")
	}
	var err error
	switch uri := c.agent.skillsURI(); {
	case cl.convention != nil:
		err = cl.convention(k)
	case uri != "":
		err = byExtension(k, uri)
	default:
		err = BySkillID(k)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range k.Parts {
		if p.Kind == runtime.PartUnknown {
			return nil, fmt.Errorf("a part of the message cannot be sent: %s", p.Text)
		}
	}
	cl.skill = skill
	message := cl.message
	message.User = true
	if message.ID == "" {
		message.ID = cl.key // a message with the same key must have the same content
	}
	if message.ID == "" {
		message.ID = rand.Text()
	}
	cl.lost = !cl.first.IsZero()
	if cl.safe = c.agent.keys; cl.safe && cl.key == "" {
		cl.key = rand.Text()
	}
	if message.TaskID == "" && c.links.version.Rules.ClientIDs {
		message.TaskID, cl.ownTask = rand.Text(), true
	}
	cl.message.ID, cl.message.TaskID = message.ID, message.TaskID
	if len(k.extensions) > 0 {
		message.Extensions = slices.Concat(message.Extensions, k.extensions)
		cl.extensions = append(cl.extensions, k.extensions...)
	}
	if message.Metadata, err = object(append(k.metadata, cl.metadata...)); err != nil {
		return nil, fmt.Errorf("message metadata: %w", err)
	}
	data := cl.data
	if data.Metadata, err = object(append(k.request, cl.reqMetadata...)); err != nil {
		return nil, fmt.Errorf("request metadata: %w", err)
	}
	data.Tenant = c.Tenant()
	data.ReturnImmediately = data.ReturnImmediately || cl.notices != nil || cl.nested != nil && !c.agent.info.Streaming
	if data.IfGenerationMatch != nil && !c.links.version.Rules.Generations {
		return nil, runtime.ErrUnsupportedOperation.AsReceived().With("tasks have no generations in A2A %s, which the agent speaks", c.links.version.Name)
	}
	if data.Push != nil && !c.agent.info.Push {
		return nil, runtime.ErrPushNotificationNotSupported.AsReceived().With("the agent's card declares none")
	}
	data.Message = c.protocol.NewMessage(runtime.MessageData{MessageInfo: message, Parts: k.Parts})
	return c.protocol.NewSend(data), nil
}

// object encodes members as a JSON object; a later one replaces an earlier one of the same name. No members make no object.
func object(members []member) (wire.Object, error) {
	if len(members) == 0 {
		return nil, nil
	}
	m := make(map[string]json.RawMessage, len(members))
	for _, x := range members {
		if err, failed := x.value.(error); failed {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
		p := runtime.Data(x.value)
		if p.Kind != runtime.PartData {
			return nil, fmt.Errorf("%s: %s", x.name, p.Text)
		}
		m[x.name] = json.RawMessage(p.Data)
	}
	b, err := json.Marshal(m)
	return wire.Object(b), err
}
