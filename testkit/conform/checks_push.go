package conform

import (
	"slices"
	"strings"
)

var pushChecks = []*Check{
	{ID: "push.create", Requirements: []string{"R18", "R19"}, Section: "1.0 §3.1.7; 0.3 §7.5", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "Adding a webhook to a task is answered with it: its id, its URL and, in 1.0, its task.", reach: stages{taskToPush}, run: func(t *trial) {
			c := newPush(t.webhook)
			x := t.createPush(t.at.task(), c)
			t.noError(x, "a webhook is refused")
			made, task := t.dialect.readPush(x.result)
			t.want(made.url == c.url, x, "the answer has the URL %q", clean(made.url, 120))
			if t.version() == "1.0" {
				t.want(made.id != "", x, "the answer has no id")
				t.want(task == t.at.task(), x, "the answer is about the task %q", clean(task, 80))
			}
		}},
	{ID: "push.create-unknown-task", Requirements: []string{"R38"}, Section: "1.0 §3.1.7, §3.3.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "A webhook for a task that does not exist is answered TaskNotFound.", reach: stages{pushOffered}, run: func(t *trial) {
			c := newPush(t.webhook)
			t.wantError(t.createPush(freshID(), c), errTaskNotFound)
		}},
	{ID: "push.get", Requirements: []string{"R19"}, Section: "1.0 §3.1.8; 0.3 §7.6", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "A webhook is read as it was made.", reach: stages{taskPushed}, run: func(t *trial) {
			x := t.call(opPushGet, t.dialect.pushOf(t.at.task(), t.webhookConfig.id))
			t.noError(x, "it cannot be read")
			read, _ := t.dialect.readPush(x.result)
			t.want(read.url == t.webhookConfig.url, x, "its URL is %q", clean(read.url, 120))
			if t.version() == "1.0" {
				t.want(read.id == t.webhookConfig.id, x, "its id is %q, not %q", clean(read.id, 80), clean(t.webhookConfig.id, 80))
			}
		}},
	{ID: "push.get-missing", Requirements: []string{"R19"}, Section: "1.0 §3.1.8", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "Reading a webhook that does not exist fails.", Differ: "§3.1.8 has TaskNotFound for it; official releases have other errors, too.", reach: stages{taskPushed}, run: func(t *trial) {
			x := t.call(opPushGet, t.dialect.pushOf(t.at.task(), freshID()))
			t.want(x.error() != nil, x, "the answer is a webhook that nobody made")
		}},
	{ID: "push.list", Requirements: []string{"R20"}, Section: "1.0 §3.1.9; 0.3 §7.7", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "The list of a task's webhooks has all of them.",
		Differ:   "the SDK for Python 0.3 does not list over gRPC and HTTP+JSON.", reach: stages{taskPushed}, run: func(t *trial) {
			second := newPush(t.webhook)
			if x := t.createPush(t.at.task(), second); x.error() != nil {
				t.skip("the agent takes one webhook of a task: %s", x.error())
			}
			x := t.call(opPushList, t.dialect.pushesOf(t.at.task()))
			t.noError(x, "they cannot be listed")
			all := t.dialect.readPushes(x.result)
			for _, want := range []string{t.webhookConfig.url, second.url} {
				t.want(slices.ContainsFunc(all, func(one pushConfig) bool { return one.url == want }), x, "%s is not in the list", want)
			}
		}},
	{ID: "push.delete", Requirements: []string{"R21"}, Section: "1.0 §3.1.10; 0.3 §7.8", Level: Must, Scope: OnInterface, Versions: since02, Needs: "push notifications",
		Sentence: "A webhook that was deleted is in no list, and is not told of anything more.",
		Differ:   "the SDK for Python has no path for it over HTTP+JSON of 0.3.", reach: stages{taskPushed}, run: func(t *trial) {
			stays := newPush(t.webhook)
			kept := t.createPush(t.at.task(), stays)
			x := t.call(opPushDelete, t.dialect.pushOf(t.at.task(), t.webhookConfig.id))
			t.noError(x, "it cannot be deleted")
			listed := t.call(opPushList, t.dialect.pushesOf(t.at.task()))
			for _, one := range t.dialect.readPushes(listed.result) {
				t.want(one.url != t.webhookConfig.url, listed, "the webhook that was deleted is in the list")
			}
			if kept.error() != nil || ended(t.at.state()) {
				return
			}
			before := len(t.deliveries(t.webhookConfig, func([]delivery) bool { return true }))
			t.cleanup(t.at.task())
			t.deliveries(stays, t.dialect.someEnd)
			after := t.deliveries(t.webhookConfig, func([]delivery) bool { return true })
			t.want(len(after) == before, x, "the webhook that was deleted is told that the task is canceled")
		}},
	{ID: "push.delete-again", Requirements: []string{"R21"}, Section: "1.0 §3.1.10", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "Deleting a webhook can be repeated.", reach: stages{taskPushed}, run: func(t *trial) {
			for range 2 {
				x := t.call(opPushDelete, t.dialect.pushOf(t.at.task(), t.webhookConfig.id))
				t.want(x.error() == nil, x, "it is refused: %s", x.error())
			}
		}},
	{ID: "push.delivered", Requirements: []string{"R18", "R84"}, Section: "1.0 §3.1.7, §4.3.3; 0.3 §9.5", Level: Must, Scope: OnInterface, Needs: "push notifications",
		Sentence: "A webhook is told of the updates of its task, its end among them.", reach: stages{textPushed}, run: func(t *trial) {
			all := t.notifications
			if len(all) == 0 && t.config.Webhook == "" {
				t.skip("nothing is sent to the webhook within %s, which is on a loopback address: agents guard themselves against such, unless they are told not to", t.config.Timeout)
			}
			t.want(len(all) > 0, nil, "nothing is sent to the webhook of a message that makes a task within %s", t.config.Timeout)
			if len(all) > 0 {
				t.want(t.dialect.someEnd(all), nil, "no notification says that the task has ended; the last is %s", clean(string(all[len(all)-1].body), 300))
			}
		}},
	{ID: "push.shape", Requirements: []string{"R18"}, Section: "1.0 §4.3.3", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "A notification is a StreamResponse in JSON.",
		Differ:   "0.3 does not say what is sent: official releases send the task.", reach: stages{somethingPushed}, run: func(t *trial) {
			for _, d := range t.notifications {
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
		}},
	{ID: "push.token", Requirements: []string{"R79", "R190"}, Section: "1.0 §4.3.3, §13.2; 0.3 §9.5", Level: Should, Scope: OnInterface, Needs: "push notifications",
		Sentence: "A notification carries the token of its configuration, as X-A2A-Notification-Token.",
		Differ:   "1.0.1 names no header: a2a-go 2 sends A2A-Notification-Token, the others X-A2A-Notification-Token.", reach: stages{somethingPushed}, run: func(t *trial) {
			for _, d := range t.notifications {
				token := d.header.Get("X-A2A-Notification-Token")
				if token == "" {
					token = d.header.Get("A2A-Notification-Token")
				}
				t.want(token == pushTokenValue, nil, "X-A2A-Notification-Token is %q, the token of the configuration %q", clean(token, 80), pushTokenValue)
			}
		}},
	{ID: "push.credentials", Requirements: []string{"R79", "R190"}, Section: "1.0 §4.3.3, §13.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "A notification has the Authorization that its configuration says.",
		Differ:   "the SDK for Python sends none.", reach: stages{somethingPushed}, run: func(t *trial) {
			for _, d := range t.notifications {
				got := d.header.Get("Authorization")
				scheme, secret, _ := strings.Cut(got, " ")
				t.want(strings.EqualFold(scheme, "Bearer") && secret == pushSecretValue, nil,
					"Authorization is %q, the configuration says Bearer %s", clean(got, 80), pushSecretValue)
			}
		}},
	{ID: "push.order", Requirements: []string{"R66"}, Section: "1.0 §3.5.2", Level: Must, Scope: OnInterface, Versions: only10, Needs: "push notifications",
		Sentence: "Notifications come in the order of the updates: none goes back in time, and nothing follows the end of the task.", reach: stages{somethingPushed}, run: func(t *trial) {
			before, over, seen := "", false, map[string]bool{}
			for _, d := range t.notifications {
				e, ok := t.dialect.readNotification(d)
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
		}},
}

// What the configurations of the suite's webhook have.
const (
	pushTokenValue  = "conform-token"
	pushSecretValue = "conform-credentials"
)

// newPush makes a configuration whose URL is a path of the webhook's own.
func newPush(w *webhook) pushConfig {
	id := freshID()
	return pushConfig{id: id, url: w.open(id), token: pushTokenValue, scheme: "Bearer", secret: pushSecretValue}
}

// reachable ends a check if the agent refuses the address of the webhook.
func (t *trial) reachable(x *exchange, c pushConfig) {
	if f := x.error(); f.is(errParams, t.version()) || f.refused() {
		t.skip("the agent does not take the address of the suite's webhook, %s: %s", c.url, f)
	}
}

// createPush adds a webhook to a task.
func (t *trial) createPush(task string, c pushConfig) *exchange {
	x := t.call(opPushCreate, t.dialect.pushCreate(task, c))
	t.reachable(x, c)
	return x
}

// readNotification reads the task, message or update of a notification.
func (d *dialect) readNotification(came delivery) (e event, ok bool) {
	v, err := decode(came.body)
	if err != nil {
		return event{}, false
	}
	for _, version := range []string{d.version(), "1.0"} { // what is sent before 1.0 no document says
		words := &dialect{def: definitionOf(version, version == "1.0")}
		if e, ok = words.event(opStream, v); ok {
			return e, true
		}
	}
	words := &dialect{def: definitionOf(d.version(), d.version() == "1.0")}
	return words.event(opGet, v) // a task, which may not say so
}

// someEnd reports whether one of several notifications is of the end of a task.
func (d *dialect) someEnd(all []delivery) bool {
	return slices.ContainsFunc(all, func(came delivery) bool {
		e, ok := d.readNotification(came)
		return ok && ended(e.state())
	})
}
