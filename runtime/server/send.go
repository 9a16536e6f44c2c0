package server

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// patience is how long a client that does not wait for the end (a stream, or returnImmediately) goes without a task when the handler has not
// decided between a task and a plain Message.
const patience = 200 * time.Millisecond

// sending is how a message is sent.
type sending struct {
	// wait: the sender waits until the handler's call is over. Without, the call goes on in the background and Task.decided says when there is
	// something to show.
	wait bool
	// named: an unknown task id is the client's for a new task (0.1).
	named bool
	// stored: the sender is told nothing but that the message was taken on (a notification), so that there has to be a task first.
	stored bool
}

// send takes a message on (A2A 1.0 §3.1.1, §3.4). A nil Task with a nil error means that answer is the whole answer; with how.wait, await the
// Task before its answer.
func (s *Server) send(ctx context.Context, owner store.Owner, req *runtime.SendRequest, how sending) (t *Task, answer runtime.Message, err error) {
	info, err := s.checkSend(req)
	if err != nil {
		return nil, nil, err
	}
	t, answer, err = s.take(ctx, owner, req, info, how)
	if how.named && errors.Is(err, store.ErrExists) { // two clients named the same new task: the message follows that of the other
		t, answer, err = s.take(ctx, owner, req, info, how)
	}
	return t, answer, err
}

func (s *Server) take(ctx context.Context, owner store.Owner, req *runtime.SendRequest, info runtime.MessageInfo, how sending) (t *Task, answer runtime.Message, err error) {
	t = &Task{s: s, req: req, parts: req.Message.Contents(), owner: owner, base: values{ctx, req.Source}}
	if !how.wait {
		t.decided = make(chan struct{})
	}
	t.ctx, t.cancel = context.WithCancelCause(&t.base)
	if how.named {
		if info, err = s.nameTask(t, info); err != nil {
			t.cancel(nil)
			return nil, nil, err
		}
	}
	if info.TaskID != "" {
		err = s.follow(t, info, how.wait)
	} else {
		answer, err = s.begin(t, info, how)
	}
	if err != nil || answer != nil {
		t.cancel(nil)
		return nil, answer, err
	}
	return t, nil, nil
}

// values is a request's context without its end: a disconnect cancels nothing (R69, §3.5.2).
type values struct {
	ctx    context.Context
	source any // the generated request
}

func (v *values) Deadline() (time.Time, bool) { return time.Time{}, false }
func (v *values) Done() <-chan struct{}       { return nil }
func (v *values) Err() error                  { return nil }

func (v *values) Value(key any) any {
	if key == (requestKey{}) {
		return v.source
	}
	return v.ctx.Value(key)
}

// maxName is the longest id or name that a client may give to something, in bytes: contexts and tasks repeat theirs in every event.
const maxName = 512

// checkName refuses an id that is too long.
func checkName(field, id string) error {
	if len(id) > maxName {
		return violation(field, "must not be longer than "+strconv.Itoa(maxName)+" bytes")
	}
	return nil
}

// checkSend validates what the codec does not (R35, R36).
func (s *Server) checkSend(req *runtime.SendRequest) (info runtime.MessageInfo, err error) {
	if req.Message == nil {
		return info, violation("message", "is required")
	}
	info = req.Message.MessageInfo()
	switch {
	case info.ID == "":
		return info, violation("message.messageId", "is required")
	case !info.User:
		return info, violation("message.role", "must be the user's: agents do not send messages to agents as themselves")
	case req.HistoryLength != nil && *req.HistoryLength < 0:
		return info, violation("configuration.historyLength", "must not be negative")
	case req.HasPush && !s.info.Push:
		return info, runtime.ErrPushNotificationNotSupported
	}
	for i, id := range info.References {
		if err := checkName("message.referenceTaskIds["+strconv.Itoa(i)+"]", id); err != nil {
			return info, err
		}
	}
	return info, cmp.Or(checkName("message.messageId", info.ID), checkName("message.contextId", info.ContextID), checkName("message.taskId", info.TaskID))
}

// begin admits the first message of a task, routes it and runs its skill. Reading the message is work already.
func (s *Server) begin(t *Task, info runtime.MessageInfo, how sending) (answer runtime.Message, err error) {
	t.l, t.contextID = &t.own, info.ContextID
	if err := s.admit(t); err != nil {
		return nil, err
	}
	called := false
	defer func() {
		if !called {
			s.dismiss(t)
		}
	}()
	if answer, called, err = s.place(t, info); !called {
		return answer, err
	}
	if how.stored || how.named && t.id != "" { // the server's word, or the client's name, is for a task that is there
		if err := t.found(); err != nil {
			called = false
			return nil, err
		}
	}
	if !how.wait || t.skill.Timeout > 0 { // the server may make the task while the handler reads the message
		t.bind()
	}
	t.launch(how.wait)
	return nil, nil
}

// place finds the skill for the first message of a task, and its input. Without either there is no call: the answer is a message or,
// in the task, a question.
func (s *Server) place(t *Task, info runtime.MessageInfo) (answer runtime.Message, called bool, err error) {
	target, err := s.route(t, info)
	if err != nil {
		return nil, false, err
	}
	if target.skill == nil {
		return t.message(runtime.MessageData{Parts: []runtime.Part{runtime.Text(s.help())}}, t.private.ClientID), false, nil
	}
	t.skill = target.skill
	if err := t.checkModes(); err != nil {
		return nil, false, err
	}
	if target.missing != nil {
		return nil, false, s.ask(t, target)
	}
	t.input = target.input
	return nil, true, nil
}

// found makes the task of a new call before its handler runs. Input that the handler could only refuse makes none.
func (t *Task) found() error {
	if t.skill.Check != nil {
		if err := t.skill.Check(t.input); err != nil {
			return InvalidInput(err)
		}
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	t.auto = true
	return t.create(runtime.StateSubmitted)
}

// launch runs the call. A sender that waits runs it itself, which is the fastest, unless the skill has a timeout of its own: then
// the sender can be answered when the time is up or the task is canceled, although the handler goes on.
func (t *Task) launch(wait bool) {
	switch {
	case !wait:
		go t.execute()
	case t.skill.Timeout <= 0:
		t.execute()
	default:
		t.l.mu.Lock() // a follow-up can be canceled from now on
		t.ended = make(chan struct{})
		if t.ctx.Err() != nil {
			t.release()
		}
		t.l.mu.Unlock()
		go t.execute()
	}
}

// await waits until the call is over, or canceled, or its outcome cannot be told for now. A client that goes away, or the shutdown, ends the
// waiting; the call goes on.
func (t *Task) await(client context.Context) error {
	if t.ended == nil {
		return nil
	}
	select {
	case <-t.ended:
		return nil
	case <-client.Done():
		return context.Cause(client)
	case <-t.s.closing:
		return errBusy.With("the agent is shutting down")
	}
}

// ask parks a new task whose message does not fit the skill, with the question for what is missing.
func (s *Server) ask(t *Task, target target) error {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	t.private.Asked, t.input = true, target.input
	if err := t.create(runtime.StateSubmitted); err != nil {
		return err
	}
	err := t.status(runtime.StateInputRequired, runtime.MessageData{Parts: target.missing}, t.view())
	t.first = t.last
	t.over = true
	t.l.run = nil
	s.drop(t.l)
	return err
}

// follow continues a task (A2A 1.0 §3.4.2, §3.4.3).
func (s *Server) follow(t *Task, info runtime.MessageInfo, wait bool) error {
	if err := s.admit(t); err != nil {
		return err
	}
	l := s.use(store.Key{Owner: t.owner, Task: info.TaskID})
	t.l, t.id, t.resumed = l, info.TaskID, true
	started := false
	defer func() {
		if !started {
			s.dismiss(t)
			s.drop(l)
		}
	}()
	queued, started, err := s.join(t, info, wait)
	if started && !queued {
		t.launch(wait)
	}
	return err
}

// join adds the message to its task and makes its call the task's next: started says that there is a call, queued that another one is
// still going on.
func (s *Server) join(t *Task, info runtime.MessageInfo, wait bool) (queued, started bool, err error) {
	l := t.l
	l.mu.Lock()
	defer l.mu.Unlock()
	snap, err := l.load(s, store.View{History: new(int)})
	if err != nil {
		return false, false, err // R60: also for a foreign task (R34, R39)
	}
	now := snap.Task.TaskInfo()
	switch {
	case info.ContextID != "" && info.ContextID != now.ContextID:
		return false, false, violation("message.contextId", "is not the context of the task") // R62
	case now.State.Terminal():
		return false, false, runtime.ErrUnsupportedOperation.With("the task has ended, send a message without a task id").WithMetadata("taskId", now.ID)
	}
	t.contextID, t.private = now.ContextID, snap.Private // R61
	if t.skill = s.byID[snap.Private.Skill]; t.skill == nil {
		return false, false, runtime.ErrUnsupportedOperation.With("the skill of the task is no longer offered")
	}
	if err := t.checkModes(); err != nil {
		return false, false, err
	}
	input, missing, err := t.skill.resume(t.base.ctx, snap.Private, t.parts)
	if err != nil {
		return false, false, err
	}
	t.input, t.private.Input = input, input
	if missing != nil {
		return false, false, t.reask(missing)
	}
	t.private.Asked = false
	if l.run != nil && l.waiting()+int64(len(input)) > s.limits.Body {
		return false, false, errBusy.With("too many messages wait for their turn in the task, try again later").WithMetadata("taskId", now.ID)
	}
	if err := t.addMessage(runtime.StateWorking, nil); err != nil {
		return false, false, err
	}
	t.working = true
	if l.run != nil {
		if wait {
			t.ended = make(chan struct{})
		}
		l.queue = append(l.queue, t)
		return true, true, nil
	}
	l.run = t
	return false, true, nil
}

// addMessage commits the client's message together with a status. The status goes first: the question that it replaces belongs before the
// answer in the history.
func (t *Task) addMessage(state runtime.State, parts []runtime.Part) error {
	t.req.Message.Bind(t.contextID, t.id)
	var m runtime.Message
	if len(parts) > 0 {
		m = t.message(runtime.MessageData{Parts: parts}, true)
	}
	if t.decided != nil {
		t.l.read = true // by the stream that is about to begin
	}
	u := store.Update{
		Event:    t.s.newStatus(t.ctx, t.id, t.contextID, state, m, t.s.now()),
		Messages: []runtime.Message{t.req.Message},
		Input:    &t.private.Input,
		Asked:    &t.private.Asked,
	}
	var snap store.Snapshot
	err := t.retry(func() (err error) {
		snap, err = t.l.commit(t.s, u, t.view())
		return err
	})
	if err != nil {
		return err
	}
	t.first, t.firstVersion, t.last, t.bytes = snap.Task, snap.Version, nil, snap.Bytes
	t.decide()
	return nil
}

// reask answers a message that still leaves something missing.
func (t *Task) reask(missing []runtime.Part) error {
	if err := t.addMessage(runtime.StateInputRequired, missing); err != nil {
		return err
	}
	t.last, t.over = t.first, true
	return nil
}

// awaitDecision waits, for a sender that does not wait for the end, until there is something to show. If the handler takes
// its time, the task is created for it.
func (t *Task) awaitDecision() {
	select {
	case <-t.decided:
		return
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-t.decided:
		return
	case <-timer.C:
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if t.isDecided || t.l.version != 0 {
		return
	}
	t.auto = true
	if err := t.create(runtime.StateWorking); err != nil {
		t.cancel(err)
	}
}

// takeFirst returns the task that a stream begins with and its version, and forgets it: the stream may be open for long.
func (t *Task) takeFirst() (runtime.Task, int64) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	first := t.first
	t.first = nil
	return first, t.firstVersion
}

// answer returns what the sender of the message gets: a Message or a Task, and about how long a Task is. The call is over, or its sender does not wait.
func (t *Task) answer(over bool) (result any, bytes int, err error) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	switch {
	case t.err != nil && (t.l.version == 0 || t.err == errUnwritten):
		return nil, 0, t.err
	case t.reply != nil && t.l.version == 0:
		return t.reply, 0, nil
	case !over && t.first != nil:
		return t.first, t.bytes, nil
	case over && t.last != nil:
		return t.last, t.bytes, nil
	}
	snap, err := t.s.store.Get(context.Background(), t.l.key, *t.view())
	if err != nil {
		return nil, 0, err
	}
	return snap.Task, snap.Bytes, nil
}
