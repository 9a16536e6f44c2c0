package conform

import (
	"fmt"
	"slices"
)

var taskChecks = []*Check{
	{ID: "task.get", Requirements: []string{"R58", "R186"}, Section: "1.0 §3.1.3; 0.3 §7.3", Level: Must, Scope: OnInterface,
		Sentence: "A task can be read by its id, and is as its last answer had it.", run: taskGet},
	{ID: "task.get-unknown", Requirements: []string{"R38", "R60"}, Section: "1.0 §3.3.2; 0.3 §8.2", Level: Must, Scope: OnInterface,
		Sentence: "Reading a task that does not exist is answered TaskNotFound.", run: taskGetUnknown},
	{ID: "task.history", Requirements: []string{"R300"}, Section: "1.0 §3.2.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Never more messages of history come than were asked for.", run: taskHistory},
	{ID: "task.no-history", Requirements: []string{"R26"}, Section: "1.0 §3.2.4", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "With historyLength 0 a task is read without the member history.", run: taskNoHistory},
	{ID: "task.cancel-unknown", Requirements: []string{"R38", "R187"}, Section: "1.0 §3.1.5; 0.3 §7.4", Level: Must, Scope: OnInterface,
		Sentence: "Canceling a task that does not exist is answered TaskNotFound.", run: taskCancelUnknown},
	{ID: "task.cancel-ended", Requirements: []string{"T17", "R28"}, Section: "1.0 §3.1.5; 0.3 §7.4", Level: Must, Scope: OnInterface,
		Sentence: "Canceling a task that has ended is answered TaskNotCancelable.",
		Differ:   "§3.3.1 calls canceling idempotent, §3.1.5 and official releases answer the error.", run: taskCancelEnded},
	{ID: "task.cancel", Requirements: []string{"R28"}, Section: "1.0 §3.1.5; 0.3 §7.4", Level: Should, Scope: OnInterface, Needs: "long",
		Sentence: "A task that works can be canceled, and is canceled afterwards.", run: taskCancel},
	{ID: "push.gate", Requirements: []string{"R46", "R45"}, Section: "1.0 §3.3.4; 0.3 §8.2", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Without the capability pushNotifications its operations are answered PushNotificationNotSupported.", run: pushGate},
	{ID: "stream.gate", Requirements: []string{"R47", "R45"}, Section: "1.0 §3.3.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Without the capability streaming its operations are answered UnsupportedOperation.", run: streamGate},
	{ID: "extended.gate", Requirements: []string{"R48", "R45"}, Section: "1.0 §3.3.4, §13.3", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Without the capability extendedAgentCard its operation is answered UnsupportedOperation.", run: extendedGate},
}

func taskGet(t *trial) {
	e := t.ended()
	x := t.get(e.task(), nil)
	got := t.taken(x)
	t.want(got.task() == e.task(), x, "the task is %q, not %q", clean(got.task(), 80), e.task())
	t.want(got.state() == e.state(), x, "the state is %q, and was %q", got.state(), e.state())
	t.want(got.context() == e.context(), x, "the context is %q, and was %q", clean(got.context(), 80), e.context())
	t.want(holds(got.artifacts()) == holds(e.artifacts()), x, "the artifacts are %s, and were %s",
		clean(holds(got.artifacts()), 300), clean(holds(e.artifacts()), 300))
	t.want(text(got.said(), "messageId") == text(e.said(), "messageId"), x, "the message of the status is another than that of the answer")
}

func taskGetUnknown(t *trial) { t.wantError(t.get(freshID(), nil), errTaskNotFound) }

func taskHistory(t *trial) {
	e := t.ended()
	all := t.taken(t.get(e.task(), nil)).history()
	for _, n := range []int{1, 2} {
		x := t.get(e.task(), &n)
		got := t.taken(x).history()
		t.want(len(got) <= n, x, "%d messages of history came where %d were asked for", len(got), n)
		if len(got) > 0 && len(got) <= len(all) {
			last := all[len(all)-1]
			t.want(text(got[len(got)-1], "messageId") == text(last, "messageId"), x, "the messages are not the latest ones")
		}
	}
}

func taskNoHistory(t *trial) {
	x := t.get(t.ended().task(), ptr(0))
	_, there := t.taken(x).value["history"]
	t.want(!there, x, "the task has the member history")
}

func taskCancelUnknown(t *trial) { t.wantError(t.cancel(freshID()), errTaskNotFound) }

func taskCancelEnded(t *trial) { t.wantError(t.cancel(t.ended().task()), errNotCancelable) }

func taskCancel(t *trial) {
	_, e := t.long()
	x := t.cancel(e.task())
	got := t.taken(x)
	t.want(got.task() == e.task(), x, "the answer is about the task %q, not %q", clean(got.task(), 80), e.task())
	got = t.settled(got)
	t.want(got.state() == "canceled", x, "the task is %s after it was canceled", got.state())
}

func pushGate(t *trial) {
	if t.capability("pushNotifications") {
		t.skip("the card offers push notifications")
	}
	task := freshID()
	calls := map[op]object{
		opPushCreate: {"taskId": task, "url": "https://example.com/hook"},
		opPushGet:    {"taskId": task, "id": "1"}, opPushList: {"taskId": task}, opPushDelete: {"taskId": task, "id": "1"},
	}
	for _, o := range []op{opPushCreate, opPushGet, opPushList, opPushDelete} {
		put(calls[o], "tenant", t.dialect.tenant)
		t.wantError(t.call(o, calls[o]), errPush)
	}
}

func streamGate(t *trial) {
	if t.capability("streaming") {
		t.skip("the card offers streaming")
	}
	t.wantError(t.sendAs(opStream, message{}), errUnsupported)
	t.wantError(t.call(opSubscribe, t.dialect.ofTask(freshID(), nil)), errUnsupported)
}

func extendedGate(t *trial) {
	if t.capability("extendedAgentCard") || t.value["supportsAuthenticatedExtendedCard"] == true {
		t.skip("the card offers an extended card")
	}
	params := object{}
	put(params, "tenant", t.dialect.tenant)
	t.wantError(t.call(opCard, params), errUnsupported)
}

var listChecks = []*Check{
	{ID: "list.shape", Requirements: []string{"R13", "R309", "R308"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A list has tasks, nextPageToken, pageSize and totalSize; without a size a page has up to 50 tasks.",
		Differ:   "a2a-go 2.3 writes null for an empty list.", run: listShape},
	{ID: "list.artifacts", Requirements: []string{"R12"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Tasks in a list have no member artifacts unless includeArtifacts is true.", run: listArtifacts},
	{ID: "list.pages", Requirements: []string{"R13", "R14", "R308", "R309"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Pages follow one another by their tokens, without a task lost or doubled; the last has an empty token.", run: listPages},
	{ID: "list.order", Requirements: []string{"R14", "R15"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A list is sorted by the time of the status, the latest first.", run: listOrder},
	{ID: "list.filter", Requirements: []string{"R14", "R184"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A list has the tasks of the context and state that were asked for, and no other.", run: listFilter},
	{ID: "list.after", Requirements: []string{"R308", "T30"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "The lower bound of the time of the status includes that time.",
		Differ:   "a2a-go's client over HTTP+JSON calls it lastUpdatedAfter.", run: listAfter},
	{ID: "list.sizes", Requirements: []string{"R308", "R35"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A page size above 100 or below 0 is refused as InvalidParams.", Differ: "a2a-go answers InvalidRequest, which will do here.", run: listSizes},
	{ID: "list.token", Requirements: []string{"R14", "R35"}, Section: "1.0 §3.1.4", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "A page token that the agent did not make is refused as InvalidParams.", run: listToken},
}

// tasks lists tasks.
func (t *trial) tasks(params object) (*exchange, object) {
	put(params, "tenant", t.dialect.tenant)
	x := t.call(opList, params)
	if f := x.error(); f != nil {
		t.fatal(x, "the list is answered with an error: %s", f)
	}
	return x, asObject(x.result)
}

func listShape(t *trial) {
	t.ended()
	x, got := t.tasks(object{})
	if t.Binding != bindingGRPC {
		for _, name := range []string{"tasks", "nextPageToken", "pageSize", "totalSize"} {
			_, there := got[name]
			t.want(there, x, "%s is missing", name)
		}
	}
	tasks, total := len(objects(got["tasks"])), int64(0)
	total, _ = number(got["totalSize"])
	t.want(tasks <= 50, x, "the page has %d tasks", tasks)
	t.want(total >= int64(tasks), x, "totalSize is %d, and the page has %d tasks", total, tasks)
}

func listArtifacts(t *trial) {
	e := t.ended()
	x, got := t.tasks(object{"contextId": e.context()})
	for _, task := range objects(got["tasks"]) {
		_, there := task["artifacts"]
		t.want(!there, x, "the task %q has artifacts", clean(text(task, "id"), 80))
	}
	x, got = t.tasks(object{"contextId": e.context(), "includeArtifacts": true})
	for _, task := range objects(got["tasks"]) {
		if text(task, "id") == e.task() {
			t.want(holds(objects(task["artifacts"])) == holds(e.artifacts()), x, "with includeArtifacts the artifacts are others than those of the task")
		}
	}
}

// conversation makes tasks in one context, and returns their ids and the context.
func (t *trial) conversation() (context string, ids []string) {
	if t.talk != nil {
		return t.talk.context, t.talk.ids
	}
	first := t.ended()
	_, second := t.mustSend(message{context: first.context()})
	if second.kind == isTask {
		second = t.settled(second)
	}
	if second.kind != isTask || second.context() != first.context() || first.context() == "" {
		t.skip("the agent does not make a second task in a context")
	}
	// Other checks may have made more tasks in the context: the list is asked for once.
	_, got := t.tasks(object{"contextId": first.context(), "pageSize": 100})
	for _, task := range objects(got["tasks"]) {
		ids = append(ids, text(task, "id"))
	}
	for _, e := range []event{first, second} {
		if !slices.Contains(ids, e.task()) {
			t.skip("a list of the context does not have its task %q: see list.filter", e.task())
		}
	}
	t.talk = &talk{first.context(), ids}
	return first.context(), ids
}

// talk is a context and its tasks.
type talk struct {
	context string
	ids     []string
}

func listPages(t *trial) {
	context, want := t.conversation()
	var got []string
	token := ""
	for range len(want) + 1 {
		params := object{"contextId": context, "pageSize": 1}
		put(params, "pageToken", token)
		x, page := t.tasks(params)
		tasks := objects(page["tasks"])
		t.want(len(tasks) <= 1, x, "a page of one task has %d", len(tasks))
		total, _ := number(page["totalSize"])
		size, _ := number(page["pageSize"])
		t.want(size == 1, x, "pageSize is %d, and 1 was asked for", size)
		t.want(total == int64(len(want)), x, "totalSize is %d, and there are %d tasks", total, len(want))
		for _, task := range tasks {
			t.want(!slices.Contains(got, text(task, "id")), x, "the task %q is on two pages", clean(text(task, "id"), 80))
			got = append(got, text(task, "id"))
		}
		if token = text(page, "nextPageToken"); token == "" {
			t.want(len(got) == len(want), x, "the pages have %d tasks, and there are %d", len(got), len(want))
			return
		}
	}
	t.fail(nil, "after %d pages of one task there is still a nextPageToken, and there are %d tasks", len(want)+1, len(want))
}

func listOrder(t *trial) {
	context, _ := t.conversation()
	for _, params := range []object{{"contextId": context}, {}} {
		x, page := t.tasks(params)
		before := ""
		for _, task := range objects(page["tasks"]) {
			at := text(task, "status", "timestamp")
			t.want(before == "" || at == "" || !later(at, before), x, "a task of %s comes after one of %s", clean(at, 40), clean(before, 40))
			before = at
		}
	}
}

func listFilter(t *trial) {
	e := t.ended()
	t.mustSend(message{}) // in another context
	x, page := t.tasks(object{"contextId": e.context()})
	found := false
	for _, task := range objects(page["tasks"]) {
		found = found || text(task, "id") == e.task()
		t.want(text(task, "contextId") == e.context(), x, "a task of the context %q is in the list", clean(text(task, "contextId"), 80))
	}
	t.want(found, x, "the task %q of the context is not in the list", e.task())
	for _, state := range []string{e.state(), "working"} {
		x, page := t.tasks(object{"contextId": e.context(), "status": t.dialect.stateOnWire(state)})
		for _, task := range objects(page["tasks"]) {
			t.want(stateName(text(task, "status", "state")) == state, x, "a task in the state %s is in the list of %s", text(task, "status", "state"), state)
		}
	}
}

func listAfter(t *trial) {
	e := t.ended()
	at := text(e.value, "status", "timestamp")
	if at == "" {
		t.skip("the status has no time")
	}
	x, page := t.tasks(object{"contextId": e.context(), "statusTimestampAfter": at})
	t.want(slices.ContainsFunc(objects(page["tasks"]), func(o object) bool { return text(o, "id") == e.task() }), x,
		"the task of that time, %s, is not in the list", e.task())
	x, page = t.tasks(object{"contextId": e.context(), "statusTimestampAfter": "2199-01-01T00:00:00.000Z"})
	t.want(len(objects(page["tasks"])) == 0, x, "there are tasks of after the year 2199")
}

func listSizes(t *trial) {
	for _, size := range []int{101, -1} {
		params := object{"pageSize": size}
		put(params, "tenant", t.dialect.tenant)
		t.wantError(t.call(opList, params), errParams, errRequest)
	}
}

func listToken(t *trial) {
	params := object{"pageToken": fmt.Sprintf("no token %s", freshID())}
	put(params, "tenant", t.dialect.tenant)
	t.wantError(t.call(opList, params), errParams)
}
