package a2atest

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/task"
)

// Answer is what a skill of a fake does with a call, step by step. It begins with a method of [Skill], and ends with
// Returns, Fails, Rejects or On:
//
//	f.GetForecast.After(time.Minute).Streams("Sun", "day").Returns(sunny)
//	f.GetForecast.Asks("Which Springfield?").Returns(sunny) // after the client's answer
type Answer[In, Out any] struct {
	skill *Skill[In, Out]
	at    string // in the test
	limit int    // of calls; 0: none
	used  int
	steps []step[In]
}

// step is one thing that an answer does.
type step[In any] struct {
	run  func(ctx context.Context, in In, t *Task) (output []byte, err error)
	then what
	pour bool // it sends chunks
}

// what comes after a step.
type what uint8

const (
	atOnce  what = iota // the next one, if the step had no error
	waits               // the next one, when the client has answered
	ended               // nothing
	repeats             // the same one, when the client has answered what it asked
)

// play is an answer to one task.
type play[In, Out any] struct {
	answer *Answer[In, Out]
	steps  []step[In] // those of the answer when the call came
	call   *Call[In]
	next   int // step
}

// goOn does the next steps. The server has one message at a time handled in a task.
func (p *play[In, Out]) goOn(ctx context.Context, in In, t *Task) ([]byte, error) {
	for p.next < len(p.steps) {
		s := &p.steps[p.next]
		if s.then != repeats {
			p.next++
		}
		output, err := s.run(ctx, in, t)
		if err != nil || s.then != atOnce {
			return output, err
		}
	}
	return p.atEnd(t)
}

// atEnd answers when there are no more steps and none has ended the answer.
func (p *play[In, Out]) atEnd(t *Task) ([]byte, error) {
	a := p.answer
	if n := len(p.steps); n > 0 && p.steps[n-1].pour && isText[Out]() {
		return nil, nil // the chunks are the answer
	}
	a.skill.fake.fail("a2atest: %s: this answer of skill %q does not say how it ends: let it end with Returns, Fails, Rejects or On", a.at, a.skill.id)
	return nil, t.Fail("a2atest: the answer of the fake %q does not say how it ends", a.skill.fake.name)
}

// begin makes an answer without steps.
func (s *Skill[In, Out]) begin() *Answer[In, Out] {
	a := &Answer[In, Out]{skill: s, at: place()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, a)
	return a
}

// add adds a step.
func (a *Answer[In, Out]) add(s step[In]) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	a.skill.mu.Lock()
	defer a.skill.mu.Unlock()
	if n := len(a.steps); n > 0 && a.steps[n-1].then >= ended {
		a.skill.fake.t.Fatalf("a2atest: this answer of skill %[1]q has ended already: for the next call begin with f.%[2]s again, and say of this one "+
			"for how many calls it is: Once() or Times(n)", a.skill.id, a.skill.field)
	}
	a.steps = append(a.steps, s)
	return a
}

// Returns has the task completed with an output. One that breaks the output's schema fails the test here.
func (a *Answer[In, Out]) Returns(out Out) *Answer[In, Out] {
	t := a.skill.fake.t
	t.Helper()
	output, err := encode(out)
	if err != nil {
		t.Errorf("a2atest: what skill %q is to return breaks its output schema: %v", a.skill.id, err)
	}
	return a.add(step[In]{then: ended, run: func(_ context.Context, _ In, t *Task) ([]byte, error) {
		if err != nil {
			return nil, t.Fail("a2atest: what the fake is to return breaks the output schema: %v", err)
		}
		return output, nil
	}})
}

// Fails has the task fail, with words for the client.
func (a *Answer[In, Out]) Fails(reason string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{then: ended, run: func(_ context.Context, _ In, t *Task) ([]byte, error) { return nil, t.Fail("%s", reason) }})
}

// Rejects has the task rejected, with words for the client.
func (a *Answer[In, Out]) Rejects(reason string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{then: ended, run: func(_ context.Context, _ In, t *Task) ([]byte, error) { return nil, t.Reject("%s", reason) }})
}

// On has a function handle the call, as the handler of an agent does. It is called again for what answers a question
// that it asked: see Task.Resumed. It may report by Error and Log of its test. An output that breaks its schema fails the
// test; nil without an error says that the function answered through t.
func (a *Answer[In, Out]) On(f func(ctx context.Context, in In, t *Task) (Out, error)) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{then: repeats, run: func(ctx context.Context, in In, t *Task) ([]byte, error) {
		out, err := a.handle(ctx, f, in, t)
		if err != nil {
			return nil, err
		}
		output, err := encode(out)
		switch {
		case errors.Is(err, errNil):
			return nil, nil
		case err != nil:
			a.skill.fake.fail("a2atest: %s: what this function returned breaks the output schema of skill %q: %v\nIts input: %s",
				a.at, a.skill.id, err, shown(in))
			return nil, t.Fail("a2atest: what the fake returned breaks the output schema: %v", err)
		}
		return output, nil
	}})
}

// handle calls a function of the test. A panic fails the test and the call; the server survives FailNow.
func (a *Answer[In, Out]) handle(ctx context.Context, f func(context.Context, In, *Task) (Out, error), in In, t *Task) (out Out, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.skill.fake.fail("a2atest: %s: the function of skill %q panicked: %v\n%s", a.at, a.skill.id, p, debug.Stack())
			err = t.Fail("a2atest: the function of the fake panicked: %v", p)
		}
	}()
	return f(ctx, in, t)
}

// Asks has the task ask the client for input. What follows happens when the client has answered. more are parts to send
// along: values that are no parts are data.
func (a *Answer[In, Out]) Asks(prompt string, more ...any) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{then: waits, run: func(_ context.Context, _ In, t *Task) ([]byte, error) { return nil, t.Ask(prompt, more...) }})
}

// RequiresAuth has the task wait for an authorization: what follows happens with the client's next message. The texts are
// the name of a security scheme and scopes of it, if they are to be said.
func (a *Answer[In, Out]) RequiresAuth(schemeAndScopes ...string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	request := task.AuthRequest{Prompt: "Authorization is required."}
	if len(schemeAndScopes) > 0 {
		request.Scheme, request.Scopes = schemeAndScopes[0], slices.Clone(schemeAndScopes[1:])
	}
	return a.add(step[In]{then: waits, run: func(_ context.Context, _ In, t *Task) ([]byte, error) { return nil, t.RequireAuth(request) }})
}

// Streams sends an artifact in chunks of text. Chunks of one answer are of one artifact, whatever comes between them. A
// skill that answers text may end with them.
func (a *Answer[In, Out]) Streams(chunks ...string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	first := !slices.ContainsFunc(a.steps, isPour)
	at := len(a.steps)
	return a.add(step[In]{pour: true, run: func(_ context.Context, _ In, t *Task) ([]byte, error) {
		a.skill.mu.Lock()
		last := !slices.ContainsFunc(a.steps[at+1:], isPour)
		a.skill.mu.Unlock()
		for i, chunk := range chunks {
			err := t.Emit(runtime.ArtifactData{
				ID: "stream", Name: "stream", Parts: []runtime.Part{runtime.Text(chunk)},
				Append: !first || i > 0, LastChunk: last && i == len(chunks)-1,
			})
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}})
}

func isPour[In any](s step[In]) bool { return s.pour }

// Progress reports progress to the client.
func (a *Answer[In, Out]) Progress(text string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{run: func(_ context.Context, _ In, t *Task) ([]byte, error) { return nil, t.Progress("%s", text) }})
}

// After lets time pass: in a bubble of testing/synctest that takes none.
func (a *Answer[In, Out]) After(d time.Duration) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{run: func(ctx context.Context, _ In, _ *Task) ([]byte, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}})
}

// Once says that the answer is for one call, which must come before the test ends.
func (a *Answer[In, Out]) Once() *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.Times(1)
}

// Times says that the answer is for n calls, which must come before the test ends.
func (a *Answer[In, Out]) Times(n int) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	if n < 1 {
		a.skill.fake.t.Fatalf("a2atest: Times(%d): an answer is for one call at least", n)
	}
	a.skill.mu.Lock()
	defer a.skill.mu.Unlock()
	a.limit = n
	return a
}

// The beginnings of an answer.

// Returns has calls answered by an output: see [Answer.Returns].
func (s *Skill[In, Out]) Returns(out Out) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Returns(out)
}

// Fails has calls fail: see [Answer.Fails].
func (s *Skill[In, Out]) Fails(reason string) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Fails(reason)
}

// Rejects has calls rejected: see [Answer.Rejects].
func (s *Skill[In, Out]) Rejects(reason string) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Rejects(reason)
}

// On has a function handle calls: see [Answer.On].
func (s *Skill[In, Out]) On(f func(ctx context.Context, in In, t *Task) (Out, error)) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().On(f)
}

// Asks has calls ask for input first: see [Answer.Asks].
func (s *Skill[In, Out]) Asks(prompt string, more ...any) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Asks(prompt, more...)
}

// RequiresAuth has calls wait for an authorization first: see [Answer.RequiresAuth].
func (s *Skill[In, Out]) RequiresAuth(schemeAndScopes ...string) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().RequiresAuth(schemeAndScopes...)
}

// Streams has calls send chunks first: see [Answer.Streams].
func (s *Skill[In, Out]) Streams(chunks ...string) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Streams(chunks...)
}

// Progress has calls report progress first: see [Answer.Progress].
func (s *Skill[In, Out]) Progress(text string) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Progress(text)
}

// After has calls take time first: see [Answer.After].
func (s *Skill[In, Out]) After(d time.Duration) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().After(d)
}
