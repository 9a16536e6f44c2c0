// Package engine does what an agent does, whatever its clients speak: it finds the skill for a message, runs its
// handler, keeps its task, tells its readers, and holds the limits. It knows no transport. A binding reads a request
// from its wire and decodes it, has a [Request] served, and writes the [Answer], which is a value or a [Stream] to be
// read at the client's pace; no rule of the protocol is a binding's.
package engine

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/store"
)

// Engine is an agent without a wire. It starts no goroutines until there is work, and none outlives [Engine.Shutdown].
type Engine struct {
	logger  *slog.Logger
	store   store.Store
	limits  Limits
	now     func() time.Time
	hooks   Hooks
	repeats Repeats

	terms             // what the card and the protocol say
	catalog           // the skills
	public    catalog // those that are not hidden
	admission         // the calls that are admitted
	registry          // the tasks that somebody works on or reads
	deadlines         // of the calls of the store

	observers  observe.Group
	protocol   *runtime.Protocol
	operations map[string]Operation // those that the runtime does not know
	nesting    int                  // how deep data may be, as [wire.Portable] counts; 0: as deep as is read

	ids     ids
	beat    ticker
	held    holder
	courier courier // of push notifications
	keeper  keeper  // of what this instance runs
	streams atomic.Int64
	shared  atomic.Bool   // other instances may work on the store's tasks, too
	durable atomic.Bool   // what is given back to the store is taken up again
	answers budget.Budget // of what is being written
}

// Options are what a host may choose. Logger, Store, Limits and Now have no defaults here but zero limits.
type Options struct {
	Logger *slog.Logger
	Store  store.Store
	Limits Limits
	Router Router
	Strict bool // requests that name no version are none of 1.0 (R73)
	Now    func() time.Time
	Hooks  Hooks
	// Identifies: the host finds out who callers are. Without that there is no extended card for anybody.
	Identifies bool
	Pusher     Pusher // sends push notifications; nil: there are none, whatever the card says
	Observers  []observe.Observer
}

// New makes an engine. It fails on a configuration that cannot work: no protocol, no card, skills without ids or twice
// the same.
func New(cfg Config, o Options) (*Engine, error) {
	if cfg.Protocol == nil || len(cfg.Protocol.Versions) == 0 || cfg.Card == nil {
		return nil, errors.New("the configuration has no protocol or no card")
	}
	e := &Engine{
		logger: o.Logger, store: o.Store, limits: o.Limits.WithDefaults(), hooks: o.Hooks, repeats: cfg.Repeats,
		now:       func() time.Time { return o.Now().UTC().Truncate(time.Millisecond) }, // R96, R98, T60
		terms:     newTerms(cfg, o),
		admission: newAdmission(),
		registry:  registry{live: map[store.Key]*live{}},
		protocol:  cfg.Protocol, operations: cfg.Operations, nesting: nestingOf(cfg.Protocol.Versions),
	}
	e.observers = observe.Together(o.Observers, func(p any) { e.logger.Error("an observer panicked", "panic", fmt.Sprint(p)) })
	e.repeats.Window = cmp.Or(e.repeats.Window, defaultWindow)
	e.answers.Limit, e.admission.work.Limit = e.limits.Answers, e.limits.Work
	if e.store == nil {
		e.store = store.NewMemory(store.MemoryLimits{})
	}
	newest := cfg.Protocol.Versions[0]
	if m, ok := e.store.(*store.Memory); ok && newest.Rules == (runtime.Rules{}) { // older ones do not write all of a task
		m.Pack(store.Coding{Append: newest.AppendEvent, Read: newest.ReadEvent})
	}
	e.courier = newCourier(e, o.Pusher)
	e.beat.e, e.keeper.e, e.keeper.turn = e, e, make(chan struct{}, 1)
	e.beat.now.Store(1)
	var err error
	if e.catalog, err = newCatalog(cfg.Skills, o.Router); err == nil {
		e.public = e.catalog.public()
		e.courier.wake() // for what an instance before left
	}
	return e, err
}

// Limits returns the limits with the defaults filled in.
func (e *Engine) Limits() Limits { return e.limits }

// Load is what an engine is busy with.
type Load struct {
	Tasks   int   // that somebody works on or reads
	Calls   int   // that are admitted
	Streams int   // that are open
	Work    int64 // bytes of the budget of messages that are taken
	Answers int64 // bytes of the budget of answers that are taken
}

// Load returns what the engine is busy with.
func (e *Engine) Load() Load {
	l := Load{Streams: int(e.streams.Load()), Work: e.admission.work.Taken(), Answers: e.answers.Taken()}
	e.registry.mu.Lock()
	l.Tasks = len(e.live)
	e.registry.mu.Unlock()
	e.admission.mu.Lock()
	l.Calls = len(e.running)
	e.admission.mu.Unlock()
	return l
}

// Tick is the number of the present tick of the engine's timer, from 1. It runs while there are streams, several times
// within [Limits.Stall].
func (e *Engine) Tick() int64 { return e.beat.now.Load() }

// log returns the logger with what a run or a delivery is known by. It is for rare events: attributes cost time.
func (e *Engine) log(skill, task, caller string) *slog.Logger {
	return e.logger.With(attributes("skill", skill, "task", task, "caller", caller)...)
}

// catalog are the skills.
type catalog struct {
	skills []*skill
	byID   map[string]*skill
	router Router
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

func newCatalog(skills []Skill, router Router) (catalog, error) {
	c := catalog{byID: map[string]*skill{}, router: router}
	for _, def := range skills {
		if def.ID == "" || def.Run == nil {
			return c, fmt.Errorf("skill %q has no id or no handler", def.Name)
		}
		if c.byID[def.ID] != nil {
			return c, fmt.Errorf("skill %q is there twice", def.ID)
		}
		if other := c.fallback(); other != nil && def.Default {
			return c, fmt.Errorf("both skills %q and %q are the default", other.ID, def.ID)
		}
		sk := &skill{Skill: def, metadata: skillMetadata(def.ID), words: newVocabulary(def)}
		sk.shape, sk.properties = readShape(def.InputSchema)
		if def.MaxConcurrent > 0 {
			sk.slots = make(chan struct{}, def.MaxConcurrent)
		}
		c.skills = append(c.skills, sk)
		c.byID[def.ID] = sk
	}
	return c, nil
}

// fallback is the skill that takes plain text that fits none; nil without one.
func (k *catalog) fallback() *skill {
	i := slices.IndexFunc(k.skills, func(sk *skill) bool { return sk.Default })
	if i < 0 {
		return nil
	}
	return k.skills[i]
}

// public are the skills that are not hidden.
func (k *catalog) public() catalog {
	c := catalog{byID: map[string]*skill{}, router: k.router}
	for _, sk := range k.skills {
		if !sk.Hidden {
			c.skills = append(c.skills, sk)
			c.byID[sk.ID] = sk
		}
	}
	return c
}
