package run

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// view is a call as its handler's [task.Task] sees it. Package task says what the methods do.
type view call

func (v *view) TaskID() string                { return (*call)(v).taskID() }
func (v *view) ContextID() string             { return (*call)(v).context() }
func (v *view) Request() *runtime.SendRequest { return (*call)(v).req }
func (v *view) Parts() []runtime.Part         { return (*call)(v).parts }
func (v *view) Text() string                  { return route.TextOf((*call)(v).parts) }
func (v *view) Resumed() bool                 { return (*call)(v).resumed }
func (v *view) Attempt() int                  { return max((*call)(v).attempt, 1) }

func (v *view) IdempotencyKey() string {
	c := (*call)(v)
	n := strconv.FormatInt(max(c.nth, 1), 10)
	sum := sha256.Sum256([]byte(strings.Join([]string{c.owner.Tenant, c.owner.Principal, c.taskID(), n}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func (v *view) Snapshot() runtime.Task {
	c := (*call)(v)
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if c.handle.version == 0 {
		return nil
	}
	if c.task.open() == nil {
		_ = c.task.flush() // an error is told by the writer that it concerns
	}
	snap, err := c.r.Store.Get(c.r.Soon(), c.handle.key, store.Full)
	if err != nil {
		return nil
	}
	return snap.Task
}

func (v *view) Logger() *slog.Logger {
	return (*call)(v).r.Log((*call)(v).skill.ID, (*call)(v).taskID(), (*call)(v).owner.Principal)
}

func (v *view) Begin() error {
	c := (*call)(v)
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if c.decided == nil || c.handle.version != 0 {
		return nil
	}
	c.task.auto = true
	if err := c.task.open(); err != nil {
		return err
	}
	return c.task.create(runtime.StateWorking)
}

func (v *view) Progress(text string) error {
	c := (*call)(v)
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if err := c.task.ready(); err != nil {
		return err
	}
	one := &c.task.scratch().part
	one[0] = runtime.Text(text)
	return c.task.report(runtime.MessageData{Parts: one[:]})
}

func (v *view) Report(m runtime.MessageData) error {
	c := (*call)(v)
	if err := c.r.content.checkMessage(&m); err != nil {
		return err
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if err := c.task.ready(); err != nil {
		return err
	}
	return c.task.report(m)
}

func (v *view) Emit(a runtime.ArtifactData) error {
	c := (*call)(v)
	if err := c.r.content.checkMetadata(a.Metadata); err != nil {
		return err
	}
	return c.task.emit(a)
}

func (v *view) Answer(m runtime.MessageData) error {
	c := (*call)(v)
	if err := c.r.content.checkMessage(&m); err != nil {
		return err
	}
	return c.task.respond(m)
}

func (v *view) End(state runtime.State, m runtime.MessageData) error {
	c := (*call)(v)
	if !state.Terminal() && !state.Interrupted() || state == runtime.StateCanceled {
		return fmt.Errorf("a handler cannot end its call as %s", state)
	}
	if err := c.r.content.checkParts(m.Parts); err != nil {
		return err
	}
	if err := c.r.content.checkMetadata(m.Metadata); err != nil && len(m.Parts) > 0 {
		return err
	}
	if state != runtime.StateCompleted {
		return &verdict{state: state, said: m}
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if err := c.task.open(); err != nil {
		return err
	}
	if err := c.r.content.check(m.Parts); err != nil {
		return err
	}
	c.conclusion.closing = &m
	return nil
}

// Handle makes a handle, which nobody can guess.
func (v *view) Handle(good time.Duration) (handle string, expires time.Time) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:]), (*call)(v).r.Now().Add(good).Truncate(time.Second)
}

func (v *view) Suspend(m runtime.MessageData, handle string, good time.Duration) error {
	err := v.End(runtime.StateAuthRequired, m)
	if end, ok := err.(*verdict); ok && handle != "" {
		end.ticket = &store.Ticket{Hash: sha256.Sum256([]byte(handle)), For: good, Request: (*call)(v).req}
	}
	return err
}

func (v *view) Authorized(to any) (bool, error) {
	value := (*call)(v).value
	if value == nil {
		return false, nil
	}
	if err := json.Unmarshal(value, to); err != nil {
		return true, fmt.Errorf("authorized: %w", err)
	}
	return true, nil
}

func (v *view) SetSaved(value []byte) error {
	c := (*call)(v)
	if len(value) > c.r.Limits.Event {
		return ErrTooLarge
	}
	c.task.notes.mu.Lock()
	defer c.task.notes.mu.Unlock()
	c.task.saved = value
	c.task.notes.change()
	return nil
}

func (v *view) Saved() []byte {
	(*call)(v).task.notes.mu.Lock()
	defer (*call)(v).task.notes.mu.Unlock()
	return (*call)(v).task.saved
}

func (v *view) Conversation(ctx context.Context, n int) ([]task.Exchange, error) {
	return (*call)(v).conversation(ctx, n)
}

// verdict is a handler's decision, returned as an error: to wait for the client, to decline, to fail.
type verdict struct {
	state  runtime.State
	said   runtime.MessageData
	ticket *store.Ticket // with which the task can be continued; nil: none
	asked  *askedCall    // whose question it is; nil: the handler's own
}

func (o *verdict) Error() string {
	if o.ticket != nil { // the text has its handle
		return o.state.String()
	}
	return o.state.String() + ": " + route.TextOf(o.said.Parts)
}
