// Package server hosts an agent: it answers JSON-RPC, HTTP+JSON and event streams over HTTP, serves the card and a page about the
// agent, and refuses who must not come in. What requests mean is the engine's to say (package engine).
//
// A generated NewServer fills a [Config]; [New] turns it into an [http.Handler]; [Main] hosts it as a process.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/audit"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/listen"
)

// Server is an agent as an [http.Handler]. It starts no goroutines until there is work, and none outlives
// [Server.Shutdown].
type Server struct {
	options
	engine *engine.Engine
	logger *slog.Logger
	limits Limits

	paths   map[string]bool                 // where JSON-RPC is served
	methods []map[string]*runtime.Operation // by version and name
	bases   []string                        // paths below which HTTP+JSON is served, encoded, the longest first
	rest    []restTable                     // what HTTP+JSON has, by version
	codings []engine.Coding                 // of events over JSON-RPC, by version

	card     cards
	extended map[string]*engine.Version // paths where a version has the extended card
	origin   *http.CrossOriginProtection
	names    map[string]bool // hosts under which the agent is reached on its own machine
	bodies   budget.Budget   // of requests being received
	sender   PushSender      // of push notifications; nil: there is none
	tasks    tasks           // where they are kept
	guard    *auth.Guard     // nil: the card's demands are not checked here
	refusals refusals
	audit    *audit.Log // nil: there is none
	aboutResource

	beside      listen.Transport    // nil: there is none
	pages       *http.ServeMux      // of the user's own; nil: there are none
	certificate *listen.Certificate // nil: clear text
}

// New makes a server. It fails on a configuration that cannot work: no protocol, no card, skills without ids or twice
// the same.
func New(cfg Config, opts ...Option) (*Server, error) {
	s := &Server{options: defaultOptions(), paths: map[string]bool{}, extended: map[string]*engine.Version{}, origin: http.NewCrossOriginProtection()}
	for _, o := range opts {
		o(&s.options)
	}
	if err := s.start(cfg); err != nil {
		_ = s.tasks.close()
		s.closeAudit()
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.init(cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start makes the engine with what it needs of the world.
func (s *Server) start(cfg Config) (err error) {
	if err := s.initPush(); err != nil {
		return err
	}
	s.core.Identifies = s.access.identifies()
	if err := s.openAudit(); err != nil {
		return err
	}
	if s.tasks, err = openTasks(cfg, &s.core); err != nil {
		return err
	}
	cfg.Skills = s.handled(cfg.Skills)
	s.engine, err = engine.New(cfg, s.core)
	if err == nil && s.engine.Info().Push && s.sender == nil {
		return errors.New("the card says that the agent sends push notifications: give the server webhooks.Send()")
	}
	return err
}

// handled are the skills with the handler that stands in for theirs, if there is one.
func (s *Server) handled(skills []Skill) []Skill {
	if s.handler == nil {
		return skills
	}
	run := func(ctx context.Context, t *Task, _ any) ([]byte, error) { return nil, s.handler(ctx, t) }
	others := make([]Skill, len(skills))
	for i, sk := range skills {
		others[i] = Skill{
			ID: sk.ID, Name: sk.Name, Description: sk.Description, Tags: sk.Tags, Examples: sk.Examples, Hidden: sk.Hidden, Run: run,
		}
	}
	return others
}

// init makes of the configuration what requests need.
func (s *Server) init(cfg Config) error {
	s.logger, s.limits = s.core.Logger, s.engine.Limits()
	s.bodies.Limit = s.limits.Bodies
	for _, v := range s.engine.Versions() {
		s.methods = append(s.methods, methodsOf(v))
		s.rest = append(s.rest, newRESTTable(v))
		s.codings = append(s.codings, lineCoding(v, v.Over(runtime.BindingJSONRPC)))
	}
	for _, o := range s.origins {
		if err := s.origin.AddTrustedOrigin(o); err != nil {
			return fmt.Errorf("server: origin: %w", err)
		}
	}
	if err := s.initTLS("", ""); err != nil {
		return err
	}
	if err := s.readCard(cfg.Card); err != nil {
		return err
	}
	s.access.extended = cfg.ExtendedScopes
	if err := s.protect(cfg.Extended); err != nil || s.transport == nil {
		return err
	}
	var err error
	s.beside, err = s.transport(&Host{s})
	return err
}

// readCard takes from the card what the server needs: paths and hosts.
func (s *Server) readCard(card runtime.Card) error {
	var hosts []string
	for _, i := range s.engine.Info().Interfaces {
		host, err := s.readInterface(i)
		if err != nil {
			return err
		}
		hosts = append(hosts, host)
	}
	if len(s.paths)+len(s.bases) == 0 && s.transport == nil {
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
		for _, p := range slices.Clone(s.bases) {
			s.addBase((&url.URL{Path: base}).EscapedPath() + p)
		}
	}
	return nil
}

// readInterface takes from an interface of the card where it is served, and under which host. One that is not served is an
// error, unless it may be somebody else's, since its URL has a host.
func (s *Server) readInterface(i runtime.Interface) (host string, err error) {
	var b *runtime.Binding
	switch b = runtime.BindingNamed(i.Binding); {
	case b == nil:
		return "", nil
	case b.HostPort && !strings.HasPrefix(i.URL, "/"):
		return i.URL, nil // host:port, which is no URL
	}
	u, err := url.Parse(i.URL)
	if err != nil {
		return "", fmt.Errorf("server: interface url: %w", err)
	}
	v := s.engine.Spoken(i.Version)
	switch {
	case u.Host == "" && i.Version != "" && v == nil:
		return "", fmt.Errorf("server: the card offers version %s of the protocol at %q, which the protocol package "+
			"does not speak: list it under \"protocol\" where that package is generated", i.Version, i.URL)
	case u.Host == "" && v != nil && v.Over(i.Binding) == nil:
		return "", fmt.Errorf("server: the card offers version %s over %s at %q, for which the protocol package "+
			"has no codec: list it under \"bindings\" where that package is generated", i.Version, i.Binding, i.URL)
	case u.Host == "" && b.Server != "" && s.transport == nil:
		return "", fmt.Errorf("server: the card offers %s at %q: give the server %s.Serve()", i.Binding, i.URL, path.Base(b.Server))
	}
	switch i.Binding {
	case runtime.BindingHTTP:
		s.addBase(u.EscapedPath())
	case runtime.BindingJSONRPC:
		s.addPath(u.Path)
	}
	return u.Host, nil
}

// addPath serves JSON-RPC at the path and at the path + "/".
func (s *Server) addPath(p string) {
	s.addExtended(p)
	p = strings.TrimRight(p, "/")
	s.paths[p] = true
	s.paths[p+"/"] = true
}

// addBase serves HTTP+JSON below a path, which is encoded.
func (s *Server) addBase(p string) {
	if p = strings.TrimRight(p, "/"); slices.Contains(s.bases, p) {
		return
	}
	s.bases = append(s.bases, p)
	slices.SortFunc(s.bases, func(a, b string) int { return len(b) - len(a) })
}

// below finds what follows the path of an interface of HTTP+JSON in that of a request, encoded.
func (s *Server) below(r *http.Request) (path string, ok bool) {
	if len(s.bases) == 0 {
		return "", false
	}
	whole := r.URL.EscapedPath()
	for _, base := range s.bases {
		if path, ok = strings.CutPrefix(whole, base); ok && strings.HasPrefix(path, "/") {
			return path, true
		}
	}
	return "", false
}

// Paths of the endpoints beside JSON-RPC (A2A 1.0 §8.2, R246).
const (
	CardPath   = "/.well-known/agent-card.json"
	HealthPath = "/healthz"
)

// ServeHTTP answers JSON-RPC at the paths of the card's interfaces, HTTP+JSON below them, the card at [CardPath] and where older spoken
// versions have it, and [HealthPath]. A browser gets a page about the agent at "/" and where JSON-RPC is.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor > 1 {
		limited := listen.NewResponseWriter(w, s.limits.Stall)
		defer limited.Finish()
		w = limited
	}
	if r.URL.Path != HealthPath && !s.allowReach(w, r) {
		return
	}
	if s.beside != nil && s.beside.Calls(r) {
		if s.allowHost(w, r) {
			s.beside.ServeHTTP(w, r)
		}
		return
	}
	switch path := r.URL.Path; {
	case path == HealthPath:
		s.serveHealth(w, r)
	case !s.allowHost(w, r):
	case s.paths[path]:
		s.serveRPC(w, r)
	case s.card.paths[path] != nil:
		s.serveCard(w, r, s.card.paths[path])
	case s.extended[path] != nil:
		s.serveExtended(w, r, s.extended[path])
	case s.aboutResource.at(path):
		s.serveResource(w, r)
	case path == runtime.PushKeysPath && s.signer != nil:
		s.serveKeys(w, r)
	case path == "/" && wantsPage(r):
		s.servePage(w, r)
	default:
		if s.servesOwn(w, r) {
			return
		}
		if path, ok := s.below(r); ok {
			s.serveREST(w, r, path)
			return
		}
		http.Error(w, "There is nothing here. "+s.directions(r), http.StatusNotFound)
	}
}

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Type"] = textType
	w.Header()["Cache-Control"] = noStore
	if s.engine.Draining() {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("shutting down\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// Handle serves a page of your own beside the agent, such as the callback of OAuth. The pattern is one of
// [http.ServeMux]; it goes before HTTP+JSON, which may be below any path, and after all else. Anybody who reaches the
// agent may ask for it: what the card demands is not checked. Call it before the server serves.
func (s *Server) Handle(pattern string, h http.Handler) {
	if s.pages == nil {
		s.pages = http.NewServeMux()
	}
	s.pages.Handle(pattern, h)
}

// servesOwn answers with a page of the user's own, if there is one.
func (s *Server) servesOwn(w http.ResponseWriter, r *http.Request) bool {
	if s.pages == nil {
		return false
	}
	if _, pattern := s.pages.Handler(r); pattern == "" {
		return false
	}
	s.pages.ServeHTTP(w, r)
	return true
}

// Redeem has the handler that waits for an authorization called again, with a value that it reads with Task.Authorized:
// for whoever gets the authorization, such as the callback of OAuth. The handle is the one that was given to the Visit of
// the handler's [AuthRequest]; it is good once. The value is kept, as JSON, with the task until the handler has
// returned. [ErrHandle] says that the handle is not good; after any other error it may be tried again. Redeem does not
// wait for the handler.
func (s *Server) Redeem(ctx context.Context, handle string, value any) error {
	return s.engine.Redeem(ctx, handle, value)
}

// Shutdown refuses new work and lets the handlers at work finish until ctx is done; then it cancels them, and gives
// them a moment to return. At last it ends the open streams. It returns ctx's error when handlers had to be canceled.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.closeAudit()
	defer s.closePush()
	s.drain()
	return s.engine.Shutdown(ctx)
}

func (s *Server) drain() {
	if s.beside != nil {
		s.beside.Drain()
	}
}

// Close is Shutdown that waits for no handler: those at work are canceled at once.
func (s *Server) Close() error {
	defer s.closeAudit()
	defer s.closePush()
	s.drain()
	return s.engine.Close()
}
