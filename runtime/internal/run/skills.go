package run

import (
	"context"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/route"
	"github.com/a2agen/a2agen/runtime/task"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Skill is one skill of the agent with its handler.
type Skill struct {
	ID, Name, Description string
	Tags, Examples        []string
	InputModes            []string // media types; empty: any
	OutputModes           []string // media types; empty: any
	// InputSchema and OutputSchema are self-contained JSON Schemas; "" for a skill that takes messages or answers text.
	InputSchema, OutputSchema string
	// TextField is the input property that plain text fills; "" when there is none.
	TextField string
	// Timeout bounds one call of the handler; 0 means the time limit of all handlers. With one of its own a skill runs
	// beside the request's goroutine, so that a waiting client is answered in time by a handler that ignores its
	// context, too.
	Timeout time.Duration
	// MaxConcurrent bounds the handlers running at once; further calls wait. 0 means no bound but that of all.
	MaxConcurrent int
	// Hidden: who may not see the extended card neither sees the skill nor can call it.
	Hidden bool
	// Default: the skill takes plain text that fits none and that the router does not place. At most one skill does.
	Default bool
	// OnCrash is what becomes of a call that a crash or a shutdown interrupts, where tasks outlive the process.
	OnCrash OnCrash
	// Decode reads and validates an input. An error is a *check.Error or *wire.Error. Nil without an input schema.
	Decode func(input []byte) (any, error)
	// Run calls Begin of [runtime.Call] if the skill has an output schema, then the handler, and encodes the output: JSON
	// with an output schema, else text, empty when the handler answered through its call. in is what Decode made of the
	// input; without Decode it is the input's JSON as []byte, nil for a skill without an input schema.
	Run func(ctx context.Context, t *task.Task, in any) (output []byte, err error)
}

// OnCrash says what becomes of a call that was interrupted.
type OnCrash uint8

const (
	CrashFail  OnCrash = iota // its task fails
	CrashRetry                // the handler is called again, a few times at most: see [runtime.Call].Attempt
)

// skill is a configured skill with what is computed once.
type skill struct {
	Skill
	routed   *route.Skill
	slots    chan struct{} // nil: no bound
	metadata []byte        // {"<extension>": {"skill": "<id>"}}
}

// Skills are the configured skills, and the catalogs in which messages find theirs.
type Skills struct {
	all    []*skill
	byID   map[string]*skill
	All    *route.Catalog
	Public *route.Catalog // those that are not hidden
}

// NewSkills fails on skills without ids, names or handlers, and on two with one id.
func NewSkills(defs []Skill) (k *Skills, err error) {
	k = &Skills{byID: map[string]*skill{}}
	routed := make([]route.Skill, len(defs))
	for i := range defs {
		s := &defs[i]
		if s.Run == nil {
			return nil, fmt.Errorf("skill %q has no handler", s.Name)
		}
		routed[i] = route.Skill{
			ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags, Examples: s.Examples,
			InputModes: s.InputModes, OutputModes: s.OutputModes, InputSchema: s.InputSchema, TextField: s.TextField,
			Hidden: s.Hidden, Default: s.Default, Decode: s.Decode,
		}
	}
	if k.All, err = route.New(routed); err != nil {
		return nil, err
	}
	k.Public = k.All.Public()
	for _, def := range defs {
		metadata, _ := wire.ObjectOf(map[string]map[string]string{runtime.SkillsExtension: {"skill": def.ID}})
		sk := &skill{Skill: def, routed: k.All.Skill(def.ID), metadata: metadata}
		if def.MaxConcurrent > 0 {
			sk.slots = make(chan struct{}, def.MaxConcurrent)
		}
		k.all = append(k.all, sk)
		k.byID[def.ID] = sk
	}
	return k, nil
}

// Hidden reports whether there is a skill of that id that is hidden.
func (k *Skills) Hidden(id string) bool { return k.byID[id] != nil && k.byID[id].Hidden }

// IDs returns the ids of the skills for which ok is true, in the card's order.
func (k *Skills) IDs(ok func(id string) bool) (ids []string) {
	for _, sk := range k.all {
		if ok(sk.ID) {
			ids = append(ids, sk.ID)
		}
	}
	return ids
}
