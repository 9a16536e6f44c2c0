package authtest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
)

// trial tests one way into the agent over one interface.
type trial struct {
	*host
	face
	way
	t *testing.T
}

// unknown is the id of a task that does not exist.
const unknown = "no-such-task"

func (x *trial) run() {
	ann := x.named("the right one", x.people.right)
	task := x.begin(ann)
	x.tryAnonymous(task)
	x.tryWrong(task)
	x.tryIncomplete()
	x.tryScopes(task)
	x.tryTenants(task)
	for _, a := range x.attempts(task) {
		if !a.op.Role.Info().Ends { // nor deletes what others have made
			x.expect(ann, a, letIn)
		}
	}
	if lists := x.pick(task, only(runtime.RoleList)); len(lists) > 0 && !x.lists(ann, task) {
		x.t.Errorf("%s: the list lacks the caller's own task", ann.who)
	}
	x.keepApart(x.named("somebody else", x.people.other), task)
	if to := x.elsewhere(); to != "" {
		x.keepApart(x.as("for another tenant", x.people.right, to), task)
	}
	x.end(ann, task)
}

// begin sends the first message, and returns its task.
func (x *trial) begin(c caller) (task string) {
	x.t.Helper()
	asks, err := x.hello(c)
	if asks == nil {
		x.t.Fatalf("%s: a message is not let in: %v", c.who, err)
	}
	return asks.TaskID
}

// end answers the task and cancels it as its owner, after nobody else could. It deletes the push configuration first,
// so that nothing is sent.
func (x *trial) end(c caller, task string) {
	x.t.Helper()
	for _, a := range x.pick(task, only(runtime.RolePushDelete)) {
		x.expect(c, a, letIn)
	}
	if asks, err := x.hello(c, client.InTask(task)); asks == nil || asks.TaskID != task {
		x.t.Errorf("%s: the task does not wait any more: %v", c.who, err)
	}
	for _, a := range x.pick(task, only(runtime.RoleCancel)) {
		x.expect(c, a, letIn)
	}
}

// hello sends a message to the skill, which answers with a question.
func (x *trial) hello(c caller, opts ...client.CallOption) (asks *client.InputRequiredError, err error) {
	skill := client.Skill[[]runtime.Part, *client.Result]{ID: x.skill, In: client.PlainInput, Out: client.PlainOutput}
	_, err = skill.Call(c.ctx, c.Client, client.Say("hello"), opts...)
	asks, _ = errors.AsType[*client.InputRequiredError](err)
	return asks, err
}

// tryAnonymous tries requests without credentials.
func (x *trial) tryAnonymous(task string) {
	anonymous := x.showing("nobody", proof{}, x.tenant)
	want := judge(x.agent, nil, nil)
	switch {
	case want != letIn:
		x.all(anonymous, task, want)
	case x.hidden:
		x.conceal(anonymous, task)
	default: // the agent is open, but for some skills
		x.expect(anonymous, x.message(""), judge(x.onTop, nil, nil))
		x.keepApart(anonymous, task)
	}
}

// tryWrong tries invalid credentials: each beside valid ones, then all of them.
func (x *trial) tryWrong(task string) {
	bad := proof{}
	for _, name := range x.schemes {
		mistakes := x.people.wrong(name)
		rest := x.but(name)
		seen := len(rest) == 0 || x.admits(rest, x.people.right) != letIn // the agent looks at this one
		good, _ := x.people.shows(x.people.right, rest)
		for _, m := range mistakes {
			if both, ok := good.and(m.proof); ok && seen {
				x.expect(x.showing(m.what, both, x.tenant), x.message(""), unauthenticated)
			}
		}
		if with, ok := bad.and(mistakes[0].proof); ok {
			bad = with
		}
	}
	if anonymous := x.showing("wrong credentials", bad, x.tenant); x.skill == x.ways[0].skill {
		x.all(anonymous, task, unauthenticated)
	} else { // of another skill that is no other question
		x.expect(anonymous, x.message(""), unauthenticated)
	}
}

// but returns all schemes but one.
func (x *trial) but(name string) []string {
	return slices.DeleteFunc(slices.Clone(x.schemes), func(s string) bool { return s == name })
}

// tryIncomplete leaves out one of several credentials.
func (x *trial) tryIncomplete() {
	if len(x.schemes) == 1 {
		return // that is nobody
	}
	for _, name := range x.schemes {
		rest := x.but(name)
		if shown, ok := x.people.shows(x.people.right, rest); ok {
			x.expect(x.showing("all but "+name, shown, x.tenant), x.message(""), x.admits(rest, x.people.right))
		}
	}
}

// tryScopes tries valid credentials without the scopes.
func (x *trial) tryScopes(task string) {
	for who, p := range map[string]person{"nothing but the agent's scopes": x.people.member, "no scopes": x.people.bare} {
		c := x.named(who, p)
		switch want := judge(x.agent, x.people.shown(x.schemes), p.scopes); {
		case want != letIn:
			x.all(c, task, want)
		case x.hidden && !subset(x.ExtendedScopes, p.scopes):
			x.conceal(c, task)
		case x.admits(x.schemes, p) != letIn:
			x.deny(c, task)
		}
	}
}

// deny checks that a skill's scopes are required.
func (x *trial) deny(c caller, task string) {
	x.expect(c, x.message(""), denied)
	apart := func(scheme string) bool { return !x.people.schemes[scheme].way().alike }
	if !slices.ContainsFunc(x.schemes, apart) { // it is the same principal
		for _, a := range x.about(task) {
			x.expect(c, a, denied)
		}
	}
	if x.lists(c, task) {
		x.t.Errorf("%s: the list has a task of a skill that is not for them", c.who)
	}
}

// conceal checks that a hidden skill is reported as not found to callers who may not see the extended card.
func (x *trial) conceal(c caller, task string) {
	none := *x
	none.skill = "no-such-skill"
	got, want := c.try(x.message("")), c.try(none.message(""))
	alike := strings.NewReplacer(x.skill, "", none.skill, "")
	if got == nil || want == nil || alike.Replace(got.Error()) != alike.Replace(want.Error()) {
		x.t.Errorf("%s: a hidden skill is told from one that is not there: %v, and %v", c.who, got, want)
	}
	x.keepApart(c, task)
}

// tryTenants tries a tenant that is not the caller's.
func (x *trial) tryTenants(task string) {
	boundless := func(scheme string) bool { // its credentials are for all tenants
		tokens := x.people.schemes[scheme].tokens
		return tokens != nil && tokens.Tenants == ""
	}
	if x.elsewhere() == "" || slices.ContainsFunc(x.schemes, boundless) {
		return
	}
	c := x.named("with another tenant's credentials", x.people.bound)
	x.expect(c, x.message(""), denied)
	for _, a := range x.about(task) {
		x.expect(c, a, denied)
	}
}

// elsewhere returns another tenant; "" if there is none.
func (x *trial) elsewhere() string {
	if to := x.people.bound.tenant; to != x.tenant {
		return to
	}
	return ""
}

// keepApart checks that the task of another caller is reported as not found.
func (x *trial) keepApart(c caller, task string) {
	x.t.Helper()
	none := x.about(unknown)
	for i, a := range x.about(task) {
		if x.version.Rules.ClientIDs && a.op.Role.Sends() {
			continue // an id that is not known is that of a new task
		}
		got, want := c.try(a), c.try(none[i])
		switch {
		case got == nil:
			x.t.Errorf("%s: %s reaches the task of %s", c.who, a.name, x.people.right.principal)
		case want == nil || strings.ReplaceAll(got.Error(), task, unknown) != want.Error():
			x.t.Errorf("%s: %s tells a task that is there from one that is not: %v, and %v", c.who, a.name, got, want)
		}
	}
	if x.lists(c, task) {
		x.t.Errorf("%s: the list has the task of %s", c.who, x.people.right.principal)
	}
}

// admits returns the verdict for a message with a person's credentials for schemes.
func (x *trial) admits(schemes []string, who person) verdict {
	schemes = x.people.shown(schemes)
	if want := judge(x.agent, schemes, who.scopes); want != letIn {
		return want
	}
	return judge(x.onTop, schemes, who.scopes)
}

// all expects one verdict for every request.
func (x *trial) all(c caller, task string, want verdict) {
	x.t.Helper()
	for _, a := range x.attempts(task) {
		x.expect(c, a, want)
	}
}

// expect tries a request.
func (x *trial) expect(c caller, a attempt, want verdict) {
	x.t.Helper()
	err := c.try(a)
	got := letIn
	switch {
	case errors.Is(err, errUnsent) && a.op.Role == runtime.RoleOther:
		return
	case errors.Is(err, runtime.ErrUnauthenticated):
		got = unauthenticated
	case errors.Is(err, runtime.ErrPermissionDenied):
		got = denied
	case want == denied && (errors.Is(err, runtime.ErrUnsupportedOperation) || errors.Is(err, runtime.ErrPushNotificationNotSupported)):
		return // what the agent does not have is reported before scopes are looked at
	}
	if got != want {
		x.t.Errorf("%s: %s is %s, and should be %s: %v", c.who, a.name, got, want, err)
	}
	if h, ok := errors.AsType[*client.HTTPError](err); ok && got == unauthenticated && h.Challenge == "" {
		x.t.Errorf("%s: %s is refused without a challenge: %v", c.who, a.name, err)
	}
}

// lists reports whether a task is in the caller's list.
func (x *trial) lists(c caller, task string) bool {
	for _, a := range x.pick(task, only(runtime.RoleList)) {
		page, err := c.call(a)
		text, _ := json.Marshal(page)
		return err == nil && strings.Contains(string(text), task)
	}
	return false
}
