package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Client calls one agent over one binding of one version.
type Client interface {
	Do(ctx context.Context, ask *Ask) *Answer
}

// Result is how a check went.
type Result struct {
	Check string
	None  string // why the client cannot be checked
	Fault string // what is not as it should be
}

// check is one thing that a client of an agent has to get.
type check struct {
	name string
	run  func(*visit) error
}

var checks = []check{
	{"card", (*visit).card},
	{"message", (*visit).message},
	{"task", (*visit).task},
	{"stream", (*visit).stream},
	{"get", (*visit).get},
	{"list", (*visit).list},
	{"cancel", (*visit).cancel},
	{"subscribe", (*visit).subscribe},
	{"multi-turn", (*visit).turns},
	{"parts", (*visit).parts},
	{"push create", (*visit).createHook},
	{"push get", (*visit).getHook},
	{"push list", (*visit).listHooks},
	{"push delete", (*visit).deleteHook},
	{"unknown task", (*visit).unknown},
	{"canceled twice", (*visit).canceledTwice},
	{"ended task", (*visit).ended},
	{"extended card", (*visit).extended},
}

// timeout is how long one operation may take. The first is answered by a process that begins.
func timeout(op Op) time.Duration {
	if op == Card {
		return time.Minute
	}
	return 10 * time.Second
}

// Visit runs the checks. A check that cannot be made because one before it failed fails, too.
func Visit(ctx context.Context, c Client, version string) []Result {
	v := &visit{ctx: ctx, client: c, version: version}
	var results []Result
	for _, c := range checks {
		if c.name == "list" && version == "0.3" {
			continue // 0.3 has no list
		}
		r := Result{Check: c.name}
		switch err := c.run(v).(type) {
		case nil:
		case none:
			r.None = string(err)
		default:
			r.Fault = err.Error()
		}
		results = append(results, r)
	}
	return results
}

// visit is what one check leaves for those that follow.
type visit struct {
	ctx     context.Context
	client  Client
	version string
	done    *Task // completed
	waiting *Task // with a hook
	hook    Hook
}

// none is why there is no such operation.
type none string

func (n none) Error() string { return string(n) }

// failure is an error that the agent, or the client itself, answered with.
type failure string

func (f failure) Error() string { return string(f) }

func (v *visit) do(ask Ask) (*Answer, error) {
	ctx, cancel := context.WithTimeout(v.ctx, timeout(ask.Op))
	defer cancel()
	a := v.client.Do(ctx, &ask)
	switch {
	case a.None != "":
		return nil, none(a.None)
	case a.Error != "":
		return nil, failure(a.Error)
	}
	return a, nil
}

// sent sends a message that has to be answered by a task.
func (v *visit) sent(ask Ask, want string) (*Task, error) {
	ask.Op = Send
	a, err := v.do(ask)
	if err != nil {
		return nil, err
	}
	return a.Task, v.isTask(a.Task, want)
}

func (v *visit) isTask(t *Task, want string) error {
	switch {
	case t == nil:
		return fmt.Errorf("no task")
	case t.ID == "" || t.Context == "":
		return fmt.Errorf("a task without an id or a context")
	}
	return same("state", state(t.State), want)
}

// waits begins a task that waits to be canceled.
func (v *visit) waits() (*Task, error) {
	a, err := v.do(Ask{Op: Send, Parts: Say("wait"), Now: true})
	if err != nil {
		return nil, err
	}
	if a.Task != nil && state(a.Task.State) == "submitted" {
		return a.Task, v.isTask(a.Task, "submitted")
	}
	return a.Task, v.isTask(a.Task, "working")
}

func (v *visit) card() error {
	a, err := v.do(Ask{Op: Card})
	if err != nil {
		return err
	}
	return same("skills", fmt.Sprint(a.Skills), fmt.Sprint([]string{Skill}))
}

func (v *visit) message() error {
	a, err := v.do(Ask{Op: Send, Parts: Say("hello")})
	if err != nil {
		return err
	}
	return same("message", Text(a.Message), Greeting)
}

func (v *visit) task() error {
	t, err := v.sent(Ask{Parts: Say("forecast")}, "completed")
	if err != nil {
		return err
	}
	v.done = t
	return same("text", Text(t.Parts), Forecast)
}

func (v *visit) stream() error {
	a, err := v.do(Ask{Op: Stream, Parts: Say("tell")})
	if err != nil {
		return err
	}
	text := ""
	for _, e := range a.Events {
		if e.Kind == "artifact" {
			text += e.Text
		}
	}
	if err := same("text", text, strings.Join(Lines, "")); err != nil {
		return err
	}
	if err := same("first event", a.Events[0].Kind, "task"); err != nil {
		return err
	}
	return same("last state", state(a.Events[len(a.Events)-1].State), "completed")
}

func (v *visit) get() error {
	if v.done == nil {
		return fmt.Errorf("no task to get")
	}
	a, err := v.do(Ask{Op: Get, Task: v.done.ID})
	if err != nil {
		return err
	}
	if err := v.isTask(a.Task, "completed"); err != nil {
		return err
	}
	return same("text", Text(a.Task.Parts), Forecast)
}

func (v *visit) list() error {
	if v.done == nil {
		return fmt.Errorf("no task to list")
	}
	a, err := v.do(Ask{Op: List, Context: v.done.Context})
	if err != nil {
		return err
	}
	return same("tasks", fmt.Sprint(a.Tasks), fmt.Sprint([]string{v.done.ID}))
}

func (v *visit) cancel() error {
	t, err := v.waits()
	if err != nil {
		return err
	}
	a, err := v.do(Ask{Op: Cancel, Task: t.ID})
	if err != nil {
		return err
	}
	return v.isTask(a.Task, "canceled")
}

func (v *visit) subscribe() error {
	t, err := v.waits()
	if err != nil {
		return err
	}
	a, err := v.do(Ask{Op: Subscribe, Task: t.ID})
	if err != nil {
		return err
	}
	if len(a.Events) == 0 {
		return fmt.Errorf("no events")
	}
	if e := a.Events[0]; v.version == "1.0" && e.Kind != "task" {
		return fmt.Errorf("the first event is a %s", e.Kind)
	}
	return same("last state", state(a.Events[len(a.Events)-1].State), "canceled")
}

func (v *visit) turns() error {
	asked, err := v.sent(Ask{Parts: Say("book")}, "input_required")
	if err != nil {
		return err
	}
	if err := same("question", asked.Asks, Question); err != nil {
		return err
	}
	t, err := v.sent(Ask{Parts: Say("Friday"), Task: asked.ID, Context: asked.Context}, "completed")
	if err != nil {
		return err
	}
	if err := same("task", t.ID, asked.ID); err != nil {
		return err
	}
	return same("text", Text(t.Parts), Booked("Friday"))
}

func (v *visit) parts() error {
	parts := []Part{
		{Text: "echo"},
		{Data: json.RawMessage(`{"celsius":11,"days":["Fri",null,{"wet":true}]}`)},
		{Raw: File, Name: "radar.bin", Type: "application/octet-stream"},
		{URL: "https://example.com/map.png", Name: "map.png", Type: "image/png"},
	}
	t, err := v.sent(Ask{Parts: parts}, "completed")
	if err != nil {
		return err
	}
	if err := same("number of parts", len(t.Parts), len(parts)); err != nil {
		return err
	}
	for i, want := range parts {
		if err := want.is(t.Parts[i]); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// is compares parts. Media types are those of files only: text and data may have one or none.
func (p Part) is(got Part) error {
	if p.Data != nil {
		return same("data", canonical(got.Data), canonical(p.Data))
	}
	if p.Raw != nil && !bytes.Equal(got.Raw, p.Raw) {
		return fmt.Errorf("raw is %v, not %v", got.Raw, p.Raw)
	}
	if p.Name != "" {
		if err := same("file", got.Name+" "+got.Type, p.Name+" "+p.Type); err != nil {
			return err
		}
	}
	return same("text and URL", got.Text+" "+got.URL, p.Text+" "+p.URL)
}

// canonical is JSON with sorted members.
func canonical(src json.RawMessage) string {
	var v any
	if err := json.Unmarshal(src, &v); err != nil {
		return string(src)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(src)
	}
	return string(out)
}

func (v *visit) createHook() error {
	t, err := v.waits()
	if err != nil {
		return err
	}
	v.hook = Hook{ID: "one", URL: "http://127.0.0.1:9/hook", Token: "s3cret"}
	a, err := v.do(Ask{Op: CreateHook, Task: t.ID, Hook: &v.hook})
	if err != nil {
		return err
	}
	v.waiting = t
	return v.isHook(a)
}

func (v *visit) isHook(a *Answer) error {
	return same("configuration", fmt.Sprint(a.Hooks), fmt.Sprint([]Hook{v.hook}))
}

// hooks does an operation on the configuration.
func (v *visit) hooks(op Op) (*Answer, error) {
	if v.waiting == nil {
		return nil, fmt.Errorf("no configuration")
	}
	return v.do(Ask{Op: op, Task: v.waiting.ID, Hook: &v.hook})
}

func (v *visit) getHook() error {
	a, err := v.hooks(GetHook)
	if err != nil {
		return err
	}
	return v.isHook(a)
}

func (v *visit) listHooks() error {
	a, err := v.hooks(ListHooks)
	if err != nil {
		return err
	}
	return v.isHook(a)
}

func (v *visit) deleteHook() error {
	if _, err := v.hooks(DeleteHook); err != nil {
		return err
	}
	a, err := v.hooks(ListHooks)
	if _, cannot := err.(none); cannot {
		a, err = v.hooks(GetHook)
		if _, gone := err.(failure); gone {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return same("configurations left", len(a.Hooks), 0)
}

func (v *visit) unknown() error {
	_, err := v.do(Ask{Op: Get, Task: "00000000-0000-4000-8000-000000000000"})
	return isError(err, runtime.ErrTaskNotFound)
}

// canceledTwice: the second cancel may have nothing left to do, or be refused (§3.3.1, §3.1.5).
func (v *visit) canceledTwice() error {
	t, err := v.waits()
	if err != nil {
		return err
	}
	if _, err := v.do(Ask{Op: Cancel, Task: t.ID}); err != nil {
		return err
	}
	a, err := v.do(Ask{Op: Cancel, Task: t.ID})
	if err == nil {
		return v.isTask(a.Task, "canceled")
	}
	return isError(err, runtime.ErrTaskNotCancelable)
}

// ended sends a message to a task that has ended. 1.0 says which error that is (§3.1.1), 0.3 does not.
func (v *visit) ended() error {
	if v.done == nil {
		return fmt.Errorf("no ended task")
	}
	_, err := v.do(Ask{Op: Send, Parts: Say("more"), Task: v.done.ID, Context: v.done.Context})
	if v.version == "1.0" {
		return isError(err, runtime.ErrUnsupportedOperation)
	}
	return isError(err, runtime.ErrUnsupportedOperation, runtime.ErrInvalidParams, runtime.ErrInvalidRequest)
}

func (v *visit) extended() error {
	a, err := v.do(Ask{Op: Extend})
	if err != nil {
		return err
	}
	if !slices.Contains(a.Skills, Extended) {
		return fmt.Errorf("its skills are %v", a.Skills)
	}
	return nil
}

// isError says whether a failure is one of some errors: by its code, or by its name in whatever spelling, which stands
// first. A name in what it says does not count: that is the agent's, and the client may not know it.
func isError(err error, want ...*runtime.Error) error {
	if _, cannot := err.(none); cannot {
		return err
	}
	if err == nil {
		return fmt.Errorf("no error, want %s", want[0].Reason)
	}
	name, _, _ := strings.Cut(err.Error(), ": ")
	said := codes.FindAllString(err.Error(), -1)
	for _, w := range want {
		if strings.Contains(letters(name), letters(w.Reason)) || slices.Contains(said, strconv.Itoa(w.Code)) {
			return nil
		}
	}
	return fmt.Errorf("the error is %q, want %s", err, want[0].Reason)
}

// codes are those of JSON-RPC's errors, which no text has by chance.
var codes = regexp.MustCompile(`-32\d{3}\b`)

// letters leaves only letters, the small ones.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

func same[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, want %v", what, strconv.Quote(fmt.Sprint(got)), strconv.Quote(fmt.Sprint(want)))
	}
	return nil
}
