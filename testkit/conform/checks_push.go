package conform

import (
	"context"
	"slices"
	"strings"
)

var pushChecks = []*Check{
	{ID: "push.create", Requirements: []string{"R18", "R19"}, Section: "1.0 §3.1.7; 0.3 §7.5", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "Adding a webhook to a task is answered with it: its id, its URL and, in 1.0, its task.", run: pushCreate},
	{ID: "push.create-unknown-task", Requirements: []string{"R38"}, Section: "1.0 §3.1.7, §3.3.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "A webhook for a task that does not exist is answered TaskNotFound.", run: pushUnknownTask},
	{ID: "push.get", Requirements: []string{"R19"}, Section: "1.0 §3.1.8; 0.3 §7.6", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "A webhook is read as it was made.", run: pushGet},
	{ID: "push.get-missing", Requirements: []string{"R19"}, Section: "1.0 §3.1.8", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "Reading a webhook that does not exist fails.", Differ: "§3.1.8 has TaskNotFound for it; official releases have other errors, too.", run: pushGetMissing},
	{ID: "push.list", Requirements: []string{"R20"}, Section: "1.0 §3.1.9; 0.3 §7.7", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "The list of a task's webhooks has all of them.",
		Differ:   "the SDK for Python 0.3 does not list over gRPC and HTTP+JSON.", run: pushList},
	{ID: "push.delete", Requirements: []string{"R21"}, Section: "1.0 §3.1.10; 0.3 §7.8", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "A webhook that was deleted is in no list, and is not told of anything more.",
		Differ:   "the SDK for Python has no path for it over HTTP+JSON of 0.3.", run: pushDelete},
	{ID: "push.delete-again", Requirements: []string{"R21"}, Section: "1.0 §3.1.10", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "Deleting a webhook can be repeated.", run: pushDeleteAgain},
	{ID: "push.delivered", Requirements: []string{"R18", "R84"}, Section: "1.0 §3.1.7, §4.3.3; 0.3 §9.5", Level: Must, Scope: OnInterface, Needs: "push notifications",
		Sentence: "A webhook is told of the updates of its task, its end among them.", run: pushDelivered},
	{ID: "push.shape", Requirements: []string{"R18"}, Section: "1.0 §4.3.3", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "A notification is a StreamResponse in JSON.",
		Differ:   "0.3 does not say what is sent: official releases send the task.", run: pushShape},
	{ID: "push.token", Requirements: []string{"R79", "R190"}, Section: "1.0 §4.3.3, §13.2; 0.3 §9.5", Level: Should, Scope: OnInterface, Needs: "push notifications",
		Sentence: "A notification carries the token of its configuration, as X-A2A-Notification-Token.",
		Differ:   "1.0.1 names no header: a2a-go 2 sends A2A-Notification-Token, the others X-A2A-Notification-Token.", run: pushToken},
	{ID: "push.credentials", Requirements: []string{"R79", "R190"}, Section: "1.0 §4.3.3, §13.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "A notification has the Authorization that its configuration says.",
		Differ:   "the SDK for Python sends none.", run: pushCredentials},
	{ID: "push.order", Requirements: []string{"R66"}, Section: "1.0 §3.5.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "Notifications come in the order of the updates: none goes back in time, and nothing follows the end of the task.", run: pushOrder},
}

// What the suite's webhook is told by its configuration.
const (
	pushTokenValue  = "conform-token"
	pushSecretValue = "conform-credentials"
)

// needsPush returns the suite's webhook, and ends a check if the agent does not push or could not reach it.
func (t *trial) needsPush() *webhook {
	if !t.capability("pushNotifications") {
		t.skip("the card does not offer push notifications")
	}
	w, err := t.hook()
	if err != nil {
		t.skip("%v", err)
	}
	return w
}

// newPush makes a configuration whose URL is a path of the webhook's own.
func newPush(w *webhook) pushConfig {
	id := freshID()
	return pushConfig{id: id, url: w.open(id), token: pushTokenValue, scheme: "Bearer", secret: pushSecretValue}
}

// reachable ends a check if an answer says that the agent does not send to addresses such as the webhook's.
func (t *trial) reachable(x *exchange, c pushConfig) {
	if f := x.error(); f.is(errParams, t.version()) || f.refused() {
		t.skip("the agent does not take the address of the suite's webhook, %s: %s", c.url, f)
	}
}

// pushTask is a task to which webhooks can be added: one that goes on, if anything makes the agent do that.
func (t *trial) pushTask() (e event, cleanup func()) {
	switch {
	case t.contract.Long != nil:
		_, e = t.long()
	case t.contract.Ask != nil:
		_, e, _ = t.asked()
	default:
		return t.ended(), func() {}
	}
	return e, func() { t.cleanup(e.task()) }
}

// createPush adds a webhook to a task.
func (t *trial) createPush(task string, c pushConfig) *exchange {
	x := t.call(opPushCreate, t.dialect.pushCreate(task, c))
	t.reachable(x, c)
	return x
}

// pushedTo returns a task with a webhook, and the id under which the agent knows that.
func (t *trial) pushedTo(w *webhook) (e event, c pushConfig, cleanup func()) {
	e, cleanup = t.pushTask()
	c = newPush(w)
	x := t.createPush(e.task(), c)
	if f := x.error(); f != nil {
		cleanup()
		t.fatal(x, "a webhook is refused: %s", f)
	}
	if made, _ := t.dialect.readPush(x.result); made.id != "" {
		c.id = made.id
	}
	return e, c, cleanup
}

// optional03 ends a check of an operation that agents of 0.3 need not have (0.3 §11.1.2).
func (t *trial) optional03(x *exchange) {
	if f := x.error(); t.version() != "1.0" && (f.is(errMethod, t.version()) || f.is(errUnsupported, t.version())) {
		t.skip("the agent does not have the operation, which A2A %s does not require", t.Version)
	}
}

func pushCreate(t *trial) {
	w := t.needsPush()
	e, cleanup := t.pushTask()
	defer cleanup()
	c := newPush(w)
	x := t.createPush(e.task(), c)
	if f := x.error(); f != nil {
		t.fatal(x, "a webhook is refused: %s", f)
	}
	made, task := t.dialect.readPush(x.result)
	t.want(made.url == c.url, x, "the answer has the URL %q", clean(made.url, 120))
	if t.version() == "1.0" {
		t.want(made.id != "", x, "the answer has no id")
		t.want(task == e.task(), x, "the answer is about the task %q", clean(task, 80))
	}
}

func pushUnknownTask(t *trial) {
	c := newPush(t.needsPush())
	t.wantError(t.createPush(freshID(), c), errTaskNotFound)
}

func pushGet(t *trial) {
	e, c, cleanup := t.pushedTo(t.needsPush())
	defer cleanup()
	x := t.call(opPushGet, t.dialect.pushOf(e.task(), c.id))
	if f := x.error(); f != nil {
		t.fatal(x, "it cannot be read: %s", f)
	}
	read, _ := t.dialect.readPush(x.result)
	t.want(read.url == c.url, x, "its URL is %q", clean(read.url, 120))
	if t.version() == "1.0" {
		t.want(read.id == c.id, x, "its id is %q, not %q", clean(read.id, 80), clean(c.id, 80))
	}
}

func pushGetMissing(t *trial) {
	e, _, cleanup := t.pushedTo(t.needsPush())
	defer cleanup()
	x := t.call(opPushGet, t.dialect.pushOf(e.task(), freshID()))
	t.want(x.error() != nil, x, "the answer is a webhook that nobody made")
}

func pushList(t *trial) {
	w := t.needsPush()
	e, c, cleanup := t.pushedTo(w)
	defer cleanup()
	second := newPush(w)
	if x := t.createPush(e.task(), second); x.error() != nil {
		t.skip("the agent takes one webhook of a task: %s", x.error())
	}
	x := t.call(opPushList, t.dialect.pushesOf(e.task()))
	t.optional03(x)
	if f := x.error(); f != nil {
		t.fatal(x, "they cannot be listed: %s", f)
	}
	all := t.dialect.readPushes(x.result)
	for _, want := range []string{c.url, second.url} {
		t.want(slices.ContainsFunc(all, func(one pushConfig) bool { return one.url == want }), x, "%s is not in the list", want)
	}
}

func pushDelete(t *trial) {
	w := t.needsPush()
	e, c, cleanup := t.pushedTo(w)
	defer cleanup()
	stays := newPush(w)
	kept := t.createPush(e.task(), stays)
	x := t.call(opPushDelete, t.dialect.pushOf(e.task(), c.id))
	t.optional03(x)
	if f := x.error(); f != nil {
		t.fatal(x, "it cannot be deleted: %s", f)
	}
	listed := t.call(opPushList, t.dialect.pushesOf(e.task()))
	for _, one := range t.dialect.readPushes(listed.result) {
		t.want(one.url != c.url, listed, "the webhook that was deleted is in the list")
	}
	if kept.error() != nil || ended(e.state()) {
		return
	}
	before := len(t.deliveries(w, c, func([]delivery) bool { return true }))
	t.cleanup(e.task())
	t.deliveries(w, stays, t.someEnd)
	after := t.deliveries(w, c, func([]delivery) bool { return true })
	t.want(len(after) == before, x, "the webhook that was deleted is told that the task is canceled")
}

func pushDeleteAgain(t *trial) {
	e, c, cleanup := t.pushedTo(t.needsPush())
	defer cleanup()
	for range 2 {
		x := t.call(opPushDelete, t.dialect.pushOf(e.task(), c.id))
		t.want(x.error() == nil, x, "it is refused: %s", x.error())
	}
}

// deliveries waits for notifications to a webhook.
func (t *trial) deliveries(w *webhook, c pushConfig, enough func([]delivery) bool) []delivery {
	ctx, cancel := context.WithTimeout(t.ctx, t.config.Timeout)
	defer cancel()
	return w.wait(ctx, c.url, enough)
}

// notified is what a notification says.
func (t *trial) notified(d delivery) (e event, ok bool) {
	v, err := decode(d.body)
	if err != nil {
		return event{}, false
	}
	for _, version := range []string{t.version(), "1.0"} { // what is sent before 1.0 no document says
		words := &dialect{def: definitionOf(version, version == "1.0")}
		if e, ok = words.event(opStream, v); ok {
			return e, true
		}
	}
	words := &dialect{def: definitionOf(t.version(), t.version() == "1.0")}
	return words.event(opGet, v) // a task, which may not say so
}

func (t *trial) someEnd(all []delivery) bool {
	return slices.ContainsFunc(all, func(d delivery) bool {
		e, ok := t.notified(d)
		return ok && ended(e.state())
	})
}

// pushed sends the text with a webhook and returns what that is told, once for all checks of an interface.
func (t *trial) pushed() []delivery {
	w := t.needsPush()
	if t.told != nil {
		return t.told
	}
	c := newPush(w)
	x := t.send(message{change: func(params object) { t.dialect.withPush(params, c) }})
	t.reachable(x, c)
	e := t.taken(x)
	if e.kind == isMessage {
		t.skip("the agent answers its text with a message and makes no task: a contract can name a text that does")
	}
	t.told = t.deliveries(w, c, t.someEnd)
	if len(t.told) == 0 {
		t.told = []delivery{}
	}
	return t.told
}

// somePushed returns them, and ends the check if there are none.
func (t *trial) somePushed() []delivery {
	all := t.pushed()
	if len(all) == 0 {
		t.skip("nothing is sent to the webhook")
	}
	return all
}

func pushDelivered(t *trial) {
	all := t.pushed()
	if len(all) == 0 && t.config.Webhook == "" {
		t.skip("nothing is sent to the webhook within %s, which is on a loopback address: agents guard themselves against such, unless they are told not to", t.config.Timeout)
	}
	t.want(len(all) > 0, nil, "nothing is sent to the webhook of a message that makes a task within %s", t.config.Timeout)
	if len(all) > 0 {
		t.want(t.someEnd(all), nil, "no notification says that the task has ended; the last is %s", clean(string(all[len(all)-1].body), 300))
	}
}

func pushShape(t *trial) {
	for _, d := range t.somePushed() {
		v, err := decode(d.body)
		if err != nil {
			t.fail(nil, "a notification is not JSON: %v: %s", err, clean(string(d.body), 300))
			continue
		}
		t.want(isJSON(mediaType(d.header)), nil, "a notification has the media type %q", clean(d.header.Get("Content-Type"), 80))
		for _, p := range definitionOf("1.0", true).validate("StreamResponse", v) {
			if p.kind == badDigits || p.kind == unknown { // advice
				continue
			}
			t.fail(nil, "%s, in %s", p, clean(string(d.body), 300))
		}
	}
}

func pushToken(t *trial) {
	for _, d := range t.somePushed() {
		token := d.header.Get("X-A2A-Notification-Token")
		if token == "" {
			token = d.header.Get("A2A-Notification-Token")
		}
		t.want(token == pushTokenValue, nil, "X-A2A-Notification-Token is %q, the token of the configuration %q", clean(token, 80), pushTokenValue)
	}
}

func pushCredentials(t *trial) {
	for _, d := range t.somePushed() {
		got := d.header.Get("Authorization")
		scheme, secret, _ := strings.Cut(got, " ")
		t.want(strings.EqualFold(scheme, "Bearer") && secret == pushSecretValue, nil,
			"Authorization is %q, the configuration says Bearer %s", clean(got, 80), pushSecretValue)
	}
}

func pushOrder(t *trial) {
	before, over, seen := "", false, map[string]bool{}
	for _, d := range t.somePushed() {
		e, ok := t.notified(d)
		if seen[string(d.body)] || !ok { // a notification may come twice
			continue
		}
		seen[string(d.body)] = true
		at := text(e.value, "status", "timestamp")
		t.want(!later(before, at), nil, "an update of %s comes after one of %s", clean(at, 40), clean(before, 40))
		t.want(!over || ended(e.state()), nil, "a notification follows the end of the task: %s", clean(string(d.body), 300))
		over = over || ended(e.state())
		if at != "" {
			before = at
		}
	}
}
