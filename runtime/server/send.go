package server

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// patience is how long a client that does not wait for the end (a stream, or returnImmediately) goes without a task when the handler has not
// decided between a task and a plain Message.
const patience = 200 * time.Millisecond

// send takes a message on (A2A 1.0 §3.1.1, §3.4). With wait it returns when the handler's call is over; without, the call goes on in the background and
// t.decided says when there is something to show. A nil Task with a nil error means that answer is the whole answer. With named, an unknown
// task id is the client's for a new task (0.1).
func (s *Server) send(ctx context.Context, owner store.Owner, req *runtime.SendRequest, wait, named bool) (t *Task, answer runtime.Message, err error) {
	if err := s.checkSend(req); err != nil {
		return nil, nil, err
	}
	t = &Task{s: s, req: req, parts: req.Message.Contents(), owner: owner, base: values{ctx}}
	if !wait {
		t.decided = make(chan struct{})
	}
	t.ctx, t.cancel = context.WithCancelCause(&t.base)
	info := req.Message.MessageInfo()
	if named {
		if info, err = s.nameTask(t, info); err != nil {
			t.cancel(nil)
			return nil, nil, err
		}
	}
	if info.TaskID != "" {
		err = s.follow(t, info, wait)
	} else {
		answer, err = s.begin(t, info, wait)
	}
	if err != nil || answer != nil {
		t.cancel(nil)
		return nil, answer, err
	}
	return t, nil, nil
}

// values is a request's context without its end: a disconnect cancels nothing (R69, §3.5.2).
type values struct{ ctx context.Context }

func (v *values) Deadline() (time.Time, bool) { return time.Time{}, false }
func (v *values) Done() <-chan struct{}       { return nil }
func (v *values) Err() error                  { return nil }
func (v *values) Value(key any) any           { return v.ctx.Value(key) }

// checkSend validates what the codec does not (R35, R36).
func (s *Server) checkSend(req *runtime.SendRequest) error {
	if req.Message == nil {
		return violation("message", "is required")
	}
	info := req.Message.MessageInfo()
	switch {
	case info.ID == "":
		return violation("message.messageId", "is required")
	case !info.User:
		return violation("message.role", "must be the user's: agents do not send messages to agents as themselves")
	case req.HistoryLength != nil && *req.HistoryLength < 0:
		return violation("configuration.historyLength", "must not be negative")
	case req.HasPush && !s.info.Push:
		return runtime.ErrPushNotificationNotSupported
	}
	return nil
}

// begin admits the first message of a task, routes it and runs its skill. Reading the message is work already.
func (s *Server) begin(t *Task, info runtime.MessageInfo, wait bool) (answer runtime.Message, err error) {
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
	if !wait || t.skill.Timeout > 0 { // the server may make the task while the handler reads the message
		t.bind()
	}
	t.launch(wait)
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
		answer = t.message([]runtime.Part{runtime.Text(s.help())})
		if t.private.ClientID {
			answer.Bind(t.context(), t.taskID())
		}
		return answer, false, nil
	}
	t.skill = target.skill
	if err := t.checkMedia(); err != nil {
		return nil, false, err
	}
	if target.missing != nil {
		return nil, false, s.ask(t, target)
	}
	t.input = target.input
	return nil, true, nil
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
		<-t.ended
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
	t.end(runtime.StateInputRequired, target.missing)
	t.first = t.last
	t.over = true
	t.l.run = nil
	s.drop(t.l)
	return nil
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
	queued, started, err := s.join(t, info)
	switch {
	case err != nil || !started:
		return err
	case !queued:
		t.launch(wait)
	case wait:
		t.awaitRest()
	}
	return nil
}

// join adds the message to its task and makes its call the task's next: started says that there is a call, queued that another one is
// still going on.
func (s *Server) join(t *Task, info runtime.MessageInfo) (queued, started bool, err error) {
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
	t.contextID, t.private, t.artifacts = now.ContextID, snap.Private, now.Artifacts // R61
	if t.skill = s.byID[snap.Private.Skill]; t.skill == nil {
		return false, false, runtime.ErrUnsupportedOperation.With("the skill of the task is no longer offered")
	}
	if err := t.checkMedia(); err != nil {
		return false, false, err
	}
	input, missing, err := t.skill.resume(t.base.ctx, snap.Private, t.parts)
	if err != nil {
		return false, false, err
	}
	t.input, t.private.Input, t.unsaved = input, input, true
	if missing != nil {
		return false, false, t.reask(missing)
	}
	t.private.Asked = false
	if err := t.addMessage(runtime.StateWorking, nil); err != nil {
		return false, false, err
	}
	t.working = true
	if l.run != nil {
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
		m = t.message(parts)
	}
	if t.decided != nil {
		t.l.read = true // by the stream that is about to begin
	}
	p := t.private
	u := store.Update{
		Event:    t.s.protocol.NewStatus(t.id, t.contextID, state, m, t.s.now()),
		Messages: []runtime.Message{t.req.Message},
		Private:  &p,
	}
	snap, err := t.l.commit(t.s, u, t.view())
	if err != nil {
		return err
	}
	t.unsaved = false
	t.first, t.firstVersion, t.last = snap.Task, snap.Version, nil
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

// awaitRest waits until the task has ended or waits for its client (R24).
func (t *Task) awaitRest() {
	r := newReader()
	t.l.attach(r)
	defer t.l.detach(r)
	for {
		state, err := t.l.state(t.s)
		if err != nil || state.Terminal() || (state.Interrupted() && t.isOver()) {
			return
		}
		select {
		case <-r.wake:
		case <-t.s.closing:
			return
		}
	}
}

func (t *Task) isOver() bool {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	return t.over
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

// answer returns what the sender of the message gets: a Message or a Task. The call is over, or its sender does not wait.
func (t *Task) answer(over bool) (any, error) {
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	switch {
	case t.err != nil && t.l.version == 0:
		return nil, t.err
	case t.reply != nil && t.l.version == 0:
		return t.reply, nil
	case !over && t.first != nil:
		return t.first, nil
	case over && t.last != nil:
		return t.last, nil
	}
	snap, err := t.s.store.Get(context.Background(), t.l.key, *t.view())
	if err != nil {
		return nil, err
	}
	return snap.Task, nil
}
