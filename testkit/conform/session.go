package conform

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// What checks do with an agent: the first steps that many of them need.

// freshID makes an id that the agent has not seen.
func freshID() string { return fmt.Sprintf("%s%016x", idPrefix, rand.Uint64()) }

const idPrefix = "conform-"

// send sends a message; m.step nil is the text that the agent answers.
func (t *trial) send(m message, opts ...options) *exchange { return t.sendAs(opSend, m, opts...) }

// sendAs sends a message and waits for the answer, or for the stream.
func (t *trial) sendAs(o op, m message, opts ...options) *exchange {
	if m.step == nil {
		m.step = t.contract.Text
	}
	if m.id == "" {
		m.id = freshID()
	}
	return t.call(o, t.dialect.send(m), opts...)
}

// mustSend sends a message that the agent has to take. It ends the check if the answer is an error, or nothing.
func (t *trial) mustSend(m message) (*exchange, event) {
	x := t.send(m)
	return x, t.taken(x)
}

// taken returns the task or message of an answer, and ends the check if there is none.
func (t *trial) taken(x *exchange) event {
	if f := x.error(); f != nil {
		t.fatal(x, "the agent answers an error: %s", f)
	}
	e, ok := t.dialect.event(x.op, x.result)
	if !ok || e.kind != isTask && e.kind != isMessage {
		t.fatal(x, "the answer is neither a task nor a message")
	}
	return e
}

// answer returns the answer to the text, which is sent once for all checks of an interface.
func (t *trial) answer() (*exchange, event) {
	if t.first == nil {
		t.first = t.send(message{})
	}
	return t.first, t.taken(t.first)
}

// ended returns a task that has ended.
func (t *trial) ended() event {
	if t.done != nil {
		return *t.done
	}
	_, e := t.answer()
	if e.kind == isMessage {
		t.skip("the agent answers its text with a message and makes no task: a contract can name a text that does")
	}
	e = t.settled(e)
	if waits(e.state()) {
		t.skip("the agent asks back when it gets %q: a contract can name a text that it answers", clean(t.contract.Text.Text, 60))
	}
	t.done = &e
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
		e = t.taken(t.get(e.task(), nil))
	}
	return e
}

// get reads a task.
func (t *trial) get(id string, history *int) *exchange {
	return t.call(opGet, t.dialect.ofTask(id, func(params object) {
		if history != nil {
			params["historyLength"] = *history
		}
	}))
}

// step returns what a contract says of one thing, and ends the check if there is nothing.
func (t *trial) step(name string) *Step {
	if s := t.contract.steps()[name]; *s != nil {
		return *s
	}
	t.skip("nothing is known that makes the agent do it: name it in a contract (%s), or by the tag %s%s of a skill with examples", name, contractTag, name)
	return nil
}

// long returns a task that works until it is canceled.
func (t *trial) long() (*exchange, event) {
	if t.version() == "0.1" { // which cannot ask for an answer at once: a stream is left when it has begun
		t.needsStreaming()
		x := t.sendAs(opStream, message{step: t.step("long")}, options{until: func(*exchange) bool { return true }})
		return x, x.first()
	}
	x, e := t.mustSend(message{step: t.step("long"), immediate: true})
	if e.kind != isTask || ended(e.state()) || waits(e.state()) {
		t.skip("the text that the contract calls long does not work on: %s", e.describe())
	}
	return x, e
}

// cancel cancels a task.
func (t *trial) cancel(id string) *exchange { return t.call(opCancel, t.dialect.ofTask(id, nil)) }

// cleanup cancels a task whose check is over, whatever comes.
func (t *trial) cleanup(id string) { t.attempt(opCancel, t.dialect.ofTask(id, nil)) }

// describe says what an event is.
func (e event) describe() string {
	if s := e.state(); s != "" {
		return fmt.Sprintf("a %s in the state %s", e.kind, s)
	}
	return "a " + string(e.kind)
}

// needsStreaming ends a check of streams if the agent has none.
func (t *trial) needsStreaming() {
	if !t.capability("streaming") {
		t.skip("the card does not offer streaming")
	}
}

// history returns the messages of a task, artifacts what it has made.
func (e event) history() []object   { return objects(e.value["history"]) }
func (e event) artifacts() []object { return objects(e.value["artifacts"]) }

// said returns the message of a status; nil if there is none. The proto of 0.3 calls it update.
func (e event) said() object {
	status := asObject(e.value["status"])
	if m := asObject(status["message"]); m != nil {
		return m
	}
	return asObject(status["update"])
}

// holds writes artifacts so that they can be compared: the id of each, its texts as one, however they came, and its other
// parts.
func holds(artifacts []object) string {
	var b strings.Builder
	for _, a := range artifacts {
		fmt.Fprintf(&b, "%q: ", text(a, "artifactId"))
		for _, part := range objects(a["parts"]) {
			if s, ok := part["text"].(string); ok {
				b.WriteString(s)
			} else {
				b.Write(encode(plain(part)))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// words are the texts in parts of messages and artifacts, in order.
func words(holders ...object) string {
	var b strings.Builder
	for _, h := range holders {
		for _, name := range []string{"parts", "content"} {
			for _, part := range objects(h[name]) {
				b.WriteString(text(part, "text"))
			}
		}
	}
	return b.String()
}

func ptr[T any](v T) *T { return &v }
