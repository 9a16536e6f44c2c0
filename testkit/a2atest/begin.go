package a2atest

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

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
