package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// This file is the life of a call: all that changes its state. A message is read by its sender's goroutine, which
// admits the call. If it leads to a handler, the call is launched, or queued behind the one that is at work on its
// task; a call that ends launches the next. The call is in the store, too, from the first write of its task to the end:
// what the store says comes up next is promoted, whoever has taken it on, and a call that another process or instance
// has left is revived and taken up. So is one that the store took on without saying so in time (commit.go).
//
//	        launch            turn              returned, expire            leave
//	arriving ─────► waiting ─────────► running ──────────────────► ending ─────────► over
//	   │  │          ▲ ▲  └────────────────────────────────────────►  │ ▲              ▲
//	   │  │          │ │                returned                      └─┘ persist      │
//	   │  │ join     │ │ promote                                                       │
//	   │  └───► queued ┘                                                               │
//	   │          │  │                      abandon                                    │
//	   │          └──┼────────────────────────────────────────────────────────────────►│
//	   └─────────────┼────────────────────────────────────────────────────────────────►┘
//	                 │                  asked, refuse
//	   revive ───────┘ takeUp, promote
//
// Who does it: the sender admits, launches, queues, asks and refuses. The call's own goroutine, which is the sender's
// if that waits for the end, has its turn and returns. A timer, or the ticker, ends a call whose time is up; the
// shutdown does the same to all. The call before it in the task promotes or abandons it. A takeover revives it and
// takes it up. A goroutine of its own persists an end that the store does not take. A client's cancel changes no state,
// nor does the loss of the task to another instance (takeover.go): the task is no longer the call's, its context is
// canceled and its sender is answered; the handler's return does the rest.
//
// The lock of the task's handle guards the state; until a call is launched or queued only its sender knows it.

// state is where a call is in its life.
type state uint8

const (
	arriving state = iota // its message is being read; there may never be a handler for it
	queued                // its message is in the task, on which another call works
	waiting               // it is the task's call, and waits for its skill to have a place
	running               // the handler is at work
	ending                // the handler is no longer heard; what its work comes to is on the way to the store
	over
)

func (s state) String() string {
	return [...]string{"arriving", "queued", "waiting", "running", "ending", "over"}[s]
}

// call is one call of a handler, from the message's arrival to the end.
type call struct {
	r          *Runner
	skill      *skill
	state      state
	resumed    bool      // the message continues the task
	began      bool      // the handler was called
	seen       bool      // the task shows that it is being worked on
	forHandler task.Task // what the handler has
	sender
	handling
	names
	task       taskWriter
	onResult   []func(*runtime.ArtifactData) // of the handler, for the artifact with the output
	conclusion conclusion
	answered

	// handle is of the task that the call works on. Its lock guards the call's state, task and conclusion.
	handle    *handle
	ownHandle handle // of a new task
}

// newCall returns a call whose sender is to be filled in.
func (r *Runner) newCall() *call {
	c := &call{r: r}
	c.task.c, c.conclusion.c = c, c
	c.forHandler = task.New((*view)(c))
	return c
}

// sender is who sent the message.
type sender struct {
	req   *runtime.SendRequest
	parts []runtime.Part // of the message
	owner store.Owner
	push  *store.Push
	// repeat is by what the message is known when it comes again; nil: by nothing.
	repeat *store.Repeat
	// extensions are those with a contract that the message asks for, by URI.
	extensions []string
	// decided is closed, under the lock of the task, when it is clear what the call comes to: a task, a message or an error.
	// Nil: the sender waits for the end.
	decided chan struct{}
	// done is closed, under the lock of the task, when the call is over or canceled. Nil unless the sender waits for a call on
	// another goroutine.
	done chan struct{}
}

// handling is what the handler works with.
type handling struct {
	ctx     callContext
	run     runContext   // ctx as the handler sees it
	flight  flight       // among the admitted calls; guarded by admission.mu
	weight  int64        // bytes of the message that are taken from the budget of all work
	overdue atomic.Int64 // when the ticker is to cancel the call, Unix nanoseconds; 0: a timer does, or nobody
	input   route.Input
	attempt int      // how often a handler was called for it, when the call began
	nth     int64    // number of the call in its task, by then
	watched *watched // the handler's run; nil: nobody observes, or it was not called
	value   []byte   // what the handle was redeemed with that brought the call; nil: none
}

// answered is the answer to the sender, when it is none from the task.
type answered struct {
	reply runtime.Message // a plain message
	err   error
}

// names are the ids of a call's task and conversation, made when they are asked for.
type names struct {
	mu            sync.Mutex
	id, contextID string
	hasID         atomic.Bool // id does not change any more
	hasContext    atomic.Bool // nor does contextID
}

// set gives the names that are known; "" is to be made.
func (n *names) set(id, contextID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.id, n.contextID = id, contextID
	n.hasID.Store(id != "")
	n.hasContext.Store(contextID != "")
}

// named is the task's id if it has one.
func (n *names) named() string {
	if n.hasID.Load() {
		return n.id
	}
	return ""
}

// taskID is the id of the task, made if there is none yet.
func (c *call) taskID() string {
	if c.hasID.Load() {
		return c.id
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if c.id == "" {
		c.id = c.r.NewID() // R57
	}
	c.hasID.Store(true)
	return c.id
}

// context is the id of the conversation, made if there is none yet.
func (c *call) context() string {
	if c.hasContext.Load() {
		return c.contextID
	}
	c.names.mu.Lock()
	defer c.names.mu.Unlock()
	if c.contextID == "" {
		c.contextID = c.r.NewID() // R51
	}
	c.hasContext.Store(true)
	return c.contextID
}

// setConfiguration gives the push configuration that came along with the message the id of the task, if it has none.
func (c *call) setConfiguration() {
	if c.push.ID == "" {
		c.push.ID = c.taskID()
		c.push.Config.ID = c.push.ID
	}
	c.push.Max = c.r.Limits.Pushes
}

// log is the logger for what is said of the call, perhaps of a message that comes to no task.
func (c *call) log() *slog.Logger { return c.r.Log(c.skill.ID, c.named(), c.owner.Principal) }

// refuse ends a call that will never run and releases its slot.
func (c *call) refuse() {
	c.state = over
	c.r.admission.dismiss(c)
}

// launch runs the call. A sender that waits runs it itself, which is the fastest, unless the skill has a timeout of its
// own: then the sender can be answered when the time is up or the task is canceled, although the handler goes on.
func (c *call) launch(wait bool) {
	c.state = waiting
	switch {
	case !wait:
		go c.execute()
	case c.skill.Timeout <= 0:
		c.execute()
	default:
		c.handle.mu.Lock() // a follow-up can be canceled from now on
		c.done = make(chan struct{})
		if c.ctx.Err() != nil {
			closeOnce(c.done)
		}
		c.handle.mu.Unlock()
		go c.execute()
	}
}

// asked ends a call before its handler: the first message does not fit the skill, and the new task waits with the
// question for what is missing. A question that the store does not take is left to the background: left says so.
func (c *call) asked(target *route.Target) (left bool, err error) {
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	c.task.private.Asked, c.input = true, target.Input
	if err := c.task.create(runtime.StateSubmitted); err != nil && !c.task.mayExist() {
		return false, err
	}
	begin := time.Now()
	c.conclusion.end(runtime.StateInputRequired, runtime.MessageData{Parts: target.Missing})
	err = c.conclusion.write()
	c.task.first, c.state = c.task.last, ending
	if c.task.unconfirmed != nil {
		c.persist(err, begin)
		c.r.admission.dismiss(c)
		return true, ErrUnwritten
	}
	if next := c.leave(); next != nil {
		go next.execute()
	}
	return false, err
}

// execute calls the handler, and ends the call with its return. It runs on the goroutine of the sender if that waits
// for the end, else on one of its own. A handler that ends its goroutine has failed.
func (c *call) execute() {
	defer c.r.admission.dismiss(c)
	defer c.ctx.cancel(nil)
	var out []byte
	err := errExit
	defer func() {
		if err == errExit {
			(*view)(c).Logger().Error("skill ended its goroutine")
		}
		next := c.returned(out, err)
		if c.watched != nil {
			c.unwatch(err)
		}
		if next != nil {
			go next.execute()
		}
	}()
	out, err = c.call()
}

// call waits for the skill's turn and runs it. A panic becomes an error.
func (c *call) call() (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			(*view)(c).Logger().Error("skill panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	if err := c.turn(); err != nil {
		return nil, err
	}
	if c.skill.slots != nil {
		defer func() { <-c.skill.slots }()
	}
	timeout := c.skill.Timeout
	if timeout <= 0 {
		timeout = c.r.Limits.Timeout
	}
	c.run = runContext{&c.ctx, time.Now().Add(timeout), (*chain)(c)}
	if timeout <= exactTimeout {
		timer := time.AfterFunc(timeout, c.expire)
		defer timer.Stop()
	} else {
		c.overdue.Store(c.run.deadline.UnixNano())
		c.r.Feed.Ticker.Start()
	}
	if err := c.decode(); err != nil {
		return nil, err
	}
	ctx := context.Context(&c.run)
	if len(c.r.Observers.List) != 0 {
		ctx = c.watch(ctx)
	}
	if c.skill.Decode == nil {
		return c.skill.Run(ctx, &c.forHandler, c.input.Raw)
	}
	return c.skill.Run(ctx, &c.forHandler, c.input.Value)
}

// decode reads the input, unless that was done to find out whether it fits.
func (c *call) decode() (err error) {
	if c.skill.Decode != nil && c.input.Value == nil {
		if c.input.Value, err = c.skill.Decode(c.input.Raw); err != nil {
			return invalid.Input(err)
		}
	}
	return nil
}

var (
	errPanic = errors.New("the skill panicked")
	errExit  = errors.New("the skill ended its goroutine")
)

// turn waits until the skill may run once more, and marks the task as being worked on.
func (c *call) turn() error {
	if c.skill.slots != nil {
		select {
		case c.skill.slots <- struct{}{}:
		default:
			select {
			case c.skill.slots <- struct{}{}:
			case <-c.ctx.Done():
				return c.ctx.Cause()
			}
		}
	}
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if c.state >= ending { // a shutdown has given it back meanwhile
		return c.ctx.Cause()
	}
	c.state, c.began = running, true
	if c.handle.version != 0 && !c.resumed && !c.seen { // it was created while it waited
		return c.task.status(runtime.StateWorking, runtime.MessageData{}, nil)
	}
	return nil
}

// returned ends the call with what the handler returned: it decides what that comes to, the end of the task, a question, or
// an answer without a task, and stores it. An end that the store does not take is tried again in the background. It returns
// the next call when another message came meanwhile and the task goes on.
func (c *call) returned(out []byte, err error) (next *call) {
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if c.state >= ending { // its time was up
		return nil
	}
	begin := time.Now()
	c.state = ending
	defer c.cancelNested()
	switch {
	case err != nil:
		c.conclusion.giveUp(err)
	case c.reply == nil && !errors.Is(c.ctx.Cause(), ErrCanceled):
		c.conclusion.finish(out)
	}
	if err := c.conclusion.write(); c.task.unconfirmed != nil && err != nil {
		c.persist(err, begin)
		return nil
	}
	return c.leave()
}

// expire ends a call whose time is up, as if the handler had returned: nobody waits for one that ignores its context.
// What it still says is refused. The handler is told before somebody waits for the store.
func (c *call) expire() {
	c.ctx.cancel(ErrTimeout)
	if next := c.returned(nil, ErrTimeout); next != nil {
		go next.execute()
	}
}

// persist goes on trying to store the ending in the background, until the store takes it or the agent shuts down. A
// client that waits for the end is answered with an error some time after the first try, which was at begin. Callers
// must hold c.handle.mu.
func (c *call) persist(err error, begin time.Time) {
	c.log().Warn("the end of a task could not be stored, trying again",
		"state", c.conclusion.ending.status.Event.EventInfo().State.String(), "error", err)
	if c.done == nil {
		c.done = make(chan struct{}) // the sender may be on the handler's goroutine
	}
	c.r.inBackground(c, nil, func(inTime bool) bool {
		next, done := c.rewrite(inTime, time.Since(begin) > answerIn)
		if next != nil {
			go next.execute()
		}
		return done
	})
}

// rewrite tries once more to store the ending. The last try is when the shutdown has no more time; what it does not
// store is in the log.
func (c *call) rewrite(inTime, late bool) (next *call, done bool) {
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	if late { // the try may take long, too
		c.err = ErrUnwritten
		closeOnce(c.decided)
		closeOnce(c.done)
	}
	err := c.conclusion.write()
	if c.task.unconfirmed != nil && inTime {
		if late {
			c.err = ErrUnwritten // also when the task was made meanwhile, and its end is what is missing
		}
		return nil, false
	}
	if c.task.unconfirmed != nil {
		c.err = ErrUnwritten
		c.log().Error("the end of a task was not stored",
			"state", c.conclusion.ending.status.Event.EventInfo().State.String(), "error", err)
	} else if c.err == ErrUnwritten {
		c.err = nil
	}
	return c.leave(), true
}

// leave lets go of the task when the call is over, and returns the next call. Callers must hold c.handle.mu.
func (c *call) leave() (next *call) {
	c.state = over
	closeOnce(c.decided)
	closeOnce(c.done)
	if t := &c.task; t.lent != nil && t.unconfirmed == nil {
		*t.lent = lent{}
		allLent.Put(t.lent)
		t.lent = nil
	}
	h := c.handle
	if h.version == 0 {
		c.task.runsHere.Store(c.task.mayExist() && c.began) // it is not to be tried again as if nothing had happened
		return nil
	}
	defer c.r.tasks.drop(h)
	c.task.runsHere.Store(c.err == ErrUnwritten || errors.Is(c.ctx.Cause(), ErrLost)) // in the store, maybe
	if h.run != c {                                                                   // another call, or instance, has the task
		return nil
	}
	if h.run = nil; c.task.next != nil {
		h.run = h.succeed(c.r, c.task.next, c.conclusion.ending.status.state())
		return h.run
	}
	for _, q := range h.queue { // the task has ended; or nobody knows, and the store says what becomes of them
		q.task.elsewhere = !h.ended
		q.abandon()
	}
	h.queue = nil
	return nil
}

// abandon gives up a queued call: its task ended before its turn, or somebody else is going to work on it. Its message
// stays in the history.
func (c *call) abandon() {
	c.state = over
	c.ctx.cancel(nil)
	closeOnce(c.done)
	c.r.admission.dismiss(c)
	c.r.tasks.drop(c.handle)
}

// promote makes a call the one at work on its task, in the given state: what the call before it saved is there now, and
// if that one asked for input the task is being worked on again.
func (c *call) promote(snap *store.Snapshot, now runtime.State) {
	c.state = waiting
	c.begins(snap)
	if taskstate.May(now, taskstate.Begin, runtime.StateWorking) {
		if err := c.task.status(runtime.StateWorking, runtime.MessageData{}, nil); err != nil {
			c.log().Error("task does not go on", "error", err)
		}
	}
}

// begins notes what the store has kept for the call, before its handler is called.
func (c *call) begins(snap *store.Snapshot) {
	c.holds(snap)
	c.r.parked.take(c.handle.key)
	c.task.private, c.nth, c.attempt, c.value = snap.Private, c.task.work.N, c.task.work.Attempt, c.task.work.Value
	c.task.have(snap.Private.Saved)
	c.task.activate(c.extensions)
}

// holds notes that this instance runs the call. Its handler may be at work already.
func (c *call) holds(snap *store.Snapshot) {
	if snap.Run != &c.task.work {
		c.task.work = *snap.Run
	}
	c.task.epoch = snap.Epoch
	c.task.runsHere.Store(true)
}
