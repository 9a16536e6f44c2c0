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
		Sentence: "A streamed message is answered with a stream of events.", reach: stages{textStreamed}, run: func(t *trial) {
			t.want(t.x.isStream(), t.x, "the answer is no stream of events")
			t.want(len(t.x.events) > 0, t.x, "the stream has no event")
			for i, s := range t.x.events {
				t.want(s.kind != "", t.x, "the event %d is neither a task nor a message nor an update", i+1)
			}
		}},
	{ID: "stream.pattern", Requirements: []string{"R9", "R10"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A stream is one message, or the task and then its updates.",
		Differ:   "a2a-go begins with an update when a message goes on with a task; the SDK for JavaScript refuses that.", reach: stages{textStreamed}, run: func(t *trial) {
			for i, s := range t.x.events {
				switch {
				case i == 0:
					t.want(s.kind == isTask || s.kind == isMessage, t.x, "the first event is a %s", s.kind)
				case s.kind == isMessage || t.x.events[0].kind == isMessage:
					t.fail(t.x, "there are %d events, and one of them is a message", len(t.x.events))
				}
			}
		}},
	{ID: "stream.ends", Requirements: []string{"R10", "R171"}, Section: "1.0 §3.1.2, §11.7; 0.3 §7.2", Level: Must, Scope: OnInterface,
		Sentence: "A stream ends when its task has ended, and not before it has ended or waits.",
		Differ:   "whether a stream stays open while its task waits: §3.1.2 and §11.7 differ, and so do releases.", reach: stages{textStreamed}, run: func(t *trial) {
			if len(t.x.events) == 0 || t.x.events[0].kind == isMessage {
				return
			}
			if errors.Is(t.x.err, errLate) && !ended(t.x.last()) && !waits(t.x.last()) {
				t.skip("the task still worked after %s", t.config.Timeout)
			}
			t.want(ended(t.x.last()) || waits(t.x.last()), t.x, "the stream ends in the state %q", t.x.last())
			t.want(t.x.closed || waits(t.x.last()), t.x, "the stream was still open after %s, although the task has ended: %v", t.config.Timeout, t.x.err)
		}},
	{ID: "stream.over", Requirements: []string{"R10", "R171"}, Section: "1.0 §3.1.2, §11.7; 0.3 §7.2", Level: Must, Scope: OnInterface,
		Sentence: "Nothing follows the event that ends a task, but the task itself.", reach: stages{textStreamed}, run: func(t *trial) {
			over := false
			for i, s := range t.x.events {
				t.want(!over || s.kind == isTask, t.x, "event %d, a %s, comes after the end of the task", i+1, s.kind)
				over = over || ended(s.state())
			}
		}},
	{ID: "stream.reply", Requirements: []string{"R9"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "reply",
		Sentence: "A stream of a message has that one event.", reach: stages{streamOffered}, run: func(t *trial) {
			x := t.send(message{stream: true, step: t.step("reply")})
			if len(x.events) == 0 || x.events[0].kind != isMessage {
				t.skip("the text that the contract calls reply is answered with a task")
			}
			t.want(len(x.events) == 1, x, "the stream has %d events", len(x.events))
		}},
	{ID: "stream.live", Requirements: []string{"R11"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Versions: since02, Needs: "long",
		Sentence: "Events come while the task works, and not all at its end.", reach: stages{streamOffered}, run: func(t *trial) { // it leaves the stream with its first event
			x := t.attempt(opStream, t.dialect.send(message{step: t.step("long")}), options{until: atOnce})
			t.noError(x, anError)
			t.want(len(x.events) > 0, x, "no event has come after %s: %v", t.config.Timeout, x.err)
			if id := x.first().task(); id != "" {
				t.cleanup(id)
			}
		}},
	{ID: "stream.unknown-task", Requirements: []string{"R60", "R38"}, Section: "1.0 §3.4.2; 0.3 §8.2", Level: Must, Scope: OnInterface, Versions: since02,
		Sentence: "A streamed message to a task that does not exist is answered TaskNotFound.", reach: stages{streamOffered}, run: func(t *trial) {
			t.wantError(t.send(message{stream: true, task: freshID()}), errTaskNotFound)
		}},
	{ID: "stream.final", Requirements: []string{"T39"}, Section: "0.3 §7.2.2", Level: Should, Scope: OnInterface, Versions: before1,
		Sentence: "The update that ends a stream has final true.", Differ: "some end a task with final false.", reach: stages{textStreamed}, run: func(t *trial) {
			if len(t.x.events) == 0 || t.x.events[0].kind == isMessage {
				t.skip("the stream has no update")
			}
			last := t.x.events[len(t.x.events)-1]
			t.want(last.kind == isTask || last.value["final"] == true, t.x, "the last event does not have final true")
		}},
	{ID: "stream.one-task", Requirements: []string{"R66", "R304"}, Section: "1.0 §4.2; 0.3 §7.2", Level: Must, Scope: OnInterface,
		Sentence: "All events of a stream are of one task and one context.", reach: stages{textStreamed}, run: func(t *trial) {
			for _, s := range t.x.events {
				if s.kind == isMessage {
					continue
				}
				first := t.x.events[0]
				t.want(s.task() == first.task(), t.x, "events are of the tasks %q and %q", clean(first.task(), 80), clean(s.task(), 80))
				t.want(t.version() == "0.1" || s.context() == first.context(), t.x, "events are of the contexts %q and %q", clean(first.context(), 80), clean(s.context(), 80))
			}
		}},
	{ID: "stream.agrees", Requirements: []string{"R66"}, Section: "1.0 §3.5.2", Level: Must, Scope: OnInterface,
		Sentence: "What a stream has said of a task is what the task says when it is read.", reach: stages{textStreamed}, run: func(t *trial) {
			if len(t.x.events) == 0 || t.x.events[0].kind == isMessage || !ended(t.x.last()) {
				t.skip("the stream is of no task that has ended")
			}
			t.agrees(t.x)
		}},
	{ID: "stream.once", Requirements: []string{"R66"}, Section: "1.0 §3.5.2", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "No update comes twice: a client would have its message twice.", reach: stages{textStreamed}, run: func(t *trial) {
			seen := map[string]bool{}
			for _, s := range t.x.events {
				// Of updates without a time and a message it cannot be known whether they are one or two.
				if s.kind != isStatus || text(s.value, "status", "timestamp") == "" || text(s.statusMessage(), "messageId") == "" {
					continue
				}
				update := string(encode(s.value))
				t.want(!seen[update], t.x, "an update comes twice: %s", clean(update, 300))
				seen[update] = true
			}
		}},
	{ID: "stream.chunks", Requirements: []string{"R11", "R66"}, Section: "1.0 §3.1.2", Level: Must, Scope: OnInterface, Needs: "stream",
		Sentence: "Partial results come as events of their own, in the order in which the task has them.", reach: stages{streamOffered}, run: func(t *trial) {
			x := t.send(message{stream: true, step: t.step("stream")})
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
		}},
	{ID: "subscribe.unknown", Requirements: []string{"R38", "R187"}, Section: "1.0 §3.1.6; 0.3 §7.9", Level: Must, Scope: OnInterface,
		Sentence: "Subscribing to a task that does not exist is answered TaskNotFound.", reach: stages{streamOffered}, run: func(t *trial) {
			t.wantError(t.onTask(opSubscribe, freshID()), errTaskNotFound)
		}},
	{ID: "subscribe.ended", Requirements: []string{"R310"}, Section: "1.0 §3.1.6", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Subscribing to a task that has ended is answered UnsupportedOperation.", reach: stages{streamOffered, taskEnded}, run: func(t *trial) {
			t.wantError(t.onTask(opSubscribe, t.at.task()), errUnsupported)
		}},
	{ID: "subscribe.first", Requirements: []string{"R17"}, Section: "1.0 §3.1.6", Level: Must, Scope: OnInterface, Versions: only10, Needs: "long",
		Sentence: "A subscription begins with the task as it stands.", reach: stages{streamOffered, taskWorks}, run: func(t *trial) {
			x := t.onTask(opSubscribe, t.at.task(), options{until: atOnce})
			t.want(x.first().kind == isTask && x.first().task() == t.at.task(), x, "the first event is not the task %q", t.at.task())
			t.cleanup(t.at.task())
		}},
	{ID: "subscribe.all", Requirements: []string{"R16", "R67", "R68", "R69"}, Section: "1.0 §3.1.6, §3.5.2", Level: Must, Scope: OnInterface, Needs: "long",
		Sentence: "Every subscription gets the same events until the task has ended, whatever becomes of others.", reach: stages{streamOffered, taskWorks}, run: func(t *trial) {
			// With the first event of a subscription a second one is opened and closed, and the task is canceled. Calls are nested, so
			// that nothing runs at once but what the agent does.
			e := t.at
			var second *exchange
			canceled := false
			x := t.attempt(opSubscribe, t.dialect.ofTask(e.task()), options{until: func(*exchange) bool {
				if !canceled {
					canceled = true
					second = t.attempt(opSubscribe, t.dialect.ofTask(e.task()), options{until: atOnce})
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
				t.answered(x)
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
		}},
	{ID: "subscribe.auth", Requirements: []string{"R114"}, Section: "1.0 §7.6.1", Level: Should, Scope: OnInterface, Versions: only10, Needs: "auth",
		Sentence: "A stream stays open while its task waits for an authorization.",
		Differ:   "the SDK for Java keeps it open, those for Go and Python close it.", reach: stages{streamOffered}, run: func(t *trial) {
			// The task is canceled as soon as it waits: a stream that is open says so.
			task := ""
			x := t.send(message{stream: true, step: t.step("auth")}, options{until: func(x *exchange) bool {
				if e := x.events[len(x.events)-1]; task == "" && e.state() == "auth-required" {
					task = e.task()
					t.cleanup(task)
				}
				return false
			}})
			if task == "" {
				t.skip(noAuth)
			}
			t.want(x.last() == "canceled", x, "the stream is closed in the state %q", x.last())
		}},
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

// agrees compares the task that a client has who follows a stream to its end with the task that is read. What was lost,
// doubled or put elsewhere shows in it.
func (t *trial) agrees(x *exchange) {
	got := t.onTask(opGet, x.first().task())
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

// first returns the first event of a stream, which is decoded as it is read.
func (x *exchange) first() event {
	if len(x.events) == 0 {
		return event{d: x.dialect}
	}
	return x.events[0].event
}

// later compares times to the millisecond: not every part of an agent keeps more of them. Without a time there is nothing
// to compare.
func later(a, b string) bool {
	ta, errA := time.Parse(time.RFC3339, a)
	tb, errB := time.Parse(time.RFC3339, b)
	return errA == nil && errB == nil && ta.Truncate(time.Millisecond).After(tb.Truncate(time.Millisecond))
}
