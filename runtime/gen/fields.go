package gen

import (
	"slices"

	"github.com/a2agen/a2agen/runtime"
)

// TaskFields are the accessors of a generated task, by which the rules of changing one are written once, here. T is the
// task, S its status, M a message, A an artifact and P a part. Generated code has one value of it.
type TaskFields[T, S, M, A, P any] struct {
	Status    func(*T) **S
	History   func(*T) *[]*M
	Artifacts func(*T) *[]*A
	// Message is that of a status, nil without one.
	Message func(*S) *M
	// ArtifactID and Parts are those of an artifact.
	ArtifactID func(*A) string
	Parts      func(*A) *[]*P
}

// New returns a task with a status, in one piece of memory with room for a history of two messages: most tasks get a
// question and a status.
func (f *TaskFields[T, S, M, A, P]) New(task T, status S) *T {
	made := &struct {
		task    T
		status  S
		history [2]*M
	}{task: task, status: status}
	*f.Status(&made.task) = &made.status
	*f.History(&made.task) = made.history[:0]
	return &made.task
}

// SetStatus replaces the status of a task. The message of the old one moves to the history (A2A 1.0 §4.2.2).
func (f *TaskFields[T, S, M, A, P]) SetStatus(task *T, status *S) {
	at := f.Status(task)
	if *at != nil {
		if said := f.Message(*at); said != nil {
			history := f.History(task)
			*history = append(*history, said)
		}
	}
	*at = status
}

// SetArtifact replaces the artifact of the same id, or adds one; with more it appends the parts to what is there (A2A 1.0
// §4.2.2). What goes into the task is a copy with a list of parts that cannot grow in place, so that from stays as it is.
func (f *TaskFields[T, S, M, A, P]) SetArtifact(task *T, from *A, more bool) {
	list, id := f.Artifacts(task), f.ArtifactID(from)
	at := len(*list) - 1
	for at >= 0 && f.ArtifactID((*list)[at]) != id {
		at--
	}
	if at >= 0 && more {
		to := f.Parts((*list)[at])
		*to = append(*to, *f.Parts(from)...)
		return
	}
	own := *from
	parts := f.Parts(&own)
	*parts = slices.Clip(*parts)
	if at >= 0 {
		(*list)[at] = &own
	} else {
		*list = append(*list, &own)
	}
}

// Copy returns a task that stays as it is while the other goes on changing, as [runtime.Task].View says: its status and its
// artifacts are its own, messages and parts are shared.
func (f *TaskFields[T, S, M, A, P]) Copy(task *T, history *int, artifacts bool) *T {
	v := &struct {
		task   T
		status S
	}{task: *task}
	if status := f.Status(&v.task); *status != nil {
		v.status = **status
		*status = &v.status
	}
	messages := f.History(&v.task)
	*messages = tail(*messages, history)
	list := f.Artifacts(&v.task)
	if !artifacts {
		*list = nil
		return &v.task
	}
	*list = Copies(*list)
	for _, a := range *list {
		parts := f.Parts(a)
		*parts = slices.Clip(*parts)
	}
	return &v.task
}

// Join returns an outer whose field is a new inner. Both share one piece of memory: events are made at the rate of chunks,
// and each piece costs time and collection.
func Join[O, I any](outer O, inner I, field func(*O) **I) *O {
	made := &struct {
		outer O
		inner I
	}{outer, inner}
	*field(&made.outer) = &made.inner
	return &made.outer
}

// Each returns what a function makes of each element of a list.
func Each[T, V any](list []T, of func(T) V) []V {
	values := make([]V, len(list))
	for i, x := range list {
		values[i] = of(x)
	}
	return values
}

// PartsFrom makes generated parts, in one piece of memory; a single one, as in the chunks of a stream, shares its piece with
// its list.
func PartsFrom[P any](parts []runtime.Part, set func(*P, *runtime.Part)) []*P {
	if len(parts) == 1 {
		made := new(struct {
			part P
			list [1]*P
		})
		set(&made.part, &parts[0])
		made.list[0] = &made.part
		return made.list[:]
	}
	values, list := make([]P, len(parts)), make([]*P, len(parts))
	for i := range parts {
		list[i] = &values[i]
		set(list[i], &parts[i])
	}
	return list
}

// States are the states of a task as generated code names them, in the order of the runtime's own.
type States[E ~string] []E

// State is the runtime's name of a state, [runtime.StateUnspecified] for one that is not known.
func (list States[E]) State(name E) runtime.State {
	for i, s := range list {
		if s == name {
			return runtime.State(i)
		}
	}
	return runtime.StateUnspecified
}

// Name is the generated name of a state.
func (list States[E]) Name(s runtime.State) E {
	if int(s) < len(list) {
		return list[s]
	}
	return ""
}
