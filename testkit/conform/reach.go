package conform

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// stage is what a check begins with. The row of a check names the stages that the agent has to reach before the check runs.
type (
	stage  int
	stages []stage
)

const (
	streamOffered    stage = iota // by the card
	pushOffered                   // by the card, and the suite's webhook listens
	extendedOffered               // by the card
	credentialsKnown              // the card demands credentials, and they are given
	textAnswered                  // t.x is the answer to the text, and t.at its task or message
	textStreamed                  // t.x is the stream of the text
	textPushed                    // t.notifications are those of the text's task
	somethingPushed               // the same, and that is not nothing
	taskEnded                     // t.at is a task that has ended
	tasksInContext                // t.conversation is a context with at least two tasks
	taskWorks                     // t.at is a task that works until it is canceled, and t.x what it came with
	taskAsks                      // t.at is a task that waits for an answer
	taskNeedsAuth                 // t.at is a task that waits for an authorization
	taskToPush                    // t.at is a task to which webhooks can be added; it is canceled when the check is over
	taskPushed                    // the same, and t.webhookConfig is a webhook of it
)

// reach brings the agent to a stage, and ends the check if it cannot. What all checks of an interface can share is made once.
func (t *trial) reach(s stage) {
	switch s {
	case streamOffered:
		if !t.capability("streaming") {
			t.skip("the card does not offer streaming")
		}
	case pushOffered:
		if !t.capability("pushNotifications") {
			t.skip("the card does not offer push notifications")
		}
		if err := t.listen(); err != nil {
			t.skip("%v", err)
		}
	case extendedOffered:
		if !t.offersExtended() {
			t.skip("the card offers no extended card")
		}
	case credentialsKnown:
		demanded := member(t.value, "authentication", "schemes") != nil
		for _, name := range []string{"securityRequirements", "security"} {
			list := objects(t.value[name])
			anonymous := func(requirement object) bool { // it is met by anybody
				schemes, ok := requirement["schemes"].(object)
				return len(requirement) == 0 || ok && len(schemes) == 0
			}
			demanded = demanded || len(list) > 0 && !slices.ContainsFunc(list, anonymous)
		}
		if !demanded {
			t.skip("the card demands no credentials")
		}
		if len(t.config.Header) == 0 {
			t.skip("no credentials are given")
		}
	case textAnswered:
		if t.first == nil {
			t.first = t.send(message{})
		}
		t.x, t.at = t.first, t.taken(t.first)
	case textStreamed:
		t.reach(streamOffered)
		if t.textStream == nil {
			t.textStream = t.send(message{stream: true})
		}
		t.x = t.textStream
		t.noError(t.x, anError)
	case textPushed:
		t.reach(pushOffered)
		if t.notifications != nil {
			return
		}
		c := newPush(t.webhook)
		x := t.send(message{change: func(params object) { t.dialect.withPush(params, c) }})
		t.reachable(x, c)
		if t.taken(x).kind == isMessage {
			t.skip(noTask)
		}
		if t.notifications = t.deliveries(c, t.dialect.someEnd); t.notifications == nil {
			t.notifications = []delivery{}
		}
	case somethingPushed:
		if t.reach(textPushed); len(t.notifications) == 0 {
			t.skip("nothing is sent to the webhook")
		}
	case taskEnded:
		if t.done == nil {
			if t.reach(textAnswered); t.at.kind == isMessage {
				t.skip(noTask)
			}
			e := t.settled(t.at)
			if waits(e.state()) {
				t.skip("the agent asks back when it gets %q: a contract can name a text that it answers", clean(t.contract.Text.Text, 60))
			}
			t.done = &e
		}
		t.at = *t.done
	case tasksInContext:
		if t.conversation != nil {
			return
		}
		t.reach(taskEnded)
		first := t.at
		_, second := t.mustSend(message{context: first.context()})
		if second.kind == isTask {
			second = t.settled(second)
		}
		if second.kind != isTask || second.context() != first.context() || first.context() == "" {
			t.skip("the agent does not make a second task in a context")
		}
		// Other checks may have made more tasks in the context: the list is asked for once.
		_, page := t.list(object{"contextId": first.context(), "pageSize": 100})
		made := &conversation{context: first.context()}
		for _, task := range objects(page["tasks"]) {
			made.ids = append(made.ids, text(task, "id"))
		}
		for _, e := range []event{first, second} {
			if !slices.Contains(made.ids, e.task()) {
				t.skip("a list of the context does not have its task %q: see list.filter", e.task())
			}
		}
		t.conversation = made
	case taskWorks:
		if t.version() == "0.1" { // which cannot ask for an answer at once: a stream is left when it has begun
			t.reach(streamOffered)
			t.x = t.send(message{stream: true, step: t.step("long")}, options{until: atOnce})
			t.at = t.x.first()
			return
		}
		t.x, t.at = t.mustSend(message{step: t.step("long"), immediate: true})
		if t.at.kind != isTask || ended(t.at.state()) || waits(t.at.state()) {
			t.skip("the text that the contract calls long does not work on: %s", t.at.describe())
		}
	case taskAsks:
		if t.x, t.at = t.mustSend(message{step: t.step("ask")}); t.at.kind == isTask {
			t.at = t.settled(t.at)
		}
		if t.at.state() != "input-required" {
			t.skip("the text that the contract calls ask does not ask back: the answer is %s", t.at.describe())
		}
	case taskNeedsAuth:
		if t.x, t.at = t.mustSend(message{step: t.step("auth")}); t.at.kind != isTask || t.at.state() != "auth-required" {
			t.skip(noAuth)
		}
	case taskToPush:
		t.reach(pushOffered)
		switch {
		case t.contract.Long != nil:
			t.reach(taskWorks)
			t.cancels = t.at.task()
		case t.contract.Ask != nil:
			t.reach(taskAsks)
			t.cancels = t.at.task()
		default:
			t.reach(taskEnded)
		}
	case taskPushed:
		t.reach(taskToPush)
		t.webhookConfig = newPush(t.webhook)
		x := t.createPush(t.at.task(), t.webhookConfig)
		t.noError(x, "a webhook is refused")
		if made, _ := t.dialect.readPush(x.result); made.id != "" {
			t.webhookConfig.id = made.id
		}
	}
}

// Why a stage cannot be reached.
const (
	anError = "the agent answers an error"
	noTask  = "the agent answers its text with a message and makes no task: a contract can name a text that does"
	noAuth  = "the text that the contract calls auth does not wait for an authorization"
)

// atOnce ends the reading of a stream with its first event.
func atOnce(*exchange) bool { return true }

// conversation is a context and its tasks.
type conversation struct {
	context string
	ids     []string
}

// step returns a step of the contract, and ends the check if there is none.
func (t *trial) step(name string) *Step {
	if s := t.contract.steps()[name]; *s != nil {
		return *s
	}
	t.skip("nothing is known that makes the agent do it: name it in a contract (%s), or by the tag %s%s of a skill with examples", name, contractTag, name)
	return nil
}

// freshID makes an id that the agent has not seen.
func freshID() string { return fmt.Sprintf("%s%016x", idPrefix, rand.Uint64()) }

const idPrefix = "conform-"

// send sends a message, whose step is the text that the agent answers if there is none.
func (t *trial) send(m message, opts ...options) *exchange {
	if m.step == nil {
		m.step = t.contract.Text
	}
	o := opSend
	if m.stream {
		o = opStream
	}
	return t.call(o, t.dialect.send(m), opts...)
}

// mustSend sends a message that the agent has to take. It ends the check if the answer is an error, or nothing.
func (t *trial) mustSend(m message) (*exchange, event) {
	x := t.send(m)
	return x, t.taken(x)
}

// noError ends the check if an answer is an error, with what that means.
func (t *trial) noError(x *exchange, what string) {
	f := x.error()
	optional := t.version() != "1.0" && (x.op == opPushList || x.op == opPushDelete) // 0.3 §11.1.2
	switch {
	case f == nil:
	case optional && (f.is(errMethod, t.version()) || f.is(errUnsupported, t.version())):
		t.skip("the agent does not have the operation, which A2A %s does not require", t.Version)
	default:
		t.fatal(x, "%s: %s", what, f)
	}
}

// taken returns the task or message of an answer, and ends the check if there is none.
func (t *trial) taken(x *exchange) event {
	t.noError(x, anError)
	e, ok := t.dialect.event(x.op, x.result)
	if !ok || e.kind != isTask && e.kind != isMessage {
		t.fatal(x, "the answer is neither a task nor a message")
	}
	return e
}

// settled waits until a task has ended or waits for its client.
func (t *trial) settled(e event) event {
	for pause, left := 20*time.Millisecond, t.config.Timeout; !ended(e.state()) && !waits(e.state()); pause = min(2*pause, time.Second) {
		if left -= pause; left < 0 {
			t.skip("a task was still %q after %s", e.state(), t.config.Timeout)
		}
		select {
		case <-t.ctx.Done():
			t.skip("%v", t.ctx.Err())
		case <-time.After(pause):
		}
		e = t.taken(t.onTask(opGet, e.task()))
	}
	return e
}

// onTask calls an operation on a task.
func (t *trial) onTask(o op, id string, opts ...options) *exchange {
	params := t.dialect.ofTask(id)
	if len(opts) > 0 && opts[0].history != nil {
		params["historyLength"] = *opts[0].history
	}
	return t.call(o, params, opts...)
}

// cleanup cancels a task whose check is over. The answer does not matter.
func (t *trial) cleanup(id string) { t.attempt(opCancel, t.dialect.ofTask(id)) }

func ptr[T any](v T) *T { return &v }
