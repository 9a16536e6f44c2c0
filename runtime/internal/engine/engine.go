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
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/deliver"
	"github.com/a2agen/a2agen/runtime/internal/feed"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Engine is an agent without a wire. It starts no goroutines until there is work, and none outlives [Engine.Shutdown].
type Engine struct {
	logger  *slog.Logger
	store   store.Store
	limits  Limits
	now     func() time.Time
	hooks   Hooks
	repeats Repeats

	terms     // what the card and the protocol say
	skillSet  // what the agent can do
	admission // the calls that are admitted
	registry  // the tasks that somebody works on or reads
	deadlines // of the calls of the store

	observers  observe.Group
	protocol   *runtime.Protocol
	operations map[string]Operation // those that the runtime does not know
	nesting    int                  // how deep data may be, as [wire.Portable] counts; 0: as deep as is read

	ids        ids
	feed       feed.Feed // the readers of tasks
	upkeep     upkeep
	held       holder
	deliveries *deliver.Worker // of push notifications; nil: there are none
	keeper     keeper          // of what this instance runs
	shared     atomic.Bool     // other instances may work on the store's tasks, too
	durable    atomic.Bool     // what is given back to the store is taken up again
	responses  budget.Budget   // of what is being written
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
	Pusher     deliver.Sender // sends push notifications; nil: there are none, whatever the card says
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
	e.responses.Limit, e.admission.work.Limit = e.limits.Answers, e.limits.Work
	if e.store == nil {
		e.store = store.NewMemory(store.MemoryLimits{})
	}
	newest := cfg.Protocol.Versions[0]
	if m, ok := e.store.(*store.Memory); ok && newest.Rules == (runtime.Rules{}) { // older ones do not write all of a task
		m.Pack(store.Coding{Append: newest.AppendEvent, Read: newest.ReadEvent})
	}
	e.deliveries = e.newDeliveries(o.Pusher)
	e.keeper.e, e.keeper.turn = e, make(chan struct{}, 1)
	e.newFeed()
	var err error
	if e.skillSet, err = newSkillSet(cfg.Skills, o.Router); err == nil {
		e.deliveries.Wake() // for what an instance before left
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
	l := Load{Streams: e.feed.Streams(), Work: e.admission.work.Taken(), Answers: e.responses.Taken()}
	e.registry.mu.Lock()
	l.Tasks = len(e.live)
	e.registry.mu.Unlock()
	e.admission.mu.Lock()
	l.Calls = len(e.running)
	e.admission.mu.Unlock()
	return l
}

// log returns the logger with what a run or a delivery is known by. It is for rare events: attributes cost time.
func (e *Engine) log(skill, task, caller string) *slog.Logger {
	return e.logger.With(attributes("skill", skill, "task", task, "caller", caller)...)
}

// skill is a configured skill with what is computed once.
type skill struct {
	Skill
	routed   *route.Skill
	slots    chan struct{} // nil: no bound
	metadata []byte        // {"<extension>": {"skill": "<id>"}}
}

// skillSet are the configured skills: all of them, and the catalogs in which messages find theirs.
type skillSet struct {
	skills []*skill
	byID   map[string]*skill
	all    *route.Catalog
	public *route.Catalog // those that are not hidden
	router Router
}

func newSkillSet(defs []Skill, router Router) (k skillSet, err error) {
	k = skillSet{byID: map[string]*skill{}, router: router}
	routed := make([]route.Skill, len(defs))
	for i := range defs {
		if routed[i] = defs[i].forRouting(); defs[i].Run == nil {
			return k, fmt.Errorf("skill %q has no handler", defs[i].Name)
		}
	}
	if k.all, err = route.New(routed); err != nil {
		return k, err
	}
	k.public = k.all.Public()
	for _, def := range defs {
		sk := &skill{Skill: def, routed: k.all.Skill(def.ID), metadata: skillMetadata(def.ID)}
		if def.MaxConcurrent > 0 {
			sk.slots = make(chan struct{}, def.MaxConcurrent)
		}
		k.skills = append(k.skills, sk)
		k.byID[def.ID] = sk
	}
	return k, nil
}

// forRouting is what routing has to know of the skill.
func (s *Skill) forRouting() route.Skill {
	return route.Skill{
		ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Examples: s.Examples,
		InputModes: s.InputModes, OutputModes: s.OutputModes, InputSchema: s.InputSchema, TextField: s.TextField,
		Hidden: s.Hidden, Default: s.Default, Decode: s.Decode,
	}
}

// skillMetadata is the metadata that names the skill of a message or artifact.
func skillMetadata(id string) wire.Object {
	o, err := wire.ObjectOf(map[string]map[string]string{runtime.SkillsExtension: {"skill": id}})
	if err != nil {
		return nil
	}
	return o
}
