package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/nested"
	"github.com/a2agen/a2agen/runtime/internal/route"
)

// notes are what the handler saved, the calls of other agents that it made, and the extensions of its task.
type notes struct {
	mu      sync.Mutex
	saved   []byte
	active  []string     // extensions with a contract that the task's caller asked for, by URI
	nesting *nesting     // nil: no other agent was called
	private []byte       // both as the store keeps them; nil: they have changed since
	unsaved atomic.Bool  // the store does not have them
	context *contextNote // what is kept with the context; nil: nobody has asked
}

// change notes that there is something new to store. Callers must hold n.mu.
func (n *notes) change() {
	n.private = nil
	n.unsaved.Store(true)
}

// unstored returns what is to be stored; nil for nothing.
func (n *notes) unstored() *[]byte {
	if !n.unsaved.Load() {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.private == nil {
		n.private = joinExtensions(n.active, joinPrivate(n.nesting, n.saved))
	}
	private := n.private
	return &private
}

// kept notes what the store has by now.
func (n *notes) kept(stored *[]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.private) > 0 && &(*stored)[0] == &n.private[0] {
		n.unsaved.Store(false)
	}
}

// have takes over what the store has.
func (n *notes) have(stored []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	active, rest := splitExtensions(stored)
	n.active = active
	n.nesting, n.saved = splitPrivate(rest)
	n.unsaved.Store(false)
}

// A task remembers the extensions that its caller asked for, so that messages that continue it need not name them again.

func (v *view) Activated(uri string) bool {
	return slices.Contains((*call)(v).task.activated(), uri)
}

// activated returns the extensions of the task. Nobody changes the list.
func (n *notes) activated() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.active
}

// activate adds extensions to those of the task.
func (n *notes) activate(uris []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, uri := range uris {
		if !slices.Contains(n.active, uri) {
			n.active = append(slices.Clip(n.active), uri)
			n.change()
		}
	}
}

// withExtensions is the first byte of what the store keeps privately if it begins with extensions: their URIs with blanks
// between them, a line break, and the rest.
const withExtensions = '\x03'

func joinExtensions(active []string, private []byte) []byte {
	if len(active) == 0 {
		return private
	}
	return append([]byte(string(withExtensions)+strings.Join(active, " ")+"\n"), private...)
}

func splitExtensions(stored []byte) (active []string, private []byte) {
	if len(stored) == 0 || stored[0] != withExtensions {
		return nil, stored
	}
	list, private, _ := bytes.Cut(stored[1:], []byte("\n"))
	if len(private) == 0 {
		private = nil
	}
	return strings.Fields(string(list)), private
}

func (v *view) OnResult(f func(*runtime.ArtifactData)) {
	c := (*call)(v)
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	c.onResult = append(c.onResult, f)
}

// attached is an output with what the handler attaches to it. What others get a pointer to is on the heap: an output to
// which nothing is attached costs nothing.
func attached(output runtime.ArtifactData, add []func(*runtime.ArtifactData)) runtime.ArtifactData {
	data := output
	for _, f := range add {
		f(&data)
	}
	return data
}

// A handler may call other agents. Its task remembers these calls, so that the same call, made again, is found again:
// by a handler that is called again after a crash, and by one that is called for the answer to a question that another
// agent asked and the handler passed on (docs/decisions/10). What is remembered goes to the store with what the handler
// saved, before each call where a crash must not make it twice.

// chain is a call as the clients see it that its handler uses.
type chain call

// nesting is what a call knows of the calls of other agents.
type nesting struct {
	made  madeCalls
	begun bool                 // this call has made one
	again bool                 // an attempt before this one has
	count map[string]int       // how often the same call was made here
	open  map[string]*openCall // by id
}

// madeCalls are the calls of other agents that a task remembers: those for one message and, if a question of another
// agent was passed on, for those that follow it. With any other message they begin anew.
type madeCalls struct {
	From    int64                `json:"from"`    // number of the first message
	Began   int64                `json:"began"`   // when a call was first made for it, Unix milliseconds
	Message int64                `json:"message"` // number of the last message
	Since   int64                `json:"since"`   // when a call was first made for that
	Calls   map[string]*madeCall `json:"calls,omitempty"`
	Asked   *askedCall           `json:"asked,omitempty"` // whose question was passed on; nil: none, or it is answered
	Size    int                  `json:"size,omitempty"`  // about how many bytes the calls take
}

// madeCall is a call whose message was sent, or is about to be.
type madeCall struct {
	Task  string          `json:"task,omitempty"`  // of the other agent; "": not known
	Reply json.RawMessage `json:"reply,omitempty"` // a message without a task
}

// askedCall is a call whose question was passed on.
type askedCall struct {
	Call     string `json:"call"`     // its id
	Of       string `json:"of"`       // digest of agent and skill
	Question string `json:"question"` // token
	Message  int64  `json:"message"`  // number of the message for which the handler passed it on
}

// openCall is a call that this handler has made, as long as the task of the other agent has not ended.
type openCall struct {
	of     string
	keys   bool
	task   string
	cancel func(ctx context.Context, task string) error // nil: nothing is to be canceled any more
}

const (
	// maxMade is how many bytes the calls that a task remembers may take.
	maxMade = 64 << 10
	// maxReply is how many bytes of a message without a task are remembered.
	maxReply = 8 << 10
	// maxTaskID is how many bytes an id of another agent has that is remembered.
	maxTaskID = 512
	// callFrame is about what a remembered call takes beside its texts.
	callFrame = 64
	// cancelFor is how long the cancellation of another agent's task may take.
	cancelFor = 5 * time.Second
)

// errTooManyCalls refuses a call that a handler made again after a crash might make twice.
var errTooManyCalls = errors.New("the task has called more agents than it can remember: call those that do not promise " +
	"to know messages again less often for one message")

// Call implements [nested.Handler].
func (h *chain) Call(n nested.Call) (nested.Known, error) {
	c := (*call)(h)
	must := c.calledAgain()
	known, store, err := c.remember(&n, must)
	if err == nil && store && must {
		err = c.storeNotes()
	}
	if err == nil && c.r.Calls != nil {
		agent, _, _ := strings.Cut(n.Agent, "\x00") // before its tenant
		c.r.Calls(OtherCall{c.taskID(), agent, n.Skill, known.Key})
	}
	return known, err
}

// calledAgain reports whether a crash leads to another call of the handler.
func (c *call) calledAgain() bool {
	return c.skill.OnCrash == CrashRetry && c.r.mayBeDurable()
}

// remember names a call and returns what is known of it. store says that the call must be in the store before it is
// made, if the handler may be called again.
func (c *call) remember(n *nested.Call, must bool) (known nested.Known, store bool, err error) {
	c.task.notes.mu.Lock()
	defer c.task.notes.mu.Unlock()
	x, began := c.nesting()
	of := digestOf(n.Agent, n.Skill)
	id, answers := x.find(c, n, of)
	known = nested.Known{ID: id, Key: c.keyOf(x.made.From, id)}
	made := x.made.Calls[id]
	switch {
	case made != nil:
		known.Task, known.Reply, known.Sent = made.Task, made.Reply, time.UnixMilli(x.made.Began)
	case x.again && n.Keys:
		known.Sent = time.UnixMilli(x.made.Since)
	}
	if answers {
		known.Answer = &nested.Answer{
			Question: x.made.Asked.Question, Parts: c.parts,
			Key: c.keyOf(x.made.From, id, "answer", strconv.FormatInt(c.number(), 10)),
		}
	}
	x.open[id] = &openCall{of: of, keys: n.Keys, task: known.Task, cancel: n.Cancel}
	if made != nil {
		return known, began, nil
	}
	if fits := x.add(id, &madeCall{}); !fits && must && !n.Keys {
		return known, false, errTooManyCalls
	}
	c.task.notes.change()
	return known, began || !n.Keys, nil
}

// nesting returns what is known of the calls of other agents, and whether this is the first one for the message.
// Callers must hold the lock of the notes.
func (c *call) nesting() (x *nesting, began bool) {
	if c.task.notes.nesting == nil {
		c.task.notes.nesting = &nesting{}
	}
	if x = c.task.notes.nesting; x.begun {
		return x, false
	}
	x.begun, x.count, x.open = true, map[string]int{}, map[string]*openCall{}
	m, number, now := &x.made, c.number(), c.r.Now().UnixMilli()
	switch {
	case m.Message == number:
		x.again = true
		return x, false
	case m.Asked == nil:
		*m = madeCalls{From: number, Began: now}
	}
	m.Message, m.Since = number, now
	return x, true
}

// number is the number of the message in its task.
func (c *call) number() int64 { return max(c.nth, 1) }

// find returns the id of a call, and whether the message that is handled answers its question: that of a call which is
// made again or, where the handler passes the message on as it is, of one of the same skill.
func (x *nesting) find(c *call, n *nested.Call, of string) (id string, answers bool) {
	id = digestOf(of, string(n.Content[:]))
	x.count[id]++
	id = digestOf(id, strconv.Itoa(x.count[id]))
	asked := x.made.Asked
	if asked == nil || asked.Message == c.number() || c.value != nil {
		return id, false
	}
	made := x.made.Calls[asked.Call]
	if x.made.Calls[id] == nil && made != nil && asked.Of == of && samePlain(n.Parts, c.parts) && x.add(id, made) {
		asked.Call = id
	}
	return id, id == asked.Call
}

// samePlain reports whether a message has the texts of another one, and nothing else.
func samePlain(parts, of []runtime.Part) bool {
	for i := range parts {
		if parts[i].Kind != runtime.PartText {
			return false
		}
	}
	return route.TextOf(parts) == route.TextOf(of)
}

// add remembers a call, if there is room for it.
func (x *nesting) add(id string, made *madeCall) (fits bool) {
	size := len(id) + len(made.Task) + len(made.Reply) + callFrame
	if x.made.Size+size > maxMade {
		return false
	}
	if x.made.Calls == nil {
		x.made.Calls = map[string]*madeCall{}
	}
	x.made.Calls[id] = made
	x.made.Size += size
	return true
}

// keyOf makes the key of a message.
func (c *call) keyOf(from int64, of ...string) string {
	of = append([]string{c.owner.Tenant, c.owner.Principal, c.taskID(), strconv.FormatInt(from, 10)}, of...)
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func digestOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// storeNotes has the store take what has changed of the notes. It makes the task if there is none.
func (c *call) storeNotes() error {
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	t := &c.task
	err := t.ready()
	switch {
	case err == nil && c.handle.version == 0:
		t.auto = true
		err = t.create(runtime.StateWorking)
	case err == nil && t.unsaved.Load():
		err = t.status(runtime.StateWorking, runtime.MessageData{}, nil)
	}
	if err != nil {
		return fmt.Errorf("a call of another agent could not be stored: %w", err)
	}
	return nil
}

// Began implements [nested.Handler]. An id that is too long is not remembered.
func (h *chain) Began(id, task string) error {
	return (*call)(h).learn(id, func(made *madeCall, open *openCall) {
		if open.task = task; len(task) <= maxTaskID {
			made.Task = task
		}
	})
}

// Replied implements [nested.Handler]. A long message is not remembered: then it is not known what became of the call.
func (h *chain) Replied(id string, message []byte) error {
	c := (*call)(h)
	return c.learn(id, func(made *madeCall, open *openCall) {
		open.cancel = nil
		if len(message) <= min(maxReply, maxMade-c.task.nesting.made.Size) {
			made.Reply = message
		}
	})
}

// learn notes what became of a call. Where a handler that is called again cannot ask the agent by a key, it is stored.
func (c *call) learn(id string, set func(*madeCall, *openCall)) error {
	n := &c.task.notes
	n.mu.Lock()
	open, made := n.nesting.open[id], n.nesting.made.Calls[id]
	forgotten := made == nil
	if forgotten {
		made = &madeCall{}
	}
	was := len(made.Task) + len(made.Reply)
	set(made, open)
	n.nesting.made.Size += len(made.Task) + len(made.Reply) - was
	if !forgotten {
		n.change()
	}
	n.mu.Unlock()
	if forgotten || open.keys || !c.calledAgain() {
		return nil
	}
	return c.storeNotes()
}

// Answered implements [nested.Handler].
func (h *chain) Answered(id string) {
	n := &(*call)(h).task.notes
	n.mu.Lock()
	defer n.mu.Unlock()
	if asked := n.nesting.made.Asked; asked != nil && asked.Call == id {
		n.nesting.made.Asked = nil
		n.change()
	}
}

// Ended implements [nested.Handler].
func (h *chain) Ended(id string) {
	n := &(*call)(h).task.notes
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nesting.open[id].cancel = nil
}

// Left implements [nested.Handler].
func (h *chain) Left(string) { (*call)(h).cancelNested() }

// cancelNested cancels what other agents still do for a task that was canceled, or whose time is up. Nothing is
// canceled that another attempt of the handler asks for: after a shutdown, for one.
func (c *call) cancelNested() {
	cause := c.ctx.Cause()
	if !errors.Is(cause, ErrCanceled) && !errors.Is(cause, ErrTimeout) {
		return
	}
	ctx := context.Context(&c.run)
	if c.watched != nil {
		ctx = c.watched.ctx
	}
	for _, cancel := range c.task.notes.takeOpen() {
		c.r.cancelOther(context.WithoutCancel(ctx), c, cancel)
	}
}

// takeOpen returns what cancels the tasks of other agents that go on, once.
func (n *notes) takeOpen() (list []func(context.Context) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.nesting == nil {
		return nil
	}
	for _, open := range n.nesting.open {
		if task, cancel := open.task, open.cancel; task != "" && cancel != nil {
			open.cancel = nil
			list = append(list, func(ctx context.Context) error { return cancel(ctx, task) })
		}
	}
	return list
}

// cancelOther cancels a task of another agent in the background. The shutdown waits for it, as long as it has time.
func (r *Runner) cancelOther(ctx context.Context, c *call, cancel func(context.Context) error) {
	r.admission.hold(c)
	go func() {
		defer r.admission.dismiss(c)
		ctx, done := context.WithTimeout(ctx, cancelFor)
		defer done()
		go func() {
			select {
			case <-r.admission.hurry:
				done()
			case <-ctx.Done():
			}
		}()
		if err := cancel(ctx); err != nil {
			r.Logger.Warn("the task of another agent could not be canceled", "error", err)
		}
	}()
}

// PassOn is End with the question of another agent's task.
func (v *view) PassOn(state runtime.State, m runtime.MessageData, of, token string) error {
	c := (*call)(v)
	id, skill := c.task.notes.callOf(of)
	if id == "" || token == "" {
		return errors.New("the question is of a call that was not made with the context of this handler, or cannot be " +
			"remembered: ask with Ask, and keep its token with Save")
	}
	err := v.End(state, m)
	if end, ok := err.(*verdict); ok {
		end.asked = &askedCall{Call: id, Of: skill, Question: token, Message: c.number()}
	}
	return err
}

// callOf returns the call of this handler that made another agent's task, and what it is of.
func (n *notes) callOf(task string) (id, of string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.nesting == nil || task == "" {
		return "", ""
	}
	for id, open := range n.nesting.open {
		if made := n.nesting.made.Calls[id]; made != nil && made.Task == task {
			return id, open.of
		}
	}
	return "", ""
}

// ask notes whose question the handler has passed on.
func (n *notes) ask(asked *askedCall) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nesting.made.Asked = asked
	n.change()
}

// What the store keeps privately begins with one of these bytes if it has more than what the handler saved, which is
// JSON: then the calls follow as JSON, a line break, and what was saved.
const (
	withCalls    = '\x01'
	withQuestion = '\x02' // and one of them asked a question that was passed on
)

func joinPrivate(x *nesting, saved []byte) []byte {
	if x == nil {
		return saved
	}
	b, err := json.Marshal(&x.made)
	if err != nil { // it has nothing that does not encode
		return saved
	}
	kind := byte(withCalls)
	if x.made.Asked != nil {
		kind = withQuestion
	}
	return bytes.Join([][]byte{{kind}, b, {'\n'}, saved}, nil)
}

func splitPrivate(stored []byte) (x *nesting, saved []byte) {
	if len(stored) == 0 || stored[0] != withCalls && stored[0] != withQuestion {
		return nil, stored
	}
	calls, saved, _ := bytes.Cut(stored[1:], []byte("\n"))
	x = &nesting{}
	if err := json.Unmarshal(calls, &x.made); err != nil {
		x = nil
	}
	if len(saved) == 0 {
		saved = nil
	}
	return x, saved
}

// passedOn reports whether a task waits with the question of another agent.
func passedOn(stored []byte) bool {
	_, private := splitExtensions(stored)
	return len(private) > 0 && private[0] == withQuestion
}
