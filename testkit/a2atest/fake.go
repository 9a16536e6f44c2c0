package a2atest

import (
	"fmt"
	"log/slog"
	"path"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

// FakeConfig is an agent to fake, as generated code describes it.
type FakeConfig struct {
	Name     string            // "weather"
	Protocol *runtime.Protocol // that of clients, made for this fake
	Card     any               // the generated card, an *a2a.AgentCard; nil: one is made of the skills
	Skills   []AnySkill
	Samples  map[string]string // made-up outputs by skill id, JSON by the output's schema: see [Fake.Samples]
	Bindings []Binding         // beside JSON-RPC and HTTP+JSON
	// Extensions are those of the card whose values are typed; nil: there are none.
	Extensions server.Extensions
}

// Binding is a binding that this package does not link, such as gRPC.
type Binding struct {
	Name   string                  // on cards: "GRPC"
	Server server.Option           // serves it
	Client func(*Agent) rpc.Option // calls it by [Agent.Dial]
}

// Fake is an agent whose skills answer as a test scripts them, through the real server and the real codecs of the protocol.
// A generated Fake embeds it.
type Fake struct {
	*Agent
	config FakeConfig
	at     string       // the line of the test that made it
	log    *slog.Logger // of the server: it has, for example, the error that a function of the test returned

	versions []string // that it speaks; nil: those of the card
	bindings []string // nil: those of the card

	mu      sync.Mutex
	sampled bool
	begun   bool // what it speaks can be changed no more
	over    bool // the test has ended: nothing is reported
	reports int
}

// NewFake makes a fake, which is there until the test ends. Generated code calls it. A call that no answer was set for
// fails the test.
func NewFake(t testing.TB, c FakeConfig, opts ...Option) *Fake {
	t.Helper()
	s := settingsOf(c.Name, opts)
	f := &Fake{Agent: newAgent(t, s), config: c, at: testLine(), log: newLogger(t, slog.LevelWarn)}
	for _, sk := range c.Skills {
		if err := sk.join(f); err != nil {
			t.Fatalf("a2atest: the fake %q: %v", s.name, err)
		}
	}
	if len(s.versions) > 0 {
		f.Versions(s.versions...)
	}
	if len(s.bindings) > 0 {
		f.Over(s.bindings...)
	}
	f.open = func() {
		f.mu.Lock()
		f.begun = true
		f.mu.Unlock()
		srv, err := f.newServer(s.server)
		if err != nil {
			f.fail("a2atest: the fake %q cannot serve: %v", f.name, err)
			return
		}
		f.handler = srv
	}
	t.Cleanup(func() {
		t.Helper()
		for _, sk := range c.Skills {
			for _, missing := range sk.unused() {
				t.Errorf("%s", missing)
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.over = true
	})
	return f
}

// Versions has the fake speak these versions of the protocol alone, such as "0.3", to be an old peer. Without it the
// fake speaks those that the card offers. It must be called before the first request.
func (f *Fake) Versions(names ...string) {
	f.t.Helper()
	f.beforeRequests("Versions")
	for _, name := range names {
		if f.version(name) == nil {
			var all []string
			for _, v := range f.config.Protocol.Versions {
				all = append(all, v.Name)
			}
			f.t.Fatalf("a2atest: the fake %q cannot speak version %q of the protocol: its protocol package has %s; "+
				"list the version under \"protocol\" in a2agen.yaml", f.name, name, strings.Join(all, ", "))
		}
	}
	f.versions = names
}

// Versions is [Fake.Versions] as an option of a generated NewFake.
func Versions(names ...string) Option { return func(s *settings) { s.versions = names } }

// Over has the fake speak these bindings alone, by their names on cards: "JSONRPC", "HTTP+JSON", and "GRPC" where the
// project has it. Without it the fake speaks those that the card offers. It must be called before the first request.
func (f *Fake) Over(bindings ...string) {
	f.t.Helper()
	f.beforeRequests("Over")
	for _, name := range bindings {
		if !slices.Contains(f.served(), name) {
			f.t.Fatalf("a2atest: the fake %q cannot speak %q: it speaks %s", f.name, name, strings.Join(f.served(), ", "))
		}
	}
	f.bindings = bindings
}

// Over is [Fake.Over] as an option of a generated NewFake.
func Over(bindings ...string) Option { return func(s *settings) { s.bindings = bindings } }

// With adds options to the server of a fake: one of server.WithProxyIdentity decides who callers are, and may refuse
// those without a credential.
func With(opts ...server.Option) Option {
	return func(s *settings) { s.server = append(s.server, opts...) }
}

// Samples has skills for which no answer is set answer values that are made up from their schemas, instead of failing
// the test.
func (f *Fake) Samples() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sampled = true
}

// Options are those of [Agent.Options], and the bindings of the project.
func (f *Fake) Options() []rpc.Option {
	opts := f.Agent.Options()
	for _, b := range f.config.Bindings {
		if b.Client != nil {
			opts = append(opts, b.Client(f.Agent))
		}
	}
	return opts
}

func (f *Fake) beforeRequests(method string) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun {
		f.t.Fatalf("a2atest: %s of the fake %q must be called before the first request to it, and before its client is made",
			method, f.name)
	}
}

// version finds a version of the protocol package; nil if it is not there.
func (f *Fake) version(name string) *runtime.Version {
	at := slices.IndexFunc(f.config.Protocol.Versions, func(v *runtime.Version) bool { return v.Name == name })
	if at < 0 {
		return nil
	}
	return f.config.Protocol.Versions[at]
}

// served are the bindings that the fake can speak.
func (f *Fake) served() []string {
	names := []string{runtime.BindingJSONRPC, runtime.BindingHTTP}
	for _, b := range f.config.Bindings {
		names = append(names, b.Name)
	}
	return names
}

// newServer makes the server, with the first connection.
func (f *Fake) newServer(more []server.Option) (*server.Server, error) {
	plan, err := f.plan()
	if err != nil {
		return nil, err
	}
	opts := append(serverOptions(f.log),
		server.WithURL(f.URL()), server.WithLimits(server.Limits{Timeout: longest}), server.WithRouter(f.route))
	for _, b := range f.config.Bindings {
		if b.Server != nil && slices.ContainsFunc(plan.offers, func(o offer) bool { return o.Binding == b.Name }) {
			opts = append(opts, b.Server)
		}
	}
	c := server.Config{Protocol: plan.protocol, Card: plan.card, Extensions: f.config.Extensions}
	for _, sk := range f.config.Skills {
		c.Skills = append(c.Skills, sk.serve(plan.skills[sk.skillID()]))
	}
	return server.New(c, append(opts, more...)...)
}

// longest is how long a skill of a fake may take: in a bubble of testing/synctest that is no time.
const longest = 10 * 365 * 24 * time.Hour

// maxReports is how many failures a fake reports: a client that tries again and again must not fill the log.
const maxReports = 50

// fail fails the test, from any goroutine.
func (f *Fake) fail(format string, args ...any) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	switch f.reports++; {
	case f.reports < maxReports:
		f.t.Errorf(format, args...)
	case f.reports == maxReports:
		f.t.Errorf("a2atest: %s: the fake %q reports no more failures", f.at, f.name)
	}
}

// isSampled reports whether [Fake.Samples] was called.
func (f *Fake) isSampled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sampled
}

// shortened is what a report shows of an input.
func shortened(b []byte) string {
	const most = 2000
	if len(b) > most {
		return fmt.Sprintf("%s… (%d bytes)", b[:most], len(b))
	}
	return string(b)
}

// testLine is the line of a test that called this package, as "weather_test.go:12": the first frame outside of it and of
// generated code.
func testLine() string {
	var pcs [32]uintptr
	frames := goruntime.CallersFrames(pcs[:goruntime.Callers(1, pcs[:])])
	kit := ""
	for {
		f, more := frames.Next()
		if kit == "" {
			kit = strings.TrimSuffix(f.Function, "testLine") // the path of this package, with a dot
		}
		if !strings.HasPrefix(f.Function, kit) && !strings.HasSuffix(f.File, ".gen.go") {
			return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown line"
		}
	}
}
