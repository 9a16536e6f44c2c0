package conform

import (
	"slices"
	"strings"
)

var taskChecks = []*Check{
	{ID: "task.get", Requirements: []string{"R58", "R186"}, Section: "1.0 §3.1.3; 0.3 §7.3", Level: Must, Scope: OnInterface,
		Sentence: "A task can be read by its id, and is as its last answer had it.", reach: stages{taskEnded}, run: func(t *trial) {
			x := t.onTask(opGet, t.at.task())
			got := t.taken(x)
			t.want(got.task() == t.at.task(), x, "the task is %q, not %q", clean(got.task(), 80), t.at.task())
			t.want(got.state() == t.at.state(), x, "the state is %q, and was %q", got.state(), t.at.state())
			t.want(got.context() == t.at.context(), x, "the context is %q, and was %q", clean(got.context(), 80), t.at.context())
			t.want(holds(got.artifacts()) == holds(t.at.artifacts()), x, "the artifacts are %s, and were %s",
				clean(holds(got.artifacts()), 300), clean(holds(t.at.artifacts()), 300))
			t.want(text(got.statusMessage(), "messageId") == text(t.at.statusMessage(), "messageId"), x, "the message of the status is another than that of the answer")
		}},
	{ID: "task.get-unknown", Requirements: []string{"R38", "R60"}, Section: "1.0 §3.3.2; 0.3 §8.2", Level: Must, Scope: OnInterface,
		Sentence: "Reading a task that does not exist is answered TaskNotFound.", run: func(t *trial) { t.wantError(t.onTask(opGet, freshID()), errTaskNotFound) }},
	{ID: "task.history", Requirements: []string{"R300"}, Section: "1.0 §3.2.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Never more messages of history come than were asked for.", reach: stages{taskEnded}, run: func(t *trial) {
			all := t.taken(t.onTask(opGet, t.at.task())).history()
			for _, n := range []int{1, 2} {
				x := t.onTask(opGet, t.at.task(), options{history: &n})
				got := t.taken(x).history()
				t.want(len(got) <= n, x, "%d messages of history came where %d were asked for", len(got), n)
				if len(got) > 0 && len(got) <= len(all) {
					last := all[len(all)-1]
					t.want(text(got[len(got)-1], "messageId") == text(last, "messageId"), x, "the messages are not the latest ones")
				}
			}
		}},
	{ID: "task.no-history", Requirements: []string{"R26"}, Section: "1.0 §3.2.4", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "With historyLength 0 a task is read without the member history.", reach: stages{taskEnded}, run: func(t *trial) {
			x := t.onTask(opGet, t.at.task(), options{history: ptr(0)})
			_, there := t.taken(x).value["history"]
			t.want(!there, x, "the task has the member history")
		}},
	{ID: "task.cancel-unknown", Requirements: []string{"R38", "R187"}, Section: "1.0 §3.1.5; 0.3 §7.4", Level: Must, Scope: OnInterface,
		Sentence: "Canceling a task that does not exist is answered TaskNotFound.", run: func(t *trial) { t.wantError(t.onTask(opCancel, freshID()), errTaskNotFound) }},
	{ID: "task.cancel-ended", Requirements: []string{"T17", "R28"}, Section: "1.0 §3.1.5; 0.3 §7.4", Level: Must, Scope: OnInterface,
		Sentence: "Canceling a task that has ended is answered TaskNotCancelable.",
		Differ:   "§3.3.1 calls canceling idempotent, §3.1.5 and official releases answer the error.", reach: stages{taskEnded}, run: func(t *trial) { t.wantError(t.onTask(opCancel, t.at.task()), errNotCancelable) }},
	{ID: "task.cancel", Requirements: []string{"R28"}, Section: "1.0 §3.1.5; 0.3 §7.4", Level: Should, Scope: OnInterface, Needs: "long",
		Sentence: "A task that works can be canceled, and is canceled afterwards.", reach: stages{taskWorks}, run: func(t *trial) {
			x := t.onTask(opCancel, t.at.task())
			got := t.taken(x)
			t.want(got.task() == t.at.task(), x, "the answer is about the task %q, not %q", clean(got.task(), 80), t.at.task())
			got = t.settled(got)
			t.want(got.state() == "canceled", x, "the task is %s after it was canceled", got.state())
		}},
	{ID: "push.gate", Requirements: []string{"R46", "R45"}, Section: "1.0 §3.3.4; 0.3 §8.2", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Without the capability pushNotifications its operations are answered PushNotificationNotSupported.", run: func(t *trial) {
			if t.capability("pushNotifications") {
				t.skip("the card offers push notifications")
			}
			task := freshID()
			t.wantError(t.call(opPushCreate, object{"taskId": task, "url": "https://example.com/hook"}), errPush)
			t.wantError(t.call(opPushGet, object{"taskId": task, "id": "1"}), errPush)
			t.wantError(t.call(opPushList, object{"taskId": task}), errPush)
			t.wantError(t.call(opPushDelete, object{"taskId": task, "id": "1"}), errPush)
		}},
	{ID: "stream.gate", Requirements: []string{"R47", "R45"}, Section: "1.0 §3.3.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Without the capability streaming its operations are answered UnsupportedOperation.", run: func(t *trial) {
			if t.capability("streaming") {
				t.skip("the card offers streaming")
			}
			t.wantError(t.send(message{stream: true}), errUnsupported)
			t.wantError(t.onTask(opSubscribe, freshID()), errUnsupported)
		}},
	{ID: "extended.gate", Requirements: []string{"R48", "R45"}, Section: "1.0 §3.3.4, §13.3", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Without the capability extendedAgentCard its operation is answered UnsupportedOperation.", run: func(t *trial) {
			if t.offersExtended() {
				t.skip("the card offers an extended card")
			}
			t.wantError(t.call(opCard, object{}), errUnsupported)
		}},
}

var listChecks = []*Check{
	{ID: "list.shape", Requirements: []string{"R13", "R309", "R308"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A list has tasks, nextPageToken, pageSize and totalSize; without a size a page has up to 50 tasks.",
		Differ:   "a2a-go 2.3 writes null for an empty list.", reach: stages{taskEnded}, run: func(t *trial) {
			x, got := t.list(object{})
			for _, f := range t.dialect.def.named("ListTasksResponse").fields {
				_, there := got[f.json]
				t.want(there || !f.required, x, "%s is missing", f.json)
			}
			tasks := len(objects(got["tasks"]))
			total, _ := number(got["totalSize"])
			t.want(tasks <= 50, x, "the page has %d tasks", tasks)
			t.want(total >= int64(tasks), x, "totalSize is %d, and the page has %d tasks", total, tasks)
		}},
	{ID: "list.artifacts", Requirements: []string{"R12"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Tasks in a list have no member artifacts unless includeArtifacts is true.", reach: stages{taskEnded}, run: func(t *trial) {
			x, got := t.list(object{"contextId": t.at.context()})
			for _, task := range objects(got["tasks"]) {
				_, there := task["artifacts"]
				t.want(!there, x, "the task %q has artifacts", clean(text(task, "id"), 80))
			}
			x, got = t.list(object{"contextId": t.at.context(), "includeArtifacts": true})
			for _, task := range objects(got["tasks"]) {
				if text(task, "id") == t.at.task() {
					t.want(holds(objects(task["artifacts"])) == holds(t.at.artifacts()), x, "with includeArtifacts the artifacts are others than those of the task")
				}
			}
		}},
	{ID: "list.pages", Requirements: []string{"R13", "R14", "R308", "R309"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "Pages follow one another by their tokens, without a task lost or doubled; the last has an empty token.", reach: stages{tasksInContext}, run: func(t *trial) {
			var got []string
			token := ""
			for range len(t.conversation.ids) + 1 {
				params := object{"contextId": t.conversation.context, "pageSize": 1}
				put(params, "pageToken", token)
				x, page := t.list(params)
				tasks := objects(page["tasks"])
				t.want(len(tasks) <= 1, x, "a page of one task has %d", len(tasks))
				total, _ := number(page["totalSize"])
				size, _ := number(page["pageSize"])
				t.want(size == 1, x, "pageSize is %d, and 1 was asked for", size)
				t.want(total == int64(len(t.conversation.ids)), x, "totalSize is %d, and there are %d tasks", total, len(t.conversation.ids))
				for _, task := range tasks {
					t.want(!slices.Contains(got, text(task, "id")), x, "the task %q is on two pages", clean(text(task, "id"), 80))
					got = append(got, text(task, "id"))
				}
				if token = text(page, "nextPageToken"); token == "" {
					t.want(len(got) == len(t.conversation.ids), x, "the pages have %d tasks, and there are %d", len(got), len(t.conversation.ids))
					return
				}
			}
			t.fail(nil, "after %d pages of one task there is still a nextPageToken, and there are %d tasks", len(t.conversation.ids)+1, len(t.conversation.ids))
		}},
	{ID: "list.order", Requirements: []string{"R14", "R15"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A list is sorted by the time of the status, the latest first.", reach: stages{tasksInContext}, run: func(t *trial) {
			for _, params := range []object{{"contextId": t.conversation.context}, {}} {
				x, page := t.list(params)
				before := ""
				for _, task := range objects(page["tasks"]) {
					at := text(task, "status", "timestamp")
					t.want(before == "" || at == "" || !later(at, before), x, "a task of %s comes after one of %s", clean(at, 40), clean(before, 40))
					before = at
				}
			}
		}},
	{ID: "list.filter", Requirements: []string{"R14", "R184"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A list has the tasks of the context and state that were asked for, and no other.", reach: stages{taskEnded}, run: func(t *trial) {
			t.mustSend(message{}) // in another context
			x, page := t.list(object{"contextId": t.at.context()})
			found := false
			for _, task := range objects(page["tasks"]) {
				found = found || text(task, "id") == t.at.task()
				t.want(text(task, "contextId") == t.at.context(), x, "a task of the context %q is in the list", clean(text(task, "contextId"), 80))
			}
			t.want(found, x, "the task %q of the context is not in the list", t.at.task())
			for _, state := range []string{t.at.state(), "working"} {
				wire := "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
				x, page := t.list(object{"contextId": t.at.context(), "status": wire})
				for _, task := range objects(page["tasks"]) {
					t.want(stateName(text(task, "status", "state")) == state, x, "a task in the state %s is in the list of %s", text(task, "status", "state"), state)
				}
			}
		}},
	{ID: "list.after", Requirements: []string{"R308", "T30"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "The lower bound of the time of the status includes that time.",
		Differ:   "a2a-go's client over HTTP+JSON calls it lastUpdatedAfter.", reach: stages{taskEnded}, run: func(t *trial) {
			at := text(t.at.value, "status", "timestamp")
			if at == "" {
				t.skip("the status has no time")
			}
			x, page := t.list(object{"contextId": t.at.context(), "statusTimestampAfter": at})
			t.want(slices.ContainsFunc(objects(page["tasks"]), func(o object) bool { return text(o, "id") == t.at.task() }), x,
				"the task of that time, %s, is not in the list", t.at.task())
			x, page = t.list(object{"contextId": t.at.context(), "statusTimestampAfter": "2199-01-01T00:00:00.000Z"})
			t.want(len(objects(page["tasks"])) == 0, x, "there are tasks of after the year 2199")
		}},
	{ID: "list.sizes", Requirements: []string{"R308", "R35"}, Section: "1.0 §3.1.4", Level: Must, Scope: OnInterface, Versions: only10,
		Sentence: "A page size above 100 or below 0 is refused as InvalidParams.", Differ: "a2a-go answers InvalidRequest, which will do here.", run: func(t *trial) {
			for _, size := range []int{101, -1} {
				t.wantError(t.call(opList, object{"pageSize": size}), errParams, errRequest)
			}
		}},
	{ID: "list.token", Requirements: []string{"R14", "R35"}, Section: "1.0 §3.1.4", Level: Should, Scope: OnInterface, Versions: only10,
		Sentence: "A page token that the agent did not make is refused as InvalidParams.", run: func(t *trial) {
			t.wantError(t.call(opList, object{"pageToken": "no token " + freshID()}), errParams)
		}},
}

// list lists tasks, and ends the check if the answer is an error.
func (t *trial) list(params object) (*exchange, object) {
	x := t.call(opList, params)
	t.noError(x, "the list is answered with an error")
	return x, asObject(x.result)
}
