package conform

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

var streamChecks = []*Check{
	{ID: "stream.events", Requirements: []string{"R8"}, Section: "1.0 §3.1.2; 0.3 §7.2", Level: Must, Scope: OnInterface,
		Sentence: "A streamed message is answered with a stream of events.", run: streamEvents},
	{ID: "stream.pattern", Requirements: []string{"R9", "R10"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A stream is one message, or the task and then its updates.",
		Differ:   "a2a-go begins with an update when a message goes on with a task; the SDK for JavaScript refuses that.", run: streamPattern},
	{ID: "stream.ends", Requirements: []string{"R10", "R171"}, Section: "1.0 §3.1.2, §11.7; 0.3 §7.2", Level: Must, Scope: OnInterface,
		Sentence: "A stream ends when its task has ended, and not before it has ended or waits.",
		Differ:   "whether a stream stays open while its task waits: §3.1.2 and §11.7 differ, and so do releases.", run: streamEnds},
	{ID: "stream.over", Requirements: []string{"R10", "R171"}, Section: "1.0 §3.1.2, §11.7; 0.3 §7.2", Level: Must, Scope: OnInterface,
		Sentence: "Nothing follows the event that ends a task, but the task itself.", run: streamOver},
	{ID: "stream.reply", Requirements: []string{"R9"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "reply",
		Sentence: "A stream of a message has that one event.", run: streamReply},
	{ID: "stream.live", Requirements: []string{"R11"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Versions: since02, Needs: "long",
		Sentence: "Events come while the task works, and not all at its end.", run: streamLive},
	{ID: "stream.unknown-task", Requirements: []string{"R60", "R38"}, Section: "1.0 §3.4.2; 0.3 §8.2", Level: Must, Scope: OnInterface, Versions: since02,
		Sentence: "A streamed message to a task that does not exist is answered TaskNotFound.", run: streamUnknownTask},
	{ID: "stream.final", Requirements: []string{"T39"}, Section: "0.3 §7.2.2", Level: Should, Scope: OnInterface, Versions: before1,
		Sentence: "The update that ends a stream has final true.", Differ: "some end a task with final false.", run: streamFinal},
	{ID: "stream.one-task", Requirements: []string{"R66", "R304"}, Section: "1.0 §4.2; 0.3 §7.2", Level: Must, Scope: OnInterface,
		Sentence: "All events of a stream are of one task and one context.", run: streamOneTask},
	{ID: "stream.agrees", Requirements: []string{"R66"}, Section: "1.0 §3.5.2", Level: Must, Scope: OnInterface,
		Sentence: "What a stream has said of a task is what the task says when it is read.", run: streamAgrees},
	{ID: "stream.once", Requirements: []string{"R66"}, Section: "1.0 §3.5.2", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "No update comes twice: a client would have its message twice.", run: streamOnce},
	{ID: "stream.chunks", Requirements: []string{"R11", "R66"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Needs: "stream",
		Sentence: "Partial results come as events of their own, in the order in which the task has them.", run: streamChunks},
	{ID: "subscribe.unknown", Requirements: []string{"R38", "R187"}, Section: "1.0 §3.1.6; 0.3 §7.9", Level: Must, Scope: OnInterface,
		Sentence: "Subscribing to a task that does not exist is answered TaskNotFound.", run: subscribeUnknown},
	{ID: "subscribe.ended", Requirements: []string{"R310"}, Section: "1.0 §3.1.6", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Subscribing to a task that has ended is answered UnsupportedOperation.", run: subscribeEnded},
	{ID: "subscribe.first", Requirements: []string{"R17"}, Section: "1.0 §3.1.6", Level: Must, Scope: OnInterface, Versions: only10, Needs: "long",
		Sentence: "A subscription begins with the task as it stands.", run: subscribeFirst},
	{ID: "subscribe.all", Requirements: []string{"R16", "R67", "R68", "R69"}, Section: "1.0 §3.1.6, §3.5.2", Level: Must, Scope: OnInterface, Needs: "long",
		Sentence: "Every subscription gets the same events until the task has ended, whatever becomes of others.", run: subscribeAll},
	{ID: "subscribe.auth", Requirements: []string{"R114"}, Section: "1.0 §7.6.1", Level: Should, Scope: OnInterface, Versions: only10, Needs: "auth",
		Sentence: "A stream stays open while its task waits for an authorization.",
		Differ:   "the SDK for Java keeps it open, those for Go and Python close it.", run: subscribeAuth},
}

// streamed streams the text, once for all checks of an interface.
func (t *trial) stream() *exchange {
	t.needsStreaming()
	if t.flow == nil {
		t.flow = t.sendAs(opStream, message{})
	}
	if f := t.flow.error(); f != nil {
		t.fatal(t.flow, "the agent answers an error: %s", f)
	}
	return t.flow
}

func streamEvents(t *trial) {
	x := t.stream()
	t.want(x.isStream(), x, "the answer is no stream of events")
	t.want(len(x.events) > 0, x, "the stream has no event")
	for i, s := range x.events {
		t.want(s.kind != "", x, "the event %d is neither a task nor a message nor an update", i+1)
	}
}

func streamPattern(t *trial) {
	x := t.stream()
	for i, s := range x.events {
		switch {
		case i == 0:
			t.want(s.kind == isTask || s.kind == isMessage, x, "the first event is a %s", s.kind)
		case s.kind == isMessage || x.events[0].kind == isMessage:
			t.fail(x, "there are %d events, and one of them is a message", len(x.events))
		}
	}
}

// last returns the state that the events end with; "" if there is none.
func (x *exchange) last() (state string) {
	for _, s := range x.events {
		if at := s.state(); at != "" {
			state = at
		}
	}
	return state
}

func streamEnds(t *trial) {
	x := t.stream()
	if len(x.events) == 0 || x.events[0].kind == isMessage {
		return
	}
	if errors.Is(x.err, errLate) && !ended(x.last()) && !waits(x.last()) {
		t.skip("the task still worked after %s", t.config.Timeout)
	}
	t.want(ended(x.last()) || waits(x.last()), x, "the stream ends in the state %q", x.last())
	t.want(x.closed || waits(x.last()), x, "the stream was still open after %s, although the task has ended: %v", t.config.Timeout, x.err)
}

func streamOver(t *trial) {
	x := t.stream()
	over := false
	for i, s := range x.events {
		t.want(!over || s.kind == isTask, x, "event %d, a %s, comes after the end of the task", i+1, s.kind)
		over = over || ended(s.state())
	}
}

func streamReply(t *trial) {
	t.needsStreaming()
	x := t.sendAs(opStream, message{step: t.step("reply")})
	if len(x.events) == 0 || x.events[0].kind != isMessage {
		t.skip("the text that the contract calls reply is answered with a task")
	}
	t.want(len(x.events) == 1, x, "the stream has %d events", len(x.events))
}

// streamLive leaves the stream with its first event, and cancels the task.
func streamLive(t *trial) {
	t.needsStreaming()
	x := t.attempt(opStream, t.dialect.send(message{step: t.step("long"), id: freshID()}), options{until: func(*exchange) bool { return true }})
	if f := x.error(); f != nil {
		t.fatal(x, "the agent answers an error: %s", f)
	}
	t.want(len(x.events) > 0, x, "no event has come after %s: %v", t.config.Timeout, x.err)
	if id := x.first().task(); id != "" {
		t.cleanup(id)
	}
}

func streamUnknownTask(t *trial) {
	t.needsStreaming()
	t.wantError(t.sendAs(opStream, message{task: freshID()}), errTaskNotFound)
}

func streamFinal(t *trial) {
	x := t.stream()
	if len(x.events) == 0 || x.events[0].kind == isMessage {
		t.skip("the stream has no update")
	}
	last := x.events[len(x.events)-1]
	t.want(last.kind == isTask || last.value["final"] == true, x, "the last event does not have final true")
}

func streamOneTask(t *trial) {
	x := t.stream()
	for _, s := range x.events {
		if s.kind == isMessage {
			continue
		}
		first := x.events[0]
		t.want(s.task() == first.task(), x, "events are of the tasks %q and %q", clean(first.task(), 80), clean(s.task(), 80))
		t.want(t.version() == "0.1" || s.context() == first.context(), x, "events are of the contexts %q and %q", clean(first.context(), 80), clean(s.context(), 80))
	}
}

func streamAgrees(t *trial) {
	x := t.stream()
	if len(x.events) == 0 || x.events[0].kind == isMessage || !ended(x.last()) {
		t.skip("the stream is of no task that has ended")
	}
	t.agrees(x)
}

// agrees compares the task that a client has who follows a stream to its end with the task that is read. What was lost,
// doubled or put elsewhere shows in it.
func (t *trial) agrees(x *exchange) {
	got := t.get(x.first().task(), nil)
	e := t.taken(got)
	t.want(e.state() == x.last(), got, "the stream ended in the state %s, and the task is %s", x.last(), e.state())
	made, orphans := x.assembled()
	t.want(len(orphans) == 0, x, "an event is appended to the artifact %q, which was not there before it",
		clean(strings.Join(orphans, ", "), 120))
	t.want(holds(made) == holds(e.artifacts()), x, "the events make the artifacts %s and the task has %s",
		clean(holds(made), 300), clean(holds(e.artifacts()), 300))
	before := ""
	for _, s := range x.events {
		at := text(s.value, "status", "timestamp")
		t.want(t.version() != "1.0" || !later(before, at), x, "a status of %s comes after one of %s", clean(at, 40), clean(before, 40))
		if at != "" {
			before = at
		}
	}
}

// assembled returns the artifacts that the events make, and the ids of those to which an event was appended although there
// was nothing.
func (x *exchange) assembled() (made []object, orphans []string) {
	place := func(a object, more bool) {
		same := func(b object) bool {
			return text(a, "artifactId") == text(b, "artifactId") && bytes.Equal(encode(a["index"]), encode(b["index"]))
		}
		switch i := slices.IndexFunc(made, same); {
		case i < 0:
			made = append(made, a)
			if more {
				orphans = append(orphans, text(a, "artifactId"))
			}
		case more:
			older, _ := made[i]["parts"].([]any)
			parts, _ := a["parts"].([]any)
			whole := maps.Clone(made[i])
			whole["parts"] = slices.Concat(older, parts)
			made[i] = whole
		default:
			made[i] = a
		}
	}
	for _, s := range x.events {
		switch s.kind {
		case isTask:
			for _, a := range s.artifacts() {
				place(a, false)
			}
		case isArtifact:
			a := asObject(s.value["artifact"])
			place(a, s.value["append"] == true || a["append"] == true)
		}
	}
	return made, orphans
}

// streamOnce compares status updates that have a time and a message: of others it cannot be known whether they are one or
// two.
func streamOnce(t *trial) {
	x := t.stream()
	seen := map[string]bool{}
	for _, s := range x.events {
		if s.kind != isStatus || text(s.value, "status", "timestamp") == "" || text(s.said(), "messageId") == "" {
			continue
		}
		update := string(encode(s.value))
		t.want(!seen[update], x, "an update comes twice: %s", clean(update, 300))
		seen[update] = true
	}
}

func streamChunks(t *trial) {
	t.needsStreaming()
	x := t.sendAs(opStream, message{step: t.step("stream")})
	n := 0
	for _, s := range x.events {
		if s.kind == isArtifact {
			n++
		}
	}
	t.want(n > 1, x, "the stream has %d artifact updates", n)
	if ended(x.last()) {
		t.agrees(x)
	}
}

func subscribeUnknown(t *trial) {
	t.needsStreaming()
	t.wantError(t.call(opSubscribe, t.dialect.ofTask(freshID(), nil)), errTaskNotFound)
}

func subscribeEnded(t *trial) {
	t.needsStreaming()
	t.wantError(t.call(opSubscribe, t.dialect.ofTask(t.ended().task(), nil)), errUnsupported)
}

func subscribeFirst(t *trial) {
	t.needsStreaming()
	_, e := t.long()
	x := t.call(opSubscribe, t.dialect.ofTask(e.task(), nil), options{until: func(*exchange) bool { return true }})
	t.want(x.first().kind == isTask && x.first().task() == e.task(), x, "the first event is not the task %q", e.task())
	t.cleanup(e.task())
}

// first returns the first event of a stream, which is decoded as it is read.
func (x *exchange) first() event {
	if len(x.events) == 0 {
		return event{d: x.dialect}
	}
	return x.events[0].event
}

// subscribeAll opens a subscription, with its first event a second one that it closes, and then cancels the task. Calls are nested, so
// that nothing runs at once but what the agent does.
func subscribeAll(t *trial) {
	t.needsStreaming()
	_, e := t.long()
	var second *exchange
	canceled := false
	x := t.attempt(opSubscribe, t.dialect.ofTask(e.task(), nil), options{until: func(*exchange) bool {
		if !canceled {
			canceled = true
			second = t.attempt(opSubscribe, t.dialect.ofTask(e.task(), nil), options{until: func(*exchange) bool { return true }})
			t.cleanup(e.task())
		}
		return false
	}})
	switch {
	case canceled:
	case t.version() != "1.0" && x.error() == nil: // a subscription may begin with what happens next
		t.cleanup(e.task())
		t.skip("the subscription had no first event")
	case x.err != nil:
		t.unanswered(x)
	default:
		t.cleanup(e.task())
		t.fatal(x, "the subscription has no event")
	}
	if t.version() != "1.0" && len(second.events) == 0 {
		t.skip("the second subscription had no first event")
	}
	t.want(second.err == nil && len(second.events) > 0, second, "a second subscription gets nothing")
	t.want(x.last() == "canceled", x, "after another subscription was closed and the task canceled, the stream ends in the state %q", x.last())
	t.want(x.closed, x, "the stream was still open after the task had ended: %v", x.err)
}

// subscribeAuth cancels the task as soon as it waits: a stream that is open says so.
func subscribeAuth(t *trial) {
	t.needsStreaming()
	task := ""
	x := t.call(opStream, t.dialect.send(message{step: t.step("auth"), id: freshID()}), options{until: func(x *exchange) bool {
		if task == "" && bytes.Contains(x.body, []byte(t.dialect.stateOnWire("auth-required"))) {
			task = taskID(x.events)
			t.cleanup(task)
		}
		return false
	}})
	if task == "" {
		t.skip("the text that the contract calls auth does not wait for an authorization")
	}
	t.want(x.last() == "canceled", x, "the stream is closed in the state %q", x.last())
}

// taskID looks for the id of the task in events that are not decoded yet.
func taskID(events []streamed) string {
	for _, s := range events {
		o := asObject(s.raw)
		if result, ok := o["result"].(object); ok {
			o = result
		}
		for _, inner := range []any{o, o["task"], o["statusUpdate"], o["artifactUpdate"]} {
			if id := text(inner, "taskId") + text(inner, "id"); id != "" {
				return id
			}
		}
	}
	return ""
}

// later compares times to the millisecond: not every part of an agent keeps more of them. Without a time there is nothing
// to compare.
func later(a, b string) bool {
	ta, errA := time.Parse(time.RFC3339, a)
	tb, errB := time.Parse(time.RFC3339, b)
	return errA == nil && errB == nil && ta.Truncate(time.Millisecond).After(tb.Truncate(time.Millisecond))
}
