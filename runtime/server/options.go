package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/a2agen/a2agen/runtime/audit"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Option changes a server. Options are applied in order.
type Option func(*options)

type options struct {
	core       engine.Options // what the engine is told
	url        string
	forwarded  bool
	hosts      []string
	access     binding.Access
	newGuard   func(*Server) error // makes what checks callers; nil: nothing does
	curl       binding.Curl        // shows what callers need; nil: they need nothing
	open       bool                // anybody may use an agent that demands nothing
	origins    []string
	cardMaxAge time.Duration
	compat     Compat
	pushTo     []string
	signer     PushSigner
	newSender  func(targets []string, s PushSigner) (PushSender, error)
	pushing    func(PushSender) engine.Pusher     // with newSender
	handler    func(context.Context, *Task) error // in the place of the skills'; nil: theirs
	cardKey    cardKey
	// openClients makes the clients of the handlers; nil: there are none.
	openClients func(*options) (closeClients func(), err error)

	newHTTP   func(*binding.Agent) routes // makes HTTP+JSON; nil: it is not served
	transport func(*binding.Agent, *binding.Policy) (binding.Transport, error)
	cert, key string // files
	endpoint  endpointOption
	auditPath string
	auditing  []audit.Option
	noCallLog bool
}

// WithLogger sets the logger; the default is slog.Default().
func WithLogger(l *slog.Logger) Option { return func(o *options) { o.core.Logger = l } }

// WithObserver adds observers of every call, every run of a skill and every delivery of a push notification.
func WithObserver(list ...observe.Observer) Option {
	return func(o *options) { o.core.Observers = append(o.core.Observers, list...) }
}

// WithStore sets where tasks are kept, in place of what a2agen.yaml says ("store"). The server closes it when it shuts
// down: what it runs is given back then.
func WithStore(s store.Store) Option { return func(o *options) { o.core.Store = s } }

// InMemory keeps tasks in memory, whatever a2agen.yaml says: for tests.
func InMemory() Option {
	return func(o *options) { o.core.Store = memory.New(memory.Limits{}) }
}

// WithHandler replaces the handlers of all skills by f, whatever their input is: for tests of what comes before the
// handlers.
func WithHandler(f func(context.Context, *Task) error) Option {
	return func(o *options) { o.handler = f }
}

// WithLimits sets limits; zero fields keep their defaults.
func WithLimits(l Limits) Option { return func(o *options) { o.core.Limits = l } }

// WithURL sets the agent's public base URL ("https://weather.example.com"), whose scheme, host and path the card's
// interfaces get. Without it the environment's A2A_PUBLIC_URL counts, then trusted forwarded headers, then the
// request's Host.
func WithURL(base string) Option { return func(o *options) { o.url = base } }

// WithForwarded trusts X-Forwarded-Proto, -Host and -Prefix (and Forwarded) of requests. It is only for servers that
// are reached through a proxy alone, which sets these headers and checks the Host header.
func WithForwarded() Option { return func(o *options) { o.forwarded = true } }

// WithHosts lets requests in that reach the agent on a loopback address under these host names ("agent.test"), beside
// localhost, the addresses, the public URL's name and those of the card; "*" lets all in. Others are refused there,
// because a web page could be behind them. The environment's A2A_HOSTS adds to them.
func WithHosts(names ...string) Option {
	return func(o *options) { o.hosts = append(o.hosts, names...) }
}

// WithRouter sets a router that is asked when nothing else says which skill a message is for.
func WithRouter(r Router) Option { return func(o *options) { o.core.Router = r } }

// WithOrigins lets web pages of these origins ("https://inspector.example.com") call the agent from a browser. Others
// are refused.
func WithOrigins(origins ...string) Option {
	return func(o *options) { o.origins = append(o.origins, origins...) }
}

// WithCardMaxAge sets how long a card may be cached; the default is five minutes.
func WithCardMaxAge(d time.Duration) Option { return func(o *options) { o.cardMaxAge = d } }

// WithClock replaces the clock, for tests.
func WithClock(now func() time.Time) Option { return func(o *options) { o.core.Now = now } }

// Compat is what a server does otherwise than A2A 1.0.1 has it or this project chose, for the sake of peers and older
// versions. The zero value is the default.
type Compat struct {
	// StrictVersion keeps requests without an A2A-Version header away from 1.0, as A2A 1.0 §3.6.2 (R73) asks: they are
	// of 0.3 or older, and refused when no such version is spoken. Without it such a request is served when its method
	// name is one of a spoken version (T27).
	StrictVersion bool
	// FormerStatuses gives errors the statuses that they had in A2A 1.0.0 over HTTP+JSON and gRPC (409 for a task that
	// cannot be canceled, 415 for a content type, UNIMPLEMENTED for what an agent does not do), for clients and test
	// suites that go by them (T9, T67). Both are version "1.0", and clients had better go by an error's reason.
	FormerStatuses bool
	// GRPCURL writes the address of gRPC in the card as a URL, "http://host:port", for clients that need a scheme.
	// Without it the address is host:port, as the official clients need it.
	GRPCURL bool
	// RequirementLists writes the scopes of security requirements in cards as plain lists, as callers with a2a-go 2.4.0
	// read them: in the public card and the extended one, over every binding but gRPC, for everybody. Generated code
	// sets it for "cards: {requirements: list}" in a2agen.yaml.
	RequirementLists bool
}

// WithCompat has a server do what c says. Given more than once, the values add up.
func WithCompat(c Compat) Option {
	return func(o *options) {
		o.compat.StrictVersion = o.compat.StrictVersion || c.StrictVersion
		o.compat.FormerStatuses = o.compat.FormerStatuses || c.FormerStatuses
		o.compat.GRPCURL = o.compat.GRPCURL || c.GRPCURL
		o.compat.RequirementLists = o.compat.RequirementLists || c.RequirementLists
		o.core.Strict = o.compat.StrictVersion
	}
}

// WithRequirementLists is what code has that was generated before [Compat].
//
// Deprecated: use [WithCompat].
func WithRequirementLists() Option { return WithCompat(Compat{RequirementLists: true}) }

// RequirementLists is a card, or a skill of one, as [Compat].RequirementLists writes it.
func RequirementLists(c wire.Object) wire.Object { return binding.RequirementLists(c) }
