package conform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// runner tries one agent: what its checks share.
type runner struct {
	ctx      context.Context
	config   Config
	client   *http.Client
	secrets  []string
	requests int
	report   *Report
	base     string // the URL below which the card is
	local    bool   // the agent is on a loopback address
	card     *exchange
	value    object // the card
	contract *Contract
	probes   []*probe
	grpc     map[bool]*http.Client // clients for gRPC, with TLS and without
	webhook  *webhook              // nil: it was not needed yet
}

func newRunner(ctx context.Context, c Config) (*runner, error) {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Requests <= 0 {
		c.Requests = DefaultRequests
	}
	base, local, err := baseURL(c.URL)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: c.TLS, DialContext: c.Dial, MaxResponseHeaderBytes: 64 << 10}
	if c.Dial != nil {
		transport.Proxy, transport.DialTLSContext = nil, c.Dial
	}
	secrets := []string{} // values of headers, and what follows a scheme in them
	for _, h := range []http.Header{c.Header, c.Other} {
		for _, values := range h {
			for _, v := range values {
				_, after, _ := strings.Cut(v, " ")
				secrets = append(secrets, v, after)
			}
		}
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return len(s) < 3 })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &runner{ctx: ctx, config: c, base: base, local: local, client: &http.Client{Transport: transport, CheckRedirect: stay},
		secrets: secrets, report: &Report{URL: base}}, nil
}

// probe tries one interface.
type probe struct {
	*runner
	Interface
	dialect *dialect
	wire    wire
	ids     int
	silent  int    // calls in a row that got no answer
	givenUp string // why the interface is not tried any more; "": it is
	// answers are the results of the checks that every answer is held to.
	answers map[string]*Result
	// What several checks look at: the answer to the text, the task that came of it, the text's stream, and a context with its tasks.
	first, textStream *exchange
	done              *event
	conversation      *conversation
	// notifications are those of the text's task; nil: it was not tried yet.
	notifications []delivery
}

func (p *probe) version() string { return p.dialect.version() }

// on names an interface in results.
func (p *probe) on() string { return p.Interface.String() }

// try runs the checks of an interface. The first finds out whether it answers; without an answer the others are not tried.
func (p *probe) try() {
	p.answers = map[string]*Result{}
	// Which answers come, and what all interfaces have together, is known when everything was tried.
	all := slices.ContainsFunc(checks(), func(c *Check) bool {
		return (c.Scope == OnAnswers || c.Scope == OnAgent) && c.chosen(p.config.Only)
	})
	for _, c := range checks() {
		needed := all || c.ID == "interface.answers" || c.chosen(p.config.Only)
		if c.Scope == OnInterface && c.applies(p.dialect.version(), p.Binding) && needed {
			p.runCheck(c, p.on(), p)
		}
	}
	for _, c := range answerChecks {
		if !c.applies(p.dialect.version(), p.Binding) {
			continue
		}
		result, tried := p.answers[c.ID]
		if !tried {
			result = c.result(p.on())
			result.Outcome, result.Reason = NotTried, "no answer came that it is about"
			if p.givenUp != "" {
				result.Reason = p.givenUp
			}
		}
		p.add(c, *result)
	}
	if p.first == nil {
		i := slices.Index(p.report.Interfaces, p.Interface)
		p.report.Interfaces[i].NotTried = p.givenUp
	}
}

// tryOnce runs the checks of the card, or those of all interfaces together.
func (r *runner) tryOnce(scope Scope) {
	p := &probe{runner: r}
	for _, c := range checks() {
		if c.Scope == scope && c.chosen(r.config.Only) && (len(c.Versions) == 0 || slices.ContainsFunc(c.Versions, r.speaks)) {
			r.runCheck(c, string(scope), p)
		}
	}
}

// add puts a result into the report.
func (r *runner) add(c *Check, result Result) {
	if !c.chosen(r.config.Only) {
		return
	}
	r.report.Results = append(r.report.Results, result)
	if r.config.Progress != nil {
		r.config.Progress(result)
	}
}

// stop ends a check from within.
type stop struct{}

// trial is one run of a check. Its methods make calls and note what is wrong; those that cannot go on end the run.
type trial struct {
	*probe
	result *Result
	// What the stages before it have reached: an answer or a stream, the task in it, and the webhook of that.
	x             *exchange
	at            event
	webhookConfig pushConfig
	cancels       string // the task that is canceled when the check is over
}

func (c *Check) result(on string) *Result {
	return &Result{Check: c.ID, On: on, Outcome: Passed, Level: c.Level, Requirements: c.Requirements, Section: c.Section,
		Sentence: c.Sentence, Differ: c.Differ}
}

// runCheck runs a check on an interface, or on the card or the agent.
func (r *runner) runCheck(c *Check, on string, p *probe) {
	t := &trial{probe: p, result: c.result(on)}
	if p.givenUp != "" {
		t.result.Outcome, t.result.Reason = NotTried, p.givenUp
	} else {
		func() {
			defer func() {
				if e := recover(); e != nil && e != (stop{}) {
					panic(e)
				}
			}()
			defer func() {
				if t.cancels != "" {
					t.cleanup(t.cancels) // it may stop, too
				}
			}()
			for _, s := range c.reach {
				t.reach(s)
			}
			c.run(t)
		}()
	}
	r.add(c, *t.result)
}

// skip ends a check that cannot be tried.
func (t *trial) skip(format string, args ...any) {
	if t.result.Outcome == Passed {
		t.result.Outcome, t.result.Reason = NotTried, fmt.Sprintf(format, args...)
	}
	panic(stop{})
}

// fail notes what is wrong. x is what shows it, nil if nothing does.
func (t *trial) fail(x *exchange, format string, args ...any) {
	t.result.fail(t.runner, x, fmt.Sprintf(format, args...))
}

// fatal notes what is wrong and ends the check.
func (t *trial) fatal(x *exchange, format string, args ...any) {
	t.fail(x, format, args...)
	panic(stop{})
}

// want notes what is wrong if ok is false.
func (t *trial) want(ok bool, x *exchange, format string, args ...any) {
	if !ok {
		t.fail(x, format, args...)
	}
}

// maxFindings is how many of a result are kept.
const maxFindings = 3

func (res *Result) fail(r *runner, x *exchange, problem string) {
	res.Outcome, res.Reason = Failed, ""
	if len(res.Findings) == maxFindings {
		res.More++
		return
	}
	f := Finding{Problem: clean(r.mask(problem), maxShown)}
	if x != nil {
		head := fmt.Sprintf("%d %s", x.status, x.header.Get("Content-Type"))
		switch {
		case x.status == 0:
			head = fmt.Sprint(x.err)
		case x.err != nil:
			head += fmt.Sprintf(" (%v)\n%s", x.err, x.body)
		default:
			head += "\n" + string(x.body)
		}
		f.Sent, f.Came = x.sent, clean(r.mask(head), maxShown)
	}
	res.Findings = append(res.Findings, f)
}

// headers are those that say the version of a request.
func (p *probe) headers(o options) http.Header {
	h := http.Header{}
	maps.Copy(h, o.header)
	version := ""
	switch {
	case o.version != nil:
		version = *o.version
	case p.version() == "1.0":
		version = "1.0"
	}
	//lint:ignore SA1008 a check sends the name as HTTP allows it, in lower case
	if version != "" && h["a2a-version"] == nil {
		h.Set("A2A-Version", version)
	}
	if required := p.requiredExtensions(); len(required) > 0 {
		set(h, extensionsHeader, p.withExtensions())
		set(h, "X-"+extensionsHeader, p.withExtensions())
	}
	return h
}

// extensionsHeader names the extensions that a request uses; before 1.0 it has an X- in front.
const extensionsHeader = "A2A-Extensions"

// call makes a call of an operation and holds what comes to all checks of answers. It ends the check if the version does not have the
// operation, or if no answer comes.
func (t *trial) call(o op, params object, opts ...options) *exchange {
	x := t.attempt(o, params, opts...)
	if !x.isStream() || len(x.events) == 0 {
		t.answered(x)
	}
	return x
}

// attempt is call for checks that can do without an answer.
func (t *trial) attempt(o op, params object, opts ...options) *exchange {
	of := t.dialect.operation(o)
	if of == nil {
		t.skip("A2A %s has no such operation over %s", t.Version, t.Binding)
	}
	if t.Binding == bindingHTTP && len(of.routes) == 0 {
		t.skip("the definition of A2A %s has no path for it", t.Version)
	}
	put(params, "tenant", t.dialect.tenant)
	x := &exchange{op: o, dialect: t.dialect}
	var choice options
	if len(opts) > 0 {
		choice = opts[0]
	}
	t.wire(t.probe, x, of, params, choice)
	if errors.Is(x.err, errUnsayable) {
		t.skip("%v", x.err)
	}
	if choice.wrong {
		of = nil
	}
	t.inspect(x, of)
	return x
}

// answered ends a check that got no whole answer. After the second in a row the interface is given up.
func (t *trial) answered(x *exchange) {
	if x.err == nil {
		return
	}
	if errors.Is(x.err, errBudget) || t.ctx.Err() != nil {
		t.givenUp = x.err.Error()
		t.skip("%v", x.err)
	}
	if t.silent++; t.silent >= 2 {
		t.givenUp = fmt.Sprintf("the agent no longer answers: %v", x.err)
	}
	t.fatal(x, "no answer: %v", x.err)
}

// wantError holds an answer to one of several errors.
func (t *trial) wantError(x *exchange, kinds ...errorKind) {
	f := x.error()
	if f == nil {
		t.fail(x, "%s is expected, but the answer is no error", kinds[0].name)
		return
	}
	if f.refused() {
		t.skip("the agent refuses the caller: give it credentials")
	}
	i := slices.IndexFunc(kinds, func(k errorKind) bool { return f.is(k, t.version()) })
	if i < 0 {
		t.fail(x, "%s is expected, but the error is %s", kinds[0].name, f)
		return
	}
	if t.version() == "1.0" && kinds[i].reason != "" && f.reason == "" { // what it is could be told from the request alone
		t.note("answer.error-info", x, fmt.Sprintf("%s must have an ErrorInfo with the reason %s and the domain a2a-protocol.org", kinds[i].name, kinds[i].reason))
	}
}

// error returns the error of an answer, of a stream that in it.
func (x *exchange) error() *failure {
	if all := x.failures(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// failures are the errors of an answer, of which a stream may have several.
func (x *exchange) failures() (all []*failure) {
	if x.failure != nil {
		all = append(all, x.failure)
	}
	for _, s := range x.events {
		if s.failure != nil {
			all = append(all, s.failure)
		}
	}
	return all
}
