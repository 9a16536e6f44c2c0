package equivalence

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/internal/test/testcert"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// step is an operation with its request.
type step struct{ word, request string }

// What callers do with a task that is there, and what needs none.
var (
	withTask = []step{
		{"get", `{"id":"$task"}`},
		{"push-create", `{"taskId":"$task","id":"two","url":"$hook"}`},
		{"push-get", `{"taskId":"$task","id":"one"}`},
		{"push-list", `{"taskId":"$task"}`},
		{"push-delete", `{"taskId":"$task","id":"one"}`},
		{"subscribe", `{"id":"$task"}`},
		{"send", `"Monday" {"message":{"taskId":"$task"}}`},
		{"stream", `"Monday" {"message":{"taskId":"$task"}}`},
		{"cancel", `{"id":"$task"}`},
	}
	ofSkill = []step{{"send", `"book"`}, {"stream", `"book"`}}
	ofAgent = []step{{"list", `{}`}, {"card", `{}`}, {"Inspect", `{"id":"x"}`}, {"Watch", `{"id":"x","times":1}`}}
	all     = slices.Concat(withTask, ofSkill, ofAgent)
)

// TestEverySchemeIsEnforcedAlike plays each operation, in each version over each binding, for each kind of security
// scheme with a real verifier: without a credential, with a wrong, expired or misplaced one, without the scopes of the
// agent or the skill, as somebody else, for another's tenant, and with what is right. With -v it says how many calls
// that were. Nothing of what callers show is reported to OpenTelemetry.
func TestEverySchemeIsEnforcedAlike(t *testing.T) {
	var calls atomic.Int64
	defer func() { t.Logf("%d calls", calls.Load()) }()
	t.Run("schemes", func(t *testing.T) {
		for name, s := range schemes(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				told := newReported()
				m := &matrix{t: t, scheme: s, agent: startGuarded(t, s, told.observer()), told: told, cells: map[string]int{}}
				for _, sp := range speakers(a2amore.AllVersions()) {
					m.speaker = sp
					m.play()
				}
				told.check(t)
				for _, kind := range slices.Sorted(maps.Keys(m.cells)) {
					calls.Add(int64(m.cells[kind]))
					t.Logf("%4d × %s", m.cells[kind], kind)
				}
			})
		}
	})
}

// startGuarded serves an agent that demands a scheme, on all bindings.
func startGuarded(t *testing.T, s *scheme, more ...server.Option) *agent {
	t.Helper()
	a := &agent{hook: startHook(t)}
	demand := s.demand
	if demand == "" {
		demand = `"mine":{"list":["use"]}`
	}
	opts := append([]server.Option{server.WithAuth(s.verifiers)}, more...)
	if s.tls {
		opts = append(opts, a.secure(t))
	}
	a.serveWith(t, strings.NewReplacer(
		demandsBearer, `"securitySchemes":{`+s.card+`},"securityRequirements":[{"schemes":{`+demand+`}}]`,
		`"tags":["travel"]`, `"tags":["travel"],"securityRequirements":[{"schemes":{"mine":{"list":["work"]}}}]`,
	), opts...)
	return a
}

// serveWith serves the agent with its card changed.
func (a *agent) serveWith(t *testing.T, change *strings.Replacer, more ...server.Option) {
	t.Helper()
	p := a2amore.AllVersions()
	text := change.Replace(cardText(p, `{"streaming":true,"pushNotifications":true,"extendedAgentCard":true}`, nil))
	opts := append([]server.Option{
		grpcserver.Serve(), server.WithLogger(slog.New(slog.DiscardHandler)), webhooks.Send(), server.WithPushTargets("127.0.0.1"),
	}, more...)
	srv, err := server.New(server.Config{
		Protocol: p, Card: readCard(t, p, text), Extended: readCard(t, p, text), Skills: []server.Skill{{ID: "desk", Name: "Desk", Run: a.desk}},
		Operations: map[string]server.Operation{"Inspect": server.NewOperation(inspect), "Watch": server.NewStreamOperation(watch)},
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	a.addr = serve(t, srv)
}

// TestAnAgentForEverybodyIsOneAlike, in each operation, by all who speak: who brings nothing may do all, with what those
// have who brought nothing, too; who brings something wrong may do nothing; what somebody has is not there for nobody.
func TestAnAgentForEverybodyIsOneAlike(t *testing.T) {
	s := apiKey("header", "X-Key", func(key string) shown { return header("X-Key", key) })
	declared := `"securitySchemes":{` + s.card + `}`
	for name, change := range map[string]*strings.Replacer{
		"nothing is demanded":       strings.NewReplacer(demandsBearer, declared),
		"an empty requirement":      strings.NewReplacer(demandsBearer, declared+`,"securityRequirements":[{"schemes":{}}]`),
		"one beside another demand": strings.NewReplacer(demandsBearer, declared+`,"securityRequirements":[{"schemes":{"mine":{"list":["none"]}}},{"schemes":{}}]`),
	} {
		t.Run(name, func(t *testing.T) {
			a := &agent{hook: startHook(t)}
			a.serveWith(t, change, server.WithoutAuth(), server.WithAuth(s.verifiers))
			for _, sp := range speakers(a2amore.AllVersions()) {
				m := &matrix{t: t, scheme: s, agent: a, speaker: sp, cells: map[string]int{}}
				nobody, ann := m.session("nobody", shown{}, nil), m.session("somebody", s.show("ann"), nil)
				for _, who := range []*session{nobody, ann} {
					m.must(who, step{"send", `"book"`})
					m.must(who, step{"push-create", `{"taskId":"$task","id":"one","url":"$hook"}`})
				}
				for _, wrong := range []string{"wrong", "its hash"} {
					m.refused(wrong, s.wrong[wrong], nobody, 401, s.challenge("", ""))
				}
				m.foreign("nobody, of somebody's", shown{}, ann)
				m.foreign("somebody, of nobody's", s.show("ann"), nobody)
				m.right(ann)
				for _, of := range slices.Concat(ofSkill, ofAgent[:1], ofAgent[2:]) { // the extended card is for who is known
					m.must(nobody, of)
				}
				m.must(nobody, step{"cancel", `{"id":"$task"}`})
				nobody.end()
				ann.end()
			}
		})
	}
}

// secure has the agent speak TLS.
func (a *agent) secure(t *testing.T) server.Option {
	t.Helper()
	pair, dir, roots := testcert.New(t, "127.0.0.1"), t.TempDir(), x509.NewCertPool()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if err := errors.Join(os.WriteFile(cert, pair.Cert, 0o600), os.WriteFile(key, pair.Key, 0o600)); err != nil {
		t.Fatal(err)
	}
	roots.AppendCertsFromPEM(pair.Cert)
	a.tls = &tls.Config{RootCAs: roots}
	return server.WithTLS(cert, key)
}

// TestAHiddenSkillIsNotThere for who lacks the scopes of the extended card, in any operation: neither by its name nor by a
// task that he has from when he had them. What he is told is what is said of a skill, and of a task, that nobody has.
func TestAHiddenSkillIsNotThere(t *testing.T) {
	p, s := a2amore.AllVersions(), own()
	a := &agent{hook: startHook(t)}
	text := strings.Replace(cardText(p, `{"streaming":true,"pushNotifications":true,"extendedAgentCard":true}`, nil),
		demandsBearer, `"securitySchemes":{`+s.card+`},"securityRequirements":[{"schemes":{"mine":{"list":["use"]}}}]`, 1)
	vault := strings.Replace(text, `"skills":[`, `"skills":[{"id":"vault","name":"Vault","description":"Holds.","tags":["gold"]},`, 1)
	srv, err := server.New(server.Config{
		Protocol: p, Card: readCard(t, p, text), Extended: readCard(t, p, vault), ExtendedScopes: []string{"gold"},
		Skills: []server.Skill{{ID: "desk", Name: "Desk", Run: a.desk}, {ID: "vault", Name: "Vault", Tags: []string{"gold"}, Hidden: true, Run: a.desk}},
	}, grpcserver.Serve(), webhooks.Send(), server.WithLogger(slog.New(slog.DiscardHandler)), server.WithPushTargets("127.0.0.1"), server.WithAuth(s.verifiers))
	if err != nil {
		t.Fatal(err)
	}
	a.addr = serve(t, srv)
	named := func(skill string) []step {
		request := `"book" {"message":{"metadata":{"skillId":"` + skill + `"}}}`
		return []step{{"send", request}, {"stream", request}}
	}
	for _, sp := range speakers(p) {
		m := &matrix{t: t, scheme: s, agent: a, speaker: sp, told: newReported(), cells: map[string]int{}}
		owner := m.session("gold", s.show("gold"), nil)
		m.must(owner, named("vault")[0])
		m.must(owner, step{"push-create", `{"taskId":"$task","id":"one","url":"$hook"}`})
		before := m.look(owner)
		m.foreign("without the scope", s.show("bob"), owner)
		if !sp.version.Rules.ClientIDs { // where one's own id is taken already
			m.foreign("without the scope, as the same caller", s.show("ann"), owner)
		}
		barred := m.session("without the scope", s.show("ann"), nil)
		for i, of := range named("vault") {
			got, want := m.do(barred, of), m.do(barred, named("value")[i])
			if got.fault == nil || want.fault == nil || strings.ReplaceAll(got.fault.raw, "vault", "value") != want.fault.raw {
				m.errorf("%s: %+v, of no skill %+v", of.word, got, want)
			}
		}
		if m.kind = "gold"; m.look(owner) != before {
			m.errorf("the owner sees something else than before")
		}
		m.must(owner, step{"cancel", `{"id":"$task"}`})
		owner.end()
		barred.end()
	}
}

// matrix plays the operations of one speaker with an agent that demands one scheme.
type matrix struct {
	t       *testing.T
	scheme  *scheme
	agent   *agent
	told    *reported // to OpenTelemetry; nil: nobody asks
	speaker *speaker
	kind    string         // of credential
	cells   map[string]int // calls by it
}

// play plays all kinds of credentials.
func (m *matrix) play() {
	if m.scheme.webOnly && m.speaker.binding == runtime.BindingGRPC {
		m.refused("without a place", m.scheme.show("ann"), nil, 401, m.scheme.challenge("", "use"))
		return
	}
	owner := m.session("right", m.scheme.show("ann"), nil)
	defer owner.end()
	m.must(owner, step{"send", `"book"`})
	m.must(owner, step{"push-create", `{"taskId":"$task","id":"one","url":"$hook"}`})
	before := m.look(owner)
	m.refused("missing", shown{}, owner, 401, m.scheme.challenge("", "use"))
	for name, c := range m.scheme.wrong {
		m.refused(name, c, owner, 401, "")
	}
	for name, c := range m.scheme.cut {
		m.cut(name, c)
	}
	if m.scheme.unsure != nil {
		m.refused("nobody can tell", *m.scheme.unsure, owner, 503, "")
	}
	m.refused("without the agent's scope", m.scheme.show("out"), owner, 403, m.scheme.challenge("insufficient_scope", "use"))
	m.tenants(owner)
	m.idle(owner)
	m.foreign("foreign", m.scheme.show("bob"), owner)
	if after := m.look(owner); after != before {
		m.errorf("the owner sees %s, before %s", after, before)
	}
	m.right(owner)
}

func (m *matrix) errorf(format string, args ...any) {
	m.t.Helper()
	m.t.Errorf("%s, %s: %s", m.speaker, m.kind, fmt.Sprintf(format, args...))
}

// session is one of who shows something, who knows what the owner knows.
func (m *matrix) session(kind string, c shown, owner *session) *session {
	m.t.Helper()
	m.kind = kind
	if m.told != nil {
		m.told.show(c)
	}
	d := m.agent.door
	d.query = c.query
	if d.tls != nil {
		d.tls = d.tls.Clone()
		d.tls.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // whoever is asked for
			if c.certificate == nil {
				return new(tls.Certificate), nil
			}
			return c.certificate, nil
		}
	}
	s, err := newSession(m.t.Context(), a2amore.AllVersions().Versions[0], m.speaker, m.agent, "me")
	if err == nil {
		s.link.close()
		s.link, err = m.speaker.link(d)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	delete(s.params, "Authorization")
	maps.Copy(s.params, c.header)
	if owner != nil {
		s.seen = owner.seen
		s.seen.tasks = slices.Clone(owner.seen.tasks)
	}
	return s
}

// outcome is what came of a call: an error, or the first that was answered.
type outcome struct {
	fault *fault
	text  string
	cut   error // there was no connection
}

// do makes a call. Without words for it there is nothing.
func (m *matrix) do(s *session, of step) *outcome {
	m.t.Helper()
	c, op, err := s.compose(of.word, of.request)
	if errors.Is(err, errNoWord) {
		return nil
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.cells[m.kind]++
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	a, err := s.link.call(ctx, c)
	if err != nil {
		return &outcome{cut: err}
	}
	first := item{body: a.body, fault: a.fault}
	if a.stream != nil {
		first, _ = a.stream.next()
		defer a.stream.close()
	}
	if first.fault != nil {
		return &outcome{fault: first.fault}
	}
	if err := s.hear(op, a.stream != nil, first.body, nil); err != nil {
		m.t.Fatal(err)
	}
	return &outcome{text: string(first.body)}
}

// must makes a call that has to go well.
func (m *matrix) must(s *session, of step) string {
	m.t.Helper()
	got := m.do(s, of)
	switch {
	case got == nil:
		return ""
	case got.cut != nil:
		m.errorf("%s: %v", of.word, got.cut)
	case got.fault != nil:
		m.errorf("%s: %v %s", of.word, got.fault.protocolError, got.fault.raw)
	}
	return got.text
}

// look is what the owner sees of the task and its push notifications.
func (m *matrix) look(owner *session) string {
	return m.must(owner, step{"get", `{"id":"$task"}`}) + m.must(owner, step{"push-list", `{"taskId":"$task"}`})
}

// refusals are how a caller is refused, by the status of HTTP.
var refusals = map[int]struct {
	code int
	grpc string
}{401: {runtime.ErrUnauthenticated.Code, "UNAUTHENTICATED"}, 403: {runtime.ErrPermissionDenied.Code, "PERMISSION_DENIED"},
	503: {runtime.ErrInternal.Code, "UNAVAILABLE"}}

// refused does everything as somebody who may do nothing.
func (m *matrix) refused(kind string, c shown, owner *session, status int, challenge string) {
	s := m.session(kind, c, owner)
	defer s.end()
	if len(s.seen.tasks) == 0 {
		s.seen.tasks = []string{newID()}
	}
	steps := all
	if kind == m.scheme.slow {
		steps = slices.Concat(withTask[:1], ofSkill)
	}
	for _, of := range steps {
		if got := m.do(s, of); got != nil {
			m.refusal(of, got, c, status, challenge)
		}
	}
}

// refusal checks one.
func (m *matrix) refusal(of step, got *outcome, c shown, status int, challenge string) {
	m.t.Helper()
	want := refusals[status]
	f := got.fault
	switch {
	case f == nil:
		m.errorf("%s: not refused: %s %v", of.word, got.text, got.cut)
		return
	case f.Code != want.code, m.speaker.binding != runtime.BindingGRPC && f.class.http != status,
		m.speaker.binding == runtime.BindingGRPC && f.class.code != want.grpc:
		m.errorf("%s: refused with %d %+v, want %d: %s", of.word, f.Code, f.class, status, f.raw)
	case challenge != "" && strings.Join(f.challenge, "|") != challenge:
		m.errorf("%s: challenge %q, want %q", of.word, f.challenge, challenge)
	case status == 401 && len(f.challenge) == 0:
		m.errorf("%s: no challenge", of.word)
	}
	for _, secret := range c.header {
		_, value, _ := strings.Cut(secret, " ")
		if len(value) > 3 && strings.Contains(f.raw, value) {
			m.errorf("%s: what was shown is in %s", of.word, f.raw)
		}
	}
}

// cut does everything with what ends the connection.
func (m *matrix) cut(kind string, c shown) {
	s := m.session(kind, c, nil)
	defer s.end()
	s.seen.tasks = []string{newID()}
	for _, of := range all {
		switch got := m.do(s, of); {
		case got == nil, got.cut != nil:
		case got.fault == nil || got.fault.class.code != "UNAVAILABLE" || got.fault.challenge != nil: // which gRPC says of no connection
			m.errorf("%s: there is an answer: %+v", of.word, got)
		}
	}
}

// tenants does everything as who may act for one tenant alone.
func (m *matrix) tenants(owner *session) {
	c := m.scheme.show("acme")
	for kind, tenant := range map[string]string{"for another tenant": "other", "for no tenant": ""} {
		s := m.session(kind, c, owner)
		defer s.end()
		steps := all
		if s.params["A2A-Tenant"] = tenant; tenant == "" {
			delete(s.params, "A2A-Tenant")
			steps = slices.Concat(withTask, ofSkill, ofAgent[:1])
		}
		for _, of := range steps {
			if of.word == "card" && m.speaker.version.Rules.PublicCard {
				continue
			}
			if got := m.do(s, of); got != nil {
				m.refusal(of, got, c, 403, "")
			}
		}
	}
	s := m.session("for another tenant, in the request", c, owner)
	defer s.end()
	for _, of := range slices.Concat(withTask, ofSkill, ofAgent[:1]) {
		if got := m.do(s, step{of.word, withTenant(of.request)}); got != nil {
			m.refusal(of, got, c, 403, "")
		}
	}
	s = m.session("for its tenant", c, nil)
	defer s.end()
	s.params["A2A-Tenant"] = "acme"
	for _, of := range slices.Concat(ofSkill, ofAgent, []step{{"get", `{"id":"$task"}`}}) {
		m.must(s, of)
	}
	theirs := m.session("from a tenant", m.scheme.show("ann"), s)
	defer theirs.end()
	if got := m.do(theirs, step{"get", `{"id":"$task"}`}); got.fault == nil || got.fault.Code != runtime.ErrTaskNotFound.Code {
		m.errorf("get: %+v", got)
	}
}

// withTenant is a request that names a tenant.
func withTenant(request string) string {
	before, after, more := strings.Cut(request, "{")
	switch {
	case !more:
		return request + ` {"tenant":"other"}`
	case after == "}":
		return before + `{"tenant":"other"}`
	}
	return before + `{"tenant":"other",` + after
}

// idle does everything as who may not use the skill: there is nothing of it.
func (m *matrix) idle(owner *session) {
	const kind = "without the skill's scope"
	c := m.scheme.show("idle")
	if m.scheme.single { // somebody else, who has no tasks
		m.foreign(kind, c, owner)
	}
	s := m.session(kind, c, owner)
	defer s.end()
	steps := ofSkill
	if !m.scheme.single {
		steps = slices.Concat(withTask, ofSkill)
	}
	for _, of := range steps {
		if got := m.do(s, of); got != nil {
			m.refusal(of, got, c, 403, m.idleChallenge())
		}
	}
	for _, of := range ofAgent {
		if text := m.must(s, of); of.word == "list" && text != "" && strings.Contains(text, owner.seen.tasks[0]) {
			m.errorf("the list has a task of the skill: %s", text)
		}
	}
}

// idleChallenge names what the skill demands.
func (m *matrix) idleChallenge() string {
	challenge, _, _ := strings.Cut(m.scheme.challenge("insufficient_scope", "use work"), "|") // the key is no matter
	return challenge
}

// foreign does everything with another's task: it is as one that is not there, byte for byte.
func (m *matrix) foreign(kind string, c shown, owner *session) {
	s := m.session(kind, c, owner)
	defer s.end()
	none := m.session(kind, c, nil)
	defer none.end()
	theirs, nobodys := owner.seen.tasks[0], newID()
	none.seen.tasks = []string{nobodys}
	for _, of := range withTask {
		got, want := m.do(s, of), m.do(none, of)
		switch {
		case got == nil:
		case got.cut != nil, want.cut != nil:
			m.errorf("%s: %v, %v", of.word, got.cut, want.cut)
		case (got.fault == nil) != (want.fault == nil):
			m.errorf("%s: %+v, of no task %+v", of.word, got, want)
		case got.fault != nil && strings.ReplaceAll(got.fault.raw, theirs, nobodys) != want.fault.raw:
			m.errorf("%s: %s, of no task %s", of.word, got.fault.raw, want.fault.raw)
		case got.fault == nil && len(got.text) != len(want.text): // 0.1 makes a task of the id
			m.errorf("%s: %s, of no task %s", of.word, got.text, want.text)
		case got.fault != nil && got.fault.Code != runtime.ErrTaskNotFound.Code && !m.speaker.version.Rules.ClientIDs:
			m.errorf("%s: %s", of.word, got.fault.raw)
		}
		s.seen.tasks, none.seen.tasks = []string{theirs}, []string{nobodys}
	}
	if text := m.must(s, ofAgent[0]); strings.Contains(text, theirs) && m.speaker.version.Name != "0.1" {
		m.errorf("the list has another's task: %s", text)
	}
}

// right does everything as who may.
func (m *matrix) right(owner *session) {
	m.kind = "right"
	mine := slices.Clone(owner.seen.tasks)
	for _, of := range slices.Concat(ofAgent, ofSkill) {
		m.must(owner, of)
	}
	owner.seen.tasks = mine
	for _, of := range withTask {
		if of.word == "stream" || of.word == "cancel" { // what went before has ended the task
			owner.seen.tasks = nil
			m.must(owner, step{"send", `"book"`})
		}
		m.must(owner, of)
	}
}
