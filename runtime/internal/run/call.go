package run

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

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
	permit Permit
	// extensions are those with a contract that the message asks for, by URI.
	extensions []string
	// decided: it is clear what the call comes to, a task, a message or an error. Armed unless the sender waits for the
	// end.
	decided signal
	// done: the call is over or canceled. Armed when the sender waits for a call on another goroutine.
	done signal
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
