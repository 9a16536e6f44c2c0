package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// A task that waits for an authorization goes on by the next message, or by a handle: a text that nobody can guess, that
// is good once, and that says nothing. Whoever gets the authorization, such as the callback of OAuth, redeems it. The
// store finds its task by the hash, so that any instance, and the next process, know it. What is made of it for a person is
// in the task, as everything that is said.

// AuthRequest is an authorization that a handler needs.
type AuthRequest struct {
	Prompt string   // what is needed and why, for a person
	Scheme string   // by a name that the client knows, such as that of a security scheme; "" is not said
	Scopes []string // likewise
	// Visit makes of a handle the URL at which a person grants it: with OAuth, the handle is the state. Who grants it leads
	// to the handle's being redeemed. Nil: there is none, and only a message goes on with the task.
	Visit func(handle string) (url string)
	For   time.Duration // how long the handle is good [1 h]
	Data  []any         // parts to send along, as those of [Task.Ask]
}

// handleFor is [AuthRequest.For] when it is zero.
const handleFor = time.Hour

// maxValue is how long what a handle is redeemed with may be as JSON.
const maxValue = 64 << 10

// ErrHandle: a handle is used, too old, one whose task has ended, or was never given. Nobody is told which.
var ErrHandle = errors.New("the handle is not good")

// RequireAuth makes the error with which a handler stops to have its client arrange for an authorization (R110–R112). The
// task waits; the handler is called again, with the input so far, for the next message, or with what the handle was
// redeemed with ([Task.Authorized]), for the message that it has now.
func (t *Task) RequireAuth(a AuthRequest) error {
	c := t.c
	said := runtime.MessageData{Parts: []runtime.Part{runtime.Text(a.Prompt)}}
	told := runtime.Authorization{Scheme: a.Scheme, Scopes: a.Scopes}
	var ticket *store.Ticket
	if a.Visit != nil {
		handle, good := newHandle(), cmp.Or(a.For, handleFor)
		ticket = &store.Ticket{Hash: sha256.Sum256([]byte(handle)), For: good, Request: c.req}
		told.URL, told.Expires = a.Visit(handle), c.r.Now().Add(good).Truncate(time.Second)
	}
	if told.URL != "" {
		said.Parts = append(said.Parts, runtime.Text(told.URL))
	}
	said.Parts = appendParts(said.Parts, a.Data)
	if told.Scheme != "" || len(told.Scopes) > 0 || told.URL != "" {
		const name = runtime.SkillsExtension
		metadata, err := wire.ObjectOf(map[string]map[string]runtime.Authorization{name: {"authorization": told}})
		if err != nil {
			return fmt.Errorf("require authorization: %w", err)
		}
		said.Metadata, said.Extensions = metadata, skillsExtension
	}
	err := t.End(runtime.StateAuthRequired, said)
	if v, ok := err.(*verdict); ok {
		v.ticket = ticket
	}
	return err
}

// newHandle makes a handle.
func newHandle() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Authorized reads what a handle was redeemed with into v. It reports whether this call came of that: else of a message.
func (t *Task) Authorized(v any) (bool, error) {
	c := t.c
	if c.value == nil {
		return false, nil
	}
	if err := json.Unmarshal(c.value, v); err != nil {
		return true, fmt.Errorf("authorized: %w", err)
	}
	return true, nil
}

// Redeem has the handler that gave out a handle called again, with a value that is kept as JSON until that call is over.
// Then the handle is used up, and every other one of its task. [ErrHandle] says that it is not good; after any other
// error it may be tried again. Redeem does not wait for the handler.
func (r *Runner) Redeem(ctx context.Context, handle string, value any) error {
	b, err := json.Marshal(value)
	switch {
	case err != nil:
		return fmt.Errorf("redeem: %w", err)
	case len(b) > maxValue:
		return fmt.Errorf("redeem: %w", ErrTooLarge)
	}
	c := r.newBackgroundCall()
	if err := r.admission.admit(c); err != nil {
		return err
	}
	defer r.admission.dismiss(c)
	hash := sha256.Sum256([]byte(handle))
	key, ticket, err := r.Store.Ticket(r.Soon(), hash)
	if err == nil {
		l := r.tasks.use(key)
		defer r.tasks.drop(l)
		l.mu.Lock()
		defer l.mu.Unlock()
		work := store.Call{Request: ticket.Request, Value: b}
		err = decide(func() error { return c.redeem(ctx, l, hash, work) })
	}
	switch {
	case errors.Is(err, store.ErrTicket), errors.Is(err, store.ErrEnded), errors.Is(err, store.ErrNotFound):
		return ErrHandle
	case err != nil:
		return fmt.Errorf("redeem: %w", err)
	}
	return nil
}

// redeem takes the call of a ticket on, if the task is as it stands now. The caller holds l.mu.
func (c *call) redeem(ctx context.Context, l *handle, hash [sha256.Size]byte, work store.Call) error {
	r := c.r
	snap, err := l.load(r, store.View{History: new(int)})
	if err != nil {
		return err
	}
	if r.Skills.byID[snap.Private.Skill] == nil {
		return store.ErrTicket
	}
	work.Input = snap.Private.Input
	info := snap.Task.TaskInfo()
	w := write{expect: snap.Version, view: &store.View{History: new(int)}, update: store.Update{
		Event: r.make.newStatus(ctx, info.ID, info.ContextID, runtime.StateWorking, nil, r.Now()),
		Call:  &work, Redeem: &hash, Stamp: newStamp(),
	}}
	switch l.commit(r, context.Background(), &w) {
	case unconfirmed:
		if w.perhaps {
			c.task.retryUnconfirmed(l.key, w.copy())
		}
	case committed:
		if w.snap.Run != nil {
			r.begin(l, &w.snap)
		}
	}
	return w.err
}
