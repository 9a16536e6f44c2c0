package conform

import (
	"net/http"
	"strings"
)

var authChecks = []*Check{
	{ID: "auth.missing", Requirements: []string{"R29", "R107", "R181", "R182", "Q34"}, Section: "1.0 §3.3.2, §7.4; 0.3 §4.4", Level: Must, Scope: OnInterface,
		Sentence: "A request without the credentials that the card demands is refused, whatever the operation.", Needs: "credentials", reach: stages{credentialsKnown}, run: func(t *trial) {
			t.bare(nil)
		}},
	{ID: "auth.wrong", Requirements: []string{"R29", "R107"}, Section: "1.0 §3.3.2, §7.4; 0.3 §4.4", Level: Must, Scope: OnInterface,
		Sentence: "Credentials that are wrong are refused.", Needs: "credentials", reach: stages{credentialsKnown}, run: func(t *trial) {
			wrong := http.Header{}
			for name, values := range t.config.Header {
				for _, v := range values {
					value := "conform-wrong"
					if scheme, _, ok := strings.Cut(v, " "); ok {
						value = scheme + " " + value
					}
					wrong.Add(name, value)
				}
			}
			t.bare(wrong)
		}},
	{ID: "auth.scheme-case", Requirements: []string{"R312"}, Section: "1.0 §4.3.2; RFC 9110 §11.1", Level: Should, Scope: OnInterface,
		Sentence: "The scheme of Authorization is compared without regard to case.", Needs: "credentials", reach: stages{credentialsKnown}, run: func(t *trial) {
			scheme, secret, ok := strings.Cut(t.config.Header.Get("Authorization"), " ")
			if !ok {
				t.skip("the credentials are none of Authorization")
			}
			other := t.config.Header.Clone()
			other.Set("Authorization", strings.ToLower(scheme)+" "+secret)
			if strings.ToLower(scheme) == scheme {
				other.Set("Authorization", strings.ToUpper(scheme)+" "+secret)
			}
			x := t.onTask(opGet, freshID(), options{bare: true, header: other})
			t.want(!x.error().refused(), x, "the credentials are refused when their scheme is written otherwise")
		}},
	{ID: "auth.challenge", Requirements: []string{"R30", "R31", "R108", "R109"}, Section: "1.0 §3.3.2, §7.4; 0.3 §4.4", Level: Should, Scope: OnInterface, Bindings: overHTTP,
		Sentence: "A request without credentials is answered by a 401 with a challenge that names the scheme.", Needs: "credentials", reach: stages{credentialsKnown}, run: func(t *trial) {
			x := t.onTask(opGet, freshID(), options{bare: true})
			t.want(x.status == http.StatusUnauthorized, x, "the status is %d", x.status)
			t.want(x.header.Get("WWW-Authenticate") != "", x, "there is no WWW-Authenticate")
		}},
	{ID: "auth.hides", Requirements: []string{"R34", "R39", "R188"}, Section: "1.0 §3.3.2, §13.1", Level: Must, Scope: OnInterface,
		Sentence: "A caller without credentials is not told which tasks exist.", Needs: "credentials", reach: stages{credentialsKnown, taskEnded}, run: func(t *trial) {
			known := t.onTask(opGet, t.at.task(), options{bare: true})
			unknown := t.onTask(opGet, freshID(), options{bare: true})
			a, b := known.error(), unknown.error()
			t.want(a != nil, known, "the task is read without credentials")
			t.want(a == nil || b == nil || a.http == b.http && a.code == b.code && a.status == b.status, known, "a task that exists is answered %s, one that does not %s", a, b)
		}},
	{ID: "auth.callers-apart", Requirements: []string{"R34", "R39", "R183", "R185", "R186", "R187"}, Section: "1.0 §13.1, §3.3.2", Level: Must, Scope: OnInterface,
		Sentence: "To another caller a task does not exist: it is not listed, read or canceled.", Needs: "credentials of a second caller", run: func(t *trial) {
			if len(t.config.Other) == 0 {
				t.skip("no credentials of a second caller are given")
			}
			t.reach(taskEnded)
			e, other := t.at, options{bare: true, header: t.config.Other}
			if f := t.send(message{}, other).error(); f != nil {
				t.skip("the agent does not answer the second caller: %s", f)
			}
			t.wantError(t.onTask(opGet, e.task(), other), errTaskNotFound)
			t.wantError(t.onTask(opCancel, e.task(), other), errTaskNotFound)
			if t.version() != "1.0" {
				return
			}
			x := t.call(opList, object{"contextId": e.context()}, other)
			t.want(len(objects(member(x.result, "tasks"))) == 0, x, "the second caller's list has tasks of the first one's context")
		}},
	{ID: "extended.card", Requirements: []string{"R204", "R250", "R22"}, Section: "1.0 §3.1.11, §13.3; 0.3 §7.10", Level: Must, Scope: OnInterface, Versions: []string{"0.3", "1.0"},
		Sentence: "The extended card that the card offers is an agent card, for authenticated callers alone.", Needs: "an extended card", reach: stages{extendedOffered}, run: func(t *trial) {
			bare := t.call(opCard, object{}, options{bare: true})
			t.want(bare.error() != nil, bare, "it is answered to a caller without credentials")
			if len(t.config.Header) == 0 {
				return
			}
			x := t.call(opCard, object{})
			if f := x.error(); f != nil {
				if f.is(errNoCard, t.version()) {
					t.skip("the agent has not configured one")
				}
				t.fatal(x, "it is not answered: %s", f)
			}
			t.want(text(x.result, "name") != "", x, "the answer is no agent card")
		}},
	{ID: "extended.caching", Requirements: []string{"R206"}, Section: "1.0 §13.3", Level: Should, Scope: OnInterface, Versions: only10, Bindings: overREST,
		Sentence: "An extended card has caching headers.", Needs: "an extended card", reach: stages{extendedOffered}, run: func(t *trial) {
			if len(t.config.Header) == 0 {
				t.skip("no credentials are given")
			}
			x := t.call(opCard, object{})
			t.want(x.error() != nil || x.header.Get("Cache-Control") != "", x, "there is no Cache-Control")
		}},
}

// bare calls operations without the credentials, and wrong ones in their place if there are any.
func (t *trial) bare(wrong http.Header) {
	for _, o := range []op{opSend, opGet, opCancel, opList, opStream} {
		of := t.dialect.operation(o)
		if of == nil || t.Binding == bindingHTTP && len(of.routes) == 0 || o == opStream && !t.capability("streaming") {
			continue
		}
		params := t.dialect.ofTask(freshID())
		switch o {
		case opSend, opStream:
			params = t.dialect.send(message{step: t.contract.Text})
		case opList:
			params = object{}
		}
		x := t.call(o, params, options{bare: true, header: wrong})
		t.want(x.error().refused(), x, "%s is answered without credentials that will do", o)
	}
}

// offersExtended reports whether the card says that there is an extended one.
func (r *runner) offersExtended() bool {
	return r.capability("extendedAgentCard") || r.value["supportsAuthenticatedExtendedCard"] == true
}
