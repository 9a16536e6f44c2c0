// Package server hosts an agent: it answers JSON-RPC, HTTP+JSON and event streams over HTTP, serves the card and a page
// about the agent, and refuses callers without permission. What operations do is for package engine.
//
// A generated NewServer fills a [Config]; [New] turns it into an [http.Handler]; [Main] hosts it as a process.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/audit"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Server is an agent as an [http.Handler]. It starts no goroutines until there is work, and none outlives
// [Server.Shutdown].
type Server struct {
	options
	engine *engine.Engine
	logger *slog.Logger
	limits Limits

	agent    *binding.Agent // what bindings see of the server
	rpc      *binding.JSONRPC
	http     routes            // HTTP+JSON; nil: it is not served
	beside   binding.Transport // nil: there is none
	other    Endpoint          // of another protocol; nil: there is none
	paths    paths             // where they are served
	policy   *binding.Policy   // which requests are answered, by where they come from
	cards    *binding.Cards
	resource *binding.Resource // nil: there is none
	page     *binding.Page

	sender      PushSender // of push notifications; nil: there is none
	skills      []Skill
	tasks       tasks                // where they are kept
	audit       *audit.Log           // nil: there is none
	pages       *http.ServeMux       // of the user's own; nil: there are none
	certificate *binding.Certificate // nil: clear text
	disconnect  func()               // closes the clients of the handlers; nil: there are none
}

// New makes a server. It fails on a configuration that cannot work: no protocol, no card, skills without ids or twice
// the same.
func New(cfg Config, opts ...Option) (*Server, error) {
	withREST := func(o *options) { // nobody else refers to it
		o.newHTTP = func(a *binding.Agent) routes { return binding.NewREST(a) }
	}
	return NewWithoutREST(cfg, append([]Option{withREST}, opts...)...)
}

// NewWithoutREST is [New] for an agent whose card does not offer HTTP+JSON, which it does not link then.
func NewWithoutREST(cfg Config, opts ...Option) (*Server, error) {
	s := &Server{options: options{
		core:   engine.Options{Logger: slog.Default(), Now: time.Now},
		access: binding.Access{Grace: time.Minute}, cardMaxAge: 5 * time.Minute,
	}}
	for _, o := range opts {
		o(&s.options)
	}
	if err := s.start(cfg); err != nil {
		if s.tasks.own != nil { // an engine closes its store itself
			_ = s.tasks.own.Close()
		}
		s.closeAudit()
		s.closeClients()
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.init(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("server: %w", err), s.Close())
	}
	return s, nil
}

// start opens what the engine needs, and makes the engine.
func (s *Server) start(cfg Config) (err error) {
	if s.openClients != nil {
		if s.disconnect, err = s.openClients(&s.options); err != nil {
			return err
		}
	}
	if err := s.initPush(); err != nil {
		return err
	}
	s.core.Identifies = s.access.Identifies()
	if err := s.openAudit(); err != nil {
		return err
	}
	if s.tasks, err = openTasks(cfg, &s.core); err != nil {
		return err
	}
	if err := shortenGrace(&s.core.Limits); err != nil {
		return err
	}
	if os.Getenv(EnvExplain) != "" {
		s.core.Chosen, s.core.Calls = teller[*engine.Choice](ChoiceLine, os.Stderr), teller[engine.OtherCall](CallLine, os.Stderr)
	}
	cfg.Skills = s.handled(cfg.Skills)
	s.skills = cfg.Skills
	s.engine, err = engine.New(cfg, s.core)
	if err == nil && s.engine.Info().Push {
		err = s.checkPush(cfg.Protocol)
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

// init makes what answers requests.
func (s *Server) init(cfg Config) (err error) {
	s.logger, s.limits = s.core.Logger, s.engine.Limits()
	signer, err := s.cardSigner()
	if err != nil {
		return err
	}
	if s.cards, err = binding.NewCards(s.engine, binding.CardOptions{
		URL: cmp.Or(s.url, os.Getenv(EnvURL)), Forwarded: s.forwarded, GRPCURL: s.compat.GRPCURL, Lists: s.compat.RequirementLists,
		MaxAge: s.cardMaxAge, Since: s.core.Now(), Logger: s.logger, Signer: signer, Decode: cfg.Protocol.DecodeCard,
	}); err != nil {
		return err
	}
	cardHosts, err := s.paths.read(s.engine, s.cards.Base(), served{http: s.newHTTP != nil, beside: s.transport != nil})
	if err != nil {
		return err
	}
	if u, err := url.Parse(s.cards.URL); err == nil {
		cardHosts = append(cardHosts, u.Host)
	}
	hosts := slices.Concat(strings.Split(os.Getenv(EnvHosts), ","), s.hosts, cardHosts)
	if s.policy, err = binding.NewPolicy(s.origins, hosts, s.forwarded, s.keyHeaders); err != nil {
		return err
	}
	if err := s.initTLS("", ""); err != nil {
		return err
	}
	if err := s.protect(cfg); err != nil {
		return err
	}
	return s.bind()
}

// bind makes the bindings.
func (s *Server) bind() (err error) {
	s.agent = &binding.Agent{
		Engine: s.engine, Limits: s.limits, Logger: s.logger, Now: s.core.Now, Cards: s.cards, Access: &s.access,
		NoCallLog: s.noCallLog, FormerStatuses: s.compat.FormerStatuses,
	}
	s.agent.Bodies.Limit = s.limits.Bodies
	if s.audit != nil {
		s.agent.Audited = s.audit.Ready
	}
	s.rpc = binding.NewJSONRPC(s.agent)
	if s.newHTTP != nil {
		s.http = s.newHTTP(s.agent)
	}
	s.page = binding.NewPage(s.engine, s.cards, binding.PageCredentials{Demands: s.access.Demands, Curl: s.curl}, len(s.paths.rpc) > 0, s.logger)
	if s.transport != nil {
		if s.beside, err = s.transport(s.agent, s.policy); err != nil {
			return err
		}
	}
	if s.endpoint.start != nil {
		err = s.endpoint.start(s)
	}
	return err
}

// Redeem has the handler that waits for an authorization called again, with a value that it reads with [runtime.Call].Authorized:
// for whoever gets the authorization, such as the callback of OAuth. The handle is the one that was given to the Visit
// of the handler's [AuthRequest]; it is good once. The value is kept, as JSON, with the task until the handler has
// returned. [ErrHandle] says that the handle is not good; after any other error it may be tried again. Redeem does not
// wait for the handler.
func (s *Server) Redeem(ctx context.Context, handle string, value any) error {
	return s.engine.Redeem(ctx, handle, value)
}

// Shutdown refuses new work and lets the handlers at work finish until ctx is done; then it cancels them, and gives
// them a moment to return. At last it ends the open streams. It returns ctx's error when handlers had to be canceled.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.flushLog()
	defer s.closeAudit()
	defer s.closePush()
	defer s.closeClients()
	defer s.closeEndpoint()
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
	defer s.flushLog()
	defer s.closeAudit()
	defer s.closePush()
	defer s.closeClients()
	defer s.closeEndpoint()
	s.drain()
	return s.engine.Close()
}
