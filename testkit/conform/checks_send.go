package conform

var (
	since02 = []string{"0.2", "0.3", "1.0"}
	before1 = []string{"0.1", "0.2", "0.3"}
)

// sendChecks begin with the one that finds out whether an interface answers.
var sendChecks = []*Check{
	{ID: "interface.answers", Requirements: []string{"R122", "R124", "Q25"}, Section: "1.0 §8.3.1; 0.3 §5.6", Level: Must, Scope: OnInterface,
		Sentence: "An interface of the card speaks the version and binding that the card says.", run: func(t *trial) {
			x := t.attempt(opSend, t.dialect.send(message{step: t.contract.Text}))
			f := x.error()
			switch {
			case x.err != nil:
				t.givenUp = "nothing answers there: " + clean(x.err.Error(), 200)
				t.fatal(x, "no answer: %v", x.err)
			case x.status >= 300 && x.status < 400:
				t.givenUp = "it is redirected"
				t.fatal(x, "it is redirected to %s", clean(redacted(x.header.Get("Location")), 200))
			case f.refused():
				t.givenUp = "the agent refuses the caller: give it credentials, as --header 'Authorization: Bearer …'"
				t.skip("%s", t.givenUp)
			case f.is(errMethod, t.version()) || f.is(errVersion, t.version()):
				t.givenUp = "it does not speak the version of the card"
				t.fatal(x, "it does not speak A2A %s: %s", t.Version, f)
			}
			t.first = x
		}},
	{ID: "send.answer", Requirements: []string{"R7"}, Section: "1.0 §3.1.1; 0.3 §7.1", Level: Must, Scope: OnInterface,
		Sentence: "A message is answered with a task or a message.", reach: stages{textAnswered}, run: func(t *trial) {}},
	{ID: "send.waits", Requirements: []string{"R24"}, Section: "1.0 §3.2.2", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A send without returnImmediately waits until the task has ended or waits for its client.",
		Differ:   "§3.1.1 says that a send returns at once, §3.2.2 that it waits; official releases wait.", reach: stages{textAnswered}, run: func(t *trial) {
			t.want(t.at.kind == isMessage || ended(t.at.state()) || waits(t.at.state()), t.x, "the answer is %s", t.at.describe())
		}},
	{ID: "send.at-once", Requirements: []string{"R25"}, Section: "1.0 §3.2.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "long",
		Sentence: "With returnImmediately the answer comes while the task still works.", run: func(t *trial) {
			x, e := t.mustSend(message{step: t.step("long"), immediate: true})
			t.want(e.kind == isMessage || !ended(e.state()), x, "the answer is %s", e.describe())
			if e.kind == isTask {
				t.cleanup(e.task())
			}
		}},
	{ID: "send.context", Requirements: []string{"R51"}, Section: "1.0 §3.4.1; 0.3 §6.1", Level: Must, Scope: OnInterface, Versions: since02,
		Sentence: "The answer has the id of the context, which the agent made.", reach: stages{textAnswered}, run: func(t *trial) {
			t.want(t.at.context() != "", t.x, "the %s has no contextId", t.at.kind)
		}},
	{ID: "send.context-kept", Requirements: []string{"R52"}, Section: "1.0 §3.4.1", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A context id of the client is taken or refused, never replaced.", run: func(t *trial) {
			id := freshID()
			x := t.send(message{context: id})
			if x.error() != nil {
				return // it may be refused
			}
			e := t.taken(x)
			t.want(e.context() == id, x, "the context is %q, not that of the client, %q", clean(e.context(), 80), id)
		}},
	{ID: "send.context-goes-on", Requirements: []string{"R55"}, Section: "1.0 §3.4.1", Level: Should, Scope: OnInterface, Versions: since02,
		Sentence: "A message in the context of an earlier one stays in it.", reach: stages{textAnswered}, run: func(t *trial) {
			if t.at.context() == "" {
				t.skip("the agent gives no context")
			}
			x, e := t.mustSend(message{context: t.at.context()})
			t.want(e.context() == t.at.context(), x, "the context is %q, not %q", clean(e.context(), 80), t.at.context())
		}},
	{ID: "send.task-id", Requirements: []string{"R57", "R58"}, Section: "1.0 §3.4.2", Level: Must, Scope: OnInterface, Versions: since02,
		Sentence: "Each new task has an id of its own.", reach: stages{taskEnded}, run: func(t *trial) {
			x, e := t.mustSend(message{})
			t.want(e.kind == isMessage || e.task() != "" && e.task() != t.at.task(), x, "two tasks have the id %q", clean(e.task(), 80))
		}},
	{ID: "send.unknown-task", Requirements: []string{"R60", "R38"}, Section: "1.0 §3.4.2; 0.3 §8.2", Level: Must, Scope: OnInterface, Versions: since02,
		Sentence: "A message to a task that does not exist is answered TaskNotFound.", run: func(t *trial) { t.wantError(t.send(message{task: freshID()}), errTaskNotFound) }},
	{ID: "send.ended-task", Requirements: []string{"Q29"}, Section: "1.0 §3.1.1, §3.2.2; 0.3 §6.1", Level: Must, Scope: OnInterface, Versions: since02,
		Sentence: "A message to a task that has ended is refused, in 1.0 as UnsupportedOperation.",
		Differ:   "a2a-go 2.4 answers InvalidParams where 1.0 has UnsupportedOperation; 0.3 does not say which error it is.", reach: stages{taskEnded}, run: func(t *trial) {
			x := t.send(message{task: t.at.task(), context: t.at.context()})
			if t.version() == "1.0" {
				t.wantError(x, errUnsupported)
				return
			}
			t.want(x.error() != nil, x, "the task %s takes a message although it has ended", t.at.task())
		}},
	{ID: "send.foreign-context", Requirements: []string{"R62"}, Section: "1.0 §3.4.3", Level: Must, Scope: OnInterface, Versions: only10, Needs: "ask",
		Sentence: "A message to a task with the id of another context is refused.", reach: stages{taskAsks}, run: func(t *trial) {
			x := t.send(message{step: t.contract.Ask.saying(t.contract.Ask.Answer), task: t.at.task(), context: freshID()})
			t.want(x.error() != nil, x, "a message with another context is taken")
			t.cleanup(t.at.task())
		}},
	{ID: "send.infers-context", Requirements: []string{"R61", "R28"}, Section: "1.0 §3.4.3", Level: Must, Scope: OnInterface, Versions: since02, Needs: "ask",
		Sentence: "The answer to a question, with the task's id alone, goes on with that task in its context.", reach: stages{taskAsks}, run: func(t *trial) {
			x, next := t.mustSend(message{step: t.contract.Ask.saying(t.contract.Ask.Answer), task: t.at.task()})
			if next.kind != isTask {
				return
			}
			next = t.settled(next)
			t.want(next.task() == t.at.task(), x, "the answer is about the task %q, not %q", clean(next.task(), 80), t.at.task())
			t.want(next.context() == t.at.context(), x, "the context is %q, not %q", clean(next.context(), 80), t.at.context())
			if !ended(next.state()) {
				t.cleanup(t.at.task())
			}
		}},
	{ID: "send.no-history", Requirements: []string{"R300"}, Section: "1.0 §3.2.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "With historyLength 0 the answer has no messages of history.",
		Differ:   "0.3's proto takes 0 for no limit.", run: func(t *trial) {
			x, e := t.mustSend(message{history: ptr(0)})
			t.want(len(e.history()) == 0, x, "the answer has %d messages of history", len(e.history()))
		}},
	{ID: "send.reply", Requirements: []string{"R304"}, Section: "1.0 §4.1.4; 0.3 §6.4", Level: Must, Scope: OnInterface, Versions: since02, Needs: "reply",
		Sentence: "An answer without a task is a message of the agent, in a context and in no task.", run: func(t *trial) {
			x, e := t.mustSend(message{step: t.step("reply")})
			if e.kind != isMessage {
				t.skip("the text that the contract calls reply is answered with a task")
			}
			t.want(text(e.value, "taskId") == "", x, "the message names a task, and there is none")
			t.want(text(e.value, "messageId") != "", x, "the message has no messageId")
		}},
	{ID: "send.auth", Requirements: []string{"R110", "R111", "R112"}, Section: "1.0 §7.6.1; 0.3 §4.5", Level: Must, Scope: OnInterface, Versions: since02, Needs: "auth",
		Sentence: "What needs an authorization on the way is a task in auth-required, whose message says which.", run: func(t *trial) {
			x, e := t.mustSend(message{step: t.step("auth")})
			t.want(e.kind == isTask && e.state() == "auth-required", x, "the answer is %s", e.describe())
			if e.kind != isTask {
				return
			}
			t.want(e.statusMessage() != nil, x, "the status has no message that says which authorization is needed")
			t.cleanup(e.task())
		}},
	{ID: "send.auth-takes-messages", Requirements: []string{"R115"}, Section: "1.0 §7.6.1", Level: Should, Scope: OnInterface, Versions: only10, Needs: "auth",
		Sentence: "A task in auth-required takes messages.", reach: stages{taskNeedsAuth}, run: func(t *trial) {
			x := t.send(message{task: t.at.task(), context: t.at.context(), immediate: true})
			t.want(x.error() == nil, x, "the message is refused: %s", x.error())
			t.cleanup(t.at.task())
		}},
	{ID: "send.metadata", Requirements: []string{"R101"}, Section: "1.0 §3.2.1", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "Metadata of a request does not change what is answered.", run: func(t *trial) {
			x := t.send(message{change: func(params object) {
				params["metadata"] = object{"conform.example/x": object{"n": 1, "list": []any{"a", nil}}}
			}})
			t.want(x.error() == nil, x, "a request with metadata is refused: %s", x.error())
		}},
}
