package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Server is an agent as an [http.Handler]. It starts no goroutines until there is work, and none outlives [Server.Shutdown].
type Server struct {
	options
	protocol *runtime.Protocol
	// operations are those that the runtime does not know.
	operations map[string]Operation
	versions   []version
	byClient   *version // the one whose clients choose their tasks' ids; nil: none
	skills     []*skill
	byID       map[string]*skill
	info       runtime.CardInfo
	tenants    map[string]bool // declared tenants; nil when the card declares none: then any tenant is a name space of its own
	required   []string        // extensions that a request must declare
	known      map[string]bool // all declared extensions
	names      map[string]bool // hosts under which the agent is reached on its own machine
	card       cards
	paths      map[string]bool // where JSON-RPC is served
	origin     *http.CrossOriginProtection
	beat       ticker
	held       holder
	ids        ids

	streams atomic.Int64
	bodies  budget        // of requests being received
	answers budget        // of what is being written
	closing chan struct{} // closed when streams are to end
	hurry   chan struct{} // closed when the shutdown has no more time: what waits for the store has one more try

	mu       sync.Mutex
	live     map[store.Key]*live
	running  map[*Task]int // admitted handler calls, with the number of goroutines at work on each
	draining bool
	idle     chan struct{} // closed when draining and nothing runs
}

// version is one spoken version with its methods by name.
type version struct {
	*runtime.Version
	index   int
	methods map[string]*runtime.Operation
	shape   *cardShape
}

// skill is a configured skill with what is computed once.
type skill struct {
	Skill
	slots    chan struct{} // nil: no bound
	metadata []byte        // {"<extension>": {"skill": "<id>"}}
	words    vocabulary
	// shape and properties are what the input schema says, for questions and for the answers to them.
	shape      shape
	properties []property
}

// New makes a server. It fails on a configuration that cannot work: no protocol, no card, skills without ids or twice the same.
func New(cfg Config, opts ...Option) (*Server, error) {
	s := &Server{
		options: defaultOptions(), protocol: cfg.Protocol, operations: cfg.Operations,
		byID: map[string]*skill{}, known: map[string]bool{}, paths: map[string]bool{},
		live: map[store.Key]*live{}, running: map[*Task]int{},
		closing: make(chan struct{}), hurry: make(chan struct{}), idle: make(chan struct{}),
		origin: http.NewCrossOriginProtection(),
	}
	for _, o := range opts {
		o(&s.options)
	}
	s.limits = s.limits.withDefaults()
	s.bodies.limit, s.answers.limit = s.limits.Bodies, s.limits.Answers
	clock := s.now
	s.now = func() time.Time { return clock().UTC().Truncate(time.Millisecond) } // R96, R98, T60
	if s.store == nil {
		s.store = store.NewMemory(store.MemoryLimits{})
	}
	if cfg.Protocol == nil || len(cfg.Protocol.Versions) == 0 || cfg.Card == nil {
		return nil, errors.New("server: the configuration has no protocol or no card")
	}
	for i, v := range cfg.Protocol.Versions {
		s.addVersion(i, v)
	}
	for i := range s.versions {
		if s.byClient == nil && s.versions[i].Rules.ClientIDs {
			s.byClient = &s.versions[i]
		}
	}
	if err := s.addSkills(cfg.Skills); err != nil {
		return nil, err
	}
	for _, o := range s.origins {
		if err := s.origin.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("server: origin: %w", err)
		}
	}
	s.beat.s = s
	s.beat.now.Store(1)
	return s, s.readCard(cfg.Card)
}

func (s *Server) addVersion(i int, v *runtime.Version) {
	methods := make(map[string]*runtime.Operation, len(v.Operations))
	for _, op := range v.Operations {
		methods[op.RPC] = op
	}
	s.versions = append(s.versions, version{Version: v, index: i, methods: methods, shape: &cardShape{v}})
}

func (s *Server) addSkills(skills []Skill) error {
	for _, def := range skills {
		if def.ID == "" || def.Run == nil {
			return fmt.Errorf("server: skill %q has no id or no handler", def.Name)
		}
		if s.byID[def.ID] != nil {
			return fmt.Errorf("server: skill %q is there twice", def.ID)
		}
		sk := &skill{Skill: def, metadata: skillMetadata(def.ID), words: newVocabulary(def)}
		sk.shape, sk.properties = readShape(def.InputSchema)
		if def.MaxConcurrent > 0 {
			sk.slots = make(chan struct{}, def.MaxConcurrent)
		}
		s.skills = append(s.skills, sk)
		s.byID[def.ID] = sk
	}
	return nil
}

// readCard takes from the card what the server needs: paths, tenants, extensions.
func (s *Server) readCard(card runtime.Card) error {
	s.info = card.CardInfo()
	var hosts []string
	for _, x := range s.info.Extensions {
		s.known[x.URI] = true
		if runtime.IsSkillsExtension(x.URI) {
			s.known[runtime.SkillsExtension], s.known[runtime.FormerSkillsExtension] = true, true
		}
		if x.Required {
			s.required = append(s.required, x.URI)
		}
	}
	for _, i := range s.info.Interfaces {
		if i.Binding != bindingJSONRPC {
			continue
		}
		u, err := url.Parse(i.URL)
		if err != nil {
			return fmt.Errorf("server: interface url: %w", err)
		}
		if u.Host == "" && i.Version != "" && !s.speaks(i.Version) { // a URL with a host may be somebody else's
			return fmt.Errorf("server: the card offers version %s of the protocol at %q, which the protocol package does not speak: list it under \"protocol\" where that package is generated", i.Version, i.URL)
		}
		s.addPath(u.Path)
		hosts = append(hosts, u.Host)
		if i.Tenant != "" && s.tenants == nil {
			s.tenants = map[string]bool{}
		}
	}
	if s.tenants != nil {
		for _, i := range s.info.Interfaces {
			s.tenants[i.Tenant] = true
		}
	}
	if len(s.paths) == 0 {
		s.addPath("/")
	}
	base, err := s.card.init(s, card)
	if err != nil {
		return err
	}
	if u, err := url.Parse(s.card.fixed); err == nil {
		hosts = append(hosts, u.Host)
	}
	s.addHosts(hosts)
	if base != "" {
		for _, p := range slices.Collect(maps.Keys(s.paths)) {
			s.addPath(base + p) // a proxy may pass the prefix of the public URL on or strip it
		}
	}
	return nil
}

// speaks reports whether the version, maybe with a patch number, is among those of the protocol package.
func (s *Server) speaks(name string) bool {
	return slices.ContainsFunc(s.versions, func(v version) bool { return name == v.Name || strings.HasPrefix(name, v.Name+".") })
}

// bindingJSONRPC is the protocolBinding of JSON-RPC in a card.
const bindingJSONRPC = "JSONRPC"

// addPath serves JSON-RPC at the path and at the path + "/".
func (s *Server) addPath(p string) {
	p = strings.TrimRight(p, "/")
	s.paths[p] = true
	s.paths[p+"/"] = true
}

// Paths of the endpoints beside JSON-RPC (A2A 1.0 §8.2, R246).
const (
	CardPath   = "/.well-known/agent-card.json"
	HealthPath = "/healthz"
)

// ServeHTTP answers JSON-RPC at the paths of the card's interfaces, the card at [CardPath] and where older spoken versions have it,
// and [HealthPath]. A browser gets a page about the agent at "/" and where JSON-RPC is.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == HealthPath:
		s.serveHealth(w, r)
	case !s.allowHost(w, r):
	case s.paths[path]:
		s.serveRPC(w, r)
	case s.card.paths[path] != nil:
		s.serveCard(w, r, s.card.paths[path])
	case path == "/" && wantsPage(r):
		s.servePage(w, r)
	default:
		http.Error(w, "There is nothing here. "+s.directions(r), http.StatusNotFound)
	}
}

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	draining := s.draining
	s.mu.Unlock()
	w.Header()["Content-Type"] = textType
	w.Header()["Cache-Control"] = noStore
	if draining {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("shutting down\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// Shutdown refuses new work and lets the handlers at work finish until ctx is done; then it cancels them, and gives them a moment to
// return. At last it ends the open streams. It returns ctx's error when handlers had to be canceled.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		if len(s.running) == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	err := s.drain(ctx)
	s.mu.Lock()
	select {
	case <-s.closing:
	default:
		close(s.closing)
	}
	s.mu.Unlock()
	s.beat.stop()
	return err
}

// isClosing reports whether streams are to end.
func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// Close is Shutdown without patience: handlers at work are canceled at once.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (s *Server) drain(ctx context.Context) error {
	select {
	case <-s.idle:
		return nil
	default:
	}
	select {
	case <-s.idle:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for t := range s.running {
		t.cancel(errShutdown)
	}
	select {
	case <-s.hurry:
	default:
		close(s.hurry)
	}
	s.mu.Unlock()
	late, stop := context.WithTimeout(context.Background(), lastGrace)
	defer stop()
	select {
	case <-s.idle:
	case <-late.Done():
		s.logger.Warn("handlers ignore their canceled context")
	}
	return context.Cause(ctx)
}

// admit counts a handler's call in, or refuses it.
func (s *Server) admit(t *Task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return errBusy.With("the agent is shutting down")
	}
	if len(s.running) >= s.limits.Running {
		return errBusy
	}
	s.running[t] = 1
	return nil
}

// hold keeps an admitted call counted in until it is dismissed once more.
func (s *Server) hold(t *Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[t]++
}

// dismiss counts a handler's call out.
func (s *Server) dismiss(t *Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[t]--; s.running[t] > 0 {
		return
	}
	delete(s.running, t)
	if s.draining && len(s.running) == 0 {
		select {
		case <-s.idle:
		default:
			close(s.idle)
		}
	}
}

// log returns the logger with a method's and a task's names. It is for rare events: attributes cost time.
func (s *Server) log(skill, task string) *slog.Logger {
	l := s.logger
	if skill != "" {
		l = l.With("skill", skill)
	}
	if task != "" {
		l = l.With("task", task)
	}
	return l
}
