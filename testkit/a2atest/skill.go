package a2atest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/task"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Task is what a fake's own function sees of a call, as the handler of an agent does: see [Skill.On].
type Task = task.Task

// Skill is a skill of a [Fake]: what it answers, and how it was called. In and Out are the generated types of its input
// and output; text is a string. Answers without a number of calls ([Answer.Once], [Answer.Times])
// are for all that come; of several the last one counts. Those for a number of calls are used before it, in order.
type Skill[In, Out any] struct {
	id, field string
	fake      *Fake

	mu      sync.Mutex
	answers []*Answer[In, Out]
	scripts map[string]*script[In, Out] // by task
	calls   []*Call[In]
}

// Call is how a skill was called.
type Call[In any] struct {
	Input             In
	TaskID, ContextID string
	Text              string      // of the message
	Metadata          wire.Object // likewise
	Answers           []Reply[In] // to what the task asked, in order
	// Caller is [Tester], unless an option of [With] says otherwise.
	Caller runtime.Caller
}

// Reply is a message that answered what a task asked.
type Reply[In any] struct {
	Input In // the input so far, with what the message has of it
	Text  string
	Parts []runtime.Part
}

// AnySkill is a [Skill] of any types.
type AnySkill interface {
	skillID() string
	join(f *Fake) error
	serve(c cardSkill) server.Skill
	unused() []string
}

// NewSkill makes a skill by its id. field is what the generated fake calls it: "GetForecast".
func NewSkill[In, Out any](id, field string) *Skill[In, Out] {
	return &Skill[In, Out]{id: id, field: field, scripts: map[string]*script[In, Out]{}}
}

// Calls returns the inputs with which the skill was called, in order. What answers a question is no call.
func (s *Skill[In, Out]) Calls() []In {
	s.mu.Lock()
	defer s.mu.Unlock()
	inputs := make([]In, len(s.calls))
	for i, c := range s.calls {
		inputs[i] = c.Input
	}
	return inputs
}

// Received returns the calls of the skill, in order, with what came beside their inputs.
func (s *Skill[In, Out]) Received() []Call[In] {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Call[In], len(s.calls))
	for i, c := range s.calls {
		list[i] = *c
		list[i].Answers = slices.Clone(c.Answers)
	}
	return list
}

func (s *Skill[In, Out]) skillID() string { return s.id }

func (s *Skill[In, Out]) join(f *Fake) error {
	s.fake = f
	if !isText[In]() && !canDecode[In]() {
		return fmt.Errorf("skill %q: its input, %v, is neither a string nor a pointer to a generated type",
			s.id, reflect.TypeFor[In]())
	}
	out := reflect.TypeFor[Out]()
	if !isText[Out]() && (out.Kind() != reflect.Pointer || !out.Implements(reflect.TypeFor[encoder]())) {
		return fmt.Errorf("skill %q: its output, %v, is neither a string nor a pointer to a generated type",
			s.id, out)
	}
	return nil
}

// serve is the skill as a server has it.
func (s *Skill[In, Out]) serve(c cardSkill) server.Skill {
	sk := server.Skill{
		ID: s.id, Name: cmp.Or(c.Name, s.id), Description: c.Description, Tags: c.Tags, Examples: c.Examples,
		InputModes: c.InputModes, OutputModes: c.OutputModes, Run: s.run,
	}
	if !isText[In]() {
		sk.InputSchema, sk.Decode = cmp.Or(c.input, "{}"), func(raw []byte) (any, error) { return decode[In](raw) }
	}
	if !isText[Out]() {
		sk.OutputSchema = cmp.Or(c.output, "{}")
	}
	return sk
}

// run answers a message to the skill.
func (s *Skill[In, Out]) run(ctx context.Context, t *Task, value any) ([]byte, error) {
	if !isText[Out]() {
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
	}
	in, ok := value.(In)
	if !ok {
		in, _ = any(t.Text()).(In)
	}
	if p := s.scriptOf(ctx, t, in); p != nil {
		return p.goOn(ctx, in, t)
	}
	output, made := s.fake.config.Samples[s.id]
	if !made && isText[Out]() {
		output, made = fmt.Sprintf("A sample of what %s answers.", s.id), true
	}
	if !s.fake.isSampled() || !made {
		return nil, t.Fail("%s", s.unexpected(in))
	}
	if canDecode[Out]() {
		if _, err := decode[Out]([]byte(output)); err != nil {
			s.fake.fail("a2atest: %s: the value made up for skill %q breaks its output schema: %v\n"+
				"Say f.%s.Returns(…) instead.", s.fake.at, s.id, err, s.field)
			return nil, t.Fail("a2atest: the value that was made up breaks the output schema: %v", err)
		}
	}
	return []byte(output), nil
}

// scriptOf records a message, and returns what answers it; nil: nothing.
func (s *Skill[In, Out]) scriptOf(ctx context.Context, t *Task, in In) *script[In, Out] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.scripts[t.Call().TaskID()]; p != nil {
		if t.Resumed() && p.call != nil {
			p.call.Answers = append(p.call.Answers, Reply[In]{in, t.Text(), t.Parts()})
		}
		return p
	}
	c := &Call[In]{
		Input: in, TaskID: t.Call().TaskID(), ContextID: t.Context().ID(), Text: t.Text(), Metadata: t.Call().Request().Message.MessageInfo().Metadata,
		Caller: server.CallerFrom(ctx),
	}
	if !t.Resumed() {
		s.calls = append(s.calls, c)
	}
	var a *Answer[In, Out]
	for _, next := range s.answers {
		if next.limit == 0 {
			a = next
		} else if next.used < next.limit {
			a = next
			break
		}
	}
	if a == nil {
		return nil
	}
	a.used++
	p := &script[In, Out]{answer: a, steps: slices.Clone(a.steps), call: c}
	s.scripts[t.Call().TaskID()] = p
	return p
}

// unexpected reports a call that there is no answer for, and says what to write.
func (s *Skill[In, Out]) unexpected(in In) string {
	what := "nobody expected it"
	s.mu.Lock()
	for _, a := range s.answers {
		what = fmt.Sprintf("the answer of %s was to be used %s", a.at, times(a.limit))
	}
	s.mu.Unlock()
	if s.fake.isSampled() {
		what = "no value could be made up from its schema"
	}
	s.fake.fail("a2atest: %s: the fake %q got a call of skill %q, and %s; its input: %s\n"+
		"Say before the call what it answers, by f.%[6]s.Returns(…) or f.%[6]s.On(func…), or f.Samples() for all skills.",
		s.fake.at, s.fake.name, s.id, what, shown(in), s.field)
	return fmt.Sprintf("a2atest: the fake %q has no answer for this call of skill %q: %s", s.fake.name, s.id, what)
}

// unused describes the answers that were for a number of calls and were used less often.
func (s *Skill[In, Out]) unused() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.answers {
		if a.used < a.limit {
			list = append(list, fmt.Sprintf(
				"a2atest: %s: this answer of skill %q of the fake %q was to be used %s, and was used %s",
				a.at, s.id, s.fake.name, times(a.limit), times(a.used)))
		}
	}
	return list
}

// times is a number of calls in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func isText[T any]() bool { return reflect.TypeFor[T]() == reflect.TypeFor[string]() }

// decoder and encoder are what generated types do: they validate, too.
type (
	decoder interface{ UnmarshalJSON([]byte) error }
	encoder interface {
		AppendJSON([]byte) ([]byte, error)
	}
)

func canDecode[T any]() bool {
	t := reflect.TypeFor[T]()
	return t.Kind() == reflect.Pointer && t.Implements(reflect.TypeFor[decoder]())
}

// decode reads and validates a generated type.
func decode[T any](raw []byte) (T, error) {
	v, _ := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	d, _ := any(v).(decoder)
	return v, d.UnmarshalJSON(raw)
}

// errNil is the error of an output that is not there.
var errNil = errors.New("it is nil")

// encode writes an output, and validates it.
func encode[T any](v T) ([]byte, error) {
	switch x := any(v).(type) {
	case string:
		return []byte(x), nil
	case encoder:
		if reflect.ValueOf(x).IsNil() {
			return nil, errNil
		}
		return x.AppendJSON(nil)
	}
	return nil, fmt.Errorf("a %T", v)
}

// shown is an input in a report.
func shown[In any](in In) string {
	b, err := json.Marshal(in)
	if err != nil {
		return strings.TrimSpace(fmt.Sprintf("%+v", in))
	}
	return shortened(b)
}
