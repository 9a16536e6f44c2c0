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

// defaultOptions are the options before the caller's.
func defaultOptions() options {
	return options{
		core:   engine.Options{Logger: slog.Default(), Now: time.Now},
		access: binding.Access{Grace: time.Minute}, cardMaxAge: 5 * time.Minute,
	}
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
