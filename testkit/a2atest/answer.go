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
	at    string // the line of the test that began it
	limit int    // of calls; 0: none
	used  int    // by calls
	steps []step[In]
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

// Replies answers with a plain message instead of a task, which it ends where there is one already: for a message with an
// idempotency key. It is for skills that answer text.
func (a *Answer[In, Out]) Replies(parts ...runtime.Part) *Answer[In, Out] {
	t := a.skill.fake.t
	t.Helper()
	if !isText[Out]() {
		t.Fatalf("a2atest: skill %q has an output schema: let it answer by Returns instead of Replies", a.skill.id)
	}
	return a.do(ended, func(t *Task) error { return t.Reply(parts...) })
}

// Fails has the task fail, with words for the client.
func (a *Answer[In, Out]) Fails(reason string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.do(ended, func(t *Task) error { return t.Fail("%s", reason) })
}

// Rejects has the task rejected, with words for the client.
func (a *Answer[In, Out]) Rejects(reason string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.do(ended, func(t *Task) error { return t.Reject("%s", reason) })
}

// On has a function handle the call, as the handler of an agent does. It is called again for what answers a question
// that it asked: see Task.Resumed. It may report by Error and Log of its test. An output that breaks its schema fails
// the test; nil without an error means that the function answered through t.
func (a *Answer[In, Out]) On(f func(ctx context.Context, in In, t *Task) (Out, error)) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	if f == nil {
		a.skill.fake.t.Fatalf("a2atest: %s: the function of skill %q is nil", testLine(), a.skill.id)
	}
	return a.add(step[In]{then: repeats, run: func(ctx context.Context, in In, t *Task) (output []byte, err error) {
		defer func() {
			if p := recover(); p != nil {
				a.report("the function of skill %q panicked: %v\n%s", a.skill.id, p, debug.Stack())
				err = t.Fail("a2atest: the function of the fake panicked: %v", p)
			}
		}()
		out, err := f(ctx, in, t)
		if err != nil {
			return nil, err
		}
		output, err = encode(out)
		switch {
		case errors.Is(err, errNil):
			return nil, nil
		case err != nil:
			a.report("what this function returned breaks the output schema of skill %q: %v\nIts input: %s",
				a.skill.id, err, shown(in))
			return nil, t.Fail("a2atest: what the fake returned breaks the output schema: %v", err)
		}
		return output, nil
	}})
}

// Asks has the task ask the client for input. What follows happens when the client has answered. more are parts to send
// along: values that are no parts are data.
func (a *Answer[In, Out]) Asks(prompt string, more ...any) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.do(waits, func(t *Task) error { return t.Ask(prompt, more...) })
}

// RequiresAuth has the task wait for an authorization: what follows happens with the client's next message. The texts
// are the name of a security scheme and scopes of it, if the client is to get them.
func (a *Answer[In, Out]) RequiresAuth(schemeAndScopes ...string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	request := task.AuthRequest{Prompt: "Authorization is required."}
	if len(schemeAndScopes) > 0 {
		request.Scheme, request.Scopes = schemeAndScopes[0], slices.Clone(schemeAndScopes[1:])
	}
	return a.do(waits, func(t *Task) error { return t.RequireAuth(request) })
}

// Streams sends an artifact in chunks of text. All chunks of an answer are of one artifact, also with
// other steps between them. A skill that answers text may end with them.
func (a *Answer[In, Out]) Streams(chunks ...string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{chunks: chunks, says: true})
}

// Artifact sends an artifact. A skill that answers text may end with it.
func (a *Answer[In, Out]) Artifact(name string, parts ...runtime.Part) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{says: true, run: func(_ context.Context, _ In, t *Task) ([]byte, error) {
		return nil, t.Artifact(name, parts...)
	}})
}

// Progress reports progress to the client.
func (a *Answer[In, Out]) Progress(text string) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.do(goesOn, func(t *Task) error { return t.Progress("%s", text) })
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

// Once limits the answer to one call, which must come before the test ends.
func (a *Answer[In, Out]) Once() *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.Times(1)
}

// Times limits the answer to n calls, which must come before the test ends.
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

// do adds a step without an output.
func (a *Answer[In, Out]) do(then what, f func(t *Task) error) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	return a.add(step[In]{then: then, run: func(_ context.Context, _ In, t *Task) ([]byte, error) { return nil, f(t) }})
}

// add adds a step.
func (a *Answer[In, Out]) add(s step[In]) *Answer[In, Out] {
	a.skill.fake.t.Helper()
	a.skill.mu.Lock()
	defer a.skill.mu.Unlock()
	if n := len(a.steps); n > 0 && a.steps[n-1].then >= ended {
		a.skill.fake.t.Fatalf("a2atest: this answer of skill %[1]q has ended already: for the next call begin with f.%[2]s "+
			"again, and say of this one for how many calls it is: Once() or Times(n)", a.skill.id, a.skill.field)
	}
	a.steps = append(a.steps, s)
	return a
}

// report fails the test, and names the line where the answer began.
func (a *Answer[In, Out]) report(format string, args ...any) {
	a.skill.fake.t.Helper()
	a.skill.fake.fail("a2atest: %s: "+format, append([]any{a.at}, args...)...)
}

// step is one thing that an answer does: a function, or chunks of an artifact.
type step[In any] struct {
	run    func(ctx context.Context, in In, t *Task) (output []byte, err error)
	chunks []string // where run is nil
	then   what
	says   bool // it sends some of an artifact, with which a skill that answers text may end
}

// what comes after a step.
type what uint8

const (
	goesOn  what = iota // the next one, unless the step had an error
	waits               // the next one, when the client has answered
	ended               // nothing
	repeats             // the same one, when the client has answered what it asked
)

// script is an answer to the messages of one task.
type script[In, Out any] struct {
	answer *Answer[In, Out]
	steps  []step[In] // those of the answer when the call came
	call   *Call[In]
	next   int // step
}

// goOn does the next steps. The server has one message at a time handled in a task.
func (p *script[In, Out]) goOn(ctx context.Context, in In, t *Task) ([]byte, error) {
	for p.next < len(p.steps) {
		s, at := p.steps[p.next], p.next
		if s.then != repeats {
			p.next++
		}
		if s.run == nil {
			streams := func(s step[In]) bool { return s.run == nil }
			first, last := !slices.ContainsFunc(p.steps[:at], streams), !slices.ContainsFunc(p.steps[at+1:], streams)
			for i, chunk := range s.chunks {
				err := t.Emit(runtime.ArtifactData{
					ID: "stream", Name: "stream", Parts: []runtime.Part{runtime.Text(chunk)},
					Append: !first || i > 0, LastChunk: last && i == len(s.chunks)-1,
				})
				if err != nil {
					return nil, err
				}
			}
			continue
		}
		output, err := s.run(ctx, in, t)
		if err != nil || s.then != goesOn {
			return output, err
		}
	}
	a := p.answer
	if n := len(p.steps); n > 0 && p.steps[n-1].says && isText[Out]() {
		return nil, nil
	}
	a.report("this answer of skill %q does not say how it ends: let it end with Returns, Fails, Rejects or On", a.skill.id)
	return nil, t.Fail("a2atest: the answer of the fake %q does not say how it ends", a.skill.fake.name)
}

// The beginnings of an answer: methods of a skill, each as that of [Answer] with its name.

// begin makes an answer without steps.
func (s *Skill[In, Out]) begin() *Answer[In, Out] {
	a := &Answer[In, Out]{skill: s, at: testLine()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, a)
	return a
}

// Returns has calls answered by an output: see [Answer.Returns].
func (s *Skill[In, Out]) Returns(out Out) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Returns(out)
}

// Replies has calls answered by a plain message: see [Answer.Replies].
func (s *Skill[In, Out]) Replies(parts ...runtime.Part) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Replies(parts...)
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

// Artifact has calls send an artifact first: see [Answer.Artifact].
func (s *Skill[In, Out]) Artifact(name string, parts ...runtime.Part) *Answer[In, Out] {
	s.fake.t.Helper()
	return s.begin().Artifact(name, parts...)
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
