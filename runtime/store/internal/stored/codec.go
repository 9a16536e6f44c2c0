// Package stored is what durable stores keep of a task, and how: the JSON of events, the rows of a log, and the decoded task
// beside them. Packages sqlite and postgres keep it in tables.
package stored

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// Codec writes what is kept as JSON of the newest version, and reads what was written in any that this program knows or
// knew. A doc keeps the number of the version it is in: the agent may speak a newer one by the time it is read, or, while
// programs of two ages share a store, an older one. What is newer than this program is refused, not guessed.
type Codec struct {
	Wire int64 // number of the version in which all is written

	protocol *runtime.Protocol
	newest   *runtime.Version
	// asSent: what is written of an event is what readers of the newest version get. The agent may keep more than that version
	// says, or less: the generation of an event is that of its row.
	asSent bool
	mu     sync.RWMutex
	wires  map[int64]wire
}

// wire is a version in which something is kept.
type wire struct {
	name             string
	*runtime.Version // nil: it is newer than this program
}

// NewCodec makes the codec of a protocol. It knows the numbers of versions once it is told their names.
func NewCodec(p *runtime.Protocol) *Codec {
	k := &Codec{protocol: p, newest: cmp.Or(p.Whole, p.Versions[0]), wires: map[int64]wire{}}
	k.asSent = k.newest == p.Versions[0] && !k.newest.Rules.Generations
	return k
}

// Newest is the name of the version in which all is written.
func (k *Codec) Newest() string { return k.newest.Name }

// Name says which version of the protocol a number stands for. Of one that is no longer spoken the newest knows most.
func (k *Codec) Name(n int64, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := wire{name: name}
	for _, known := range append(slices.Clip(k.protocol.Versions), k.newest) {
		if known.Name == name {
			w.Version = known
		}
	}
	if w.Version == nil && !newer(name, k.newest.Name) {
		w.Version = k.newest
	}
	k.wires[n] = w
	if name == k.newest.Name {
		k.Wire = n
	}
}

// newer reports whether a version comes after another one, by their numbers.
func newer(a, b string) bool {
	var of [2][2]int
	for i, name := range []string{a, b} {
		_, _ = fmt.Sscanf(name, "%d.%d", &of[i][0], &of[i][1])
	}
	return slices.Compare(of[0][:], of[1][:]) > 0
}

// version is that of a number, or why there is none.
func (k *Codec) version(n int64) (*runtime.Version, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	switch w, named := k.wires[n]; {
	case !named:
		return nil, errors.New("an event in a version of the protocol that the store does not name")
	case w.Version == nil:
		return nil, fmt.Errorf("%w: a newer program wrote it, in A2A %s, which this one does not know", store.ErrUnavailable, w.name)
	default:
		return w.Version, nil
	}
}

// Knows reports whether a number has a name.
func (k *Codec) Knows(n int64) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	_, named := k.wires[n]
	return named
}

// Foreign are the numbers of the versions that are newer than this program, as far as they have names.
func (k *Codec) Foreign() (ns []int64) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for n, w := range k.wires {
		if w.Version == nil {
			ns = append(ns, n)
		}
	}
	slices.Sort(ns)
	return ns
}

// Append writes an event with its envelope: a task, message, status or artifact.
func (k *Codec) Append(dst []byte, e runtime.Event) ([]byte, error) {
	b, err := k.newest.AppendEvent(dst, e)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnfit, err)
	}
	return b, nil
}

// Record makes the record of an event that is at hand, with what was written of it.
func (k *Codec) Record(seq int64, e runtime.Event, doc []byte) *store.Record {
	if !k.asSent {
		doc = nil
	}
	info := e.EventInfo()
	e = runtime.WithGeneration(e, seq)
	return store.NewRecord(seq, info.Kind, info.State, doc, func([]byte) (runtime.Event, error) { return e, nil })
}

// ReadRecord makes the record of a logged event.
func (k *Codec) ReadRecord(e *Logged, wire int64) (*store.Record, error) {
	state := e.State
	if e.Kind != runtime.EventStatus {
		state = runtime.StateUnspecified
	}
	if wire == k.Wire && k.asSent {
		return store.NewRecord(e.Seq, e.Kind, state, e.Doc, k.newest.ReadEvent), nil
	}
	event, err := k.Read(wire, e.Doc)
	if err != nil {
		return nil, err
	}
	return k.Record(e.Seq, event, nil), nil
}

// Messages writes messages as a list of events; nil for none.
func (k *Codec) Messages(list []runtime.Message) (b []byte, err error) {
	for i, m := range list {
		b = append(b, "[,"[min(i, 1)])
		if b, err = k.Append(b, m); err != nil {
			return nil, err
		}
	}
	if b != nil {
		b = append(b, ']')
	}
	return b, nil
}

// Read reads an event.
func (k *Codec) Read(wire int64, doc []byte) (runtime.Event, error) {
	v, err := k.version(wire)
	if err != nil {
		return nil, err
	}
	return v.ReadEvent(doc)
}

// ReadTask reads a task.
func (k *Codec) ReadTask(wire int64, doc []byte) (runtime.Task, error) {
	e, err := k.Read(wire, doc)
	if err != nil {
		return nil, err
	}
	t, ok := e.(runtime.Task)
	if !ok {
		return nil, fmt.Errorf("expected a task, found a %T", e)
	}
	return t, nil
}

// Apply applies an event of the log to a task, of which the first event is the task itself.
func (k *Codec) Apply(task runtime.Task, wire int64, of *Logged) (runtime.Task, error) {
	if task == nil {
		return k.ReadTask(wire, of.Doc)
	}
	e, err := k.Read(wire, of.Doc)
	if err != nil {
		return nil, err
	}
	return task, task.Apply(e)
}

// ReadMessages calls each with what Messages wrote.
func (k *Codec) ReadMessages(wire int64, doc []byte, each func(runtime.Message)) error {
	if len(doc) == 0 {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(doc, &list); err != nil {
		return err
	}
	for _, one := range list {
		e, err := k.Read(wire, one)
		if err != nil {
			return err
		}
		m, ok := e.(runtime.Message)
		if !ok {
			return fmt.Errorf("expected a message, found a %T", e)
		}
		each(m)
	}
	return nil
}

// Head writes the task without its history and artifacts.
func (k *Codec) Head(t runtime.Task) ([]byte, error) { return k.Append(nil, t.View(new(int), false)) }

// send is the operation in whose form requests are kept.
func send(v *runtime.Version) *runtime.Operation {
	for _, op := range v.Operations {
		if op.Role == runtime.RoleSend {
			return op
		}
	}
	return nil
}

// Request writes the request of a call as a client would send it; nil for none.
func (k *Codec) Request(r *runtime.SendRequest) ([]byte, error) {
	op := send(k.newest)
	if r == nil || op == nil {
		return nil, nil
	}
	if r.Source != nil {
		if b, err := op.AppendRequest(nil, r.Source); err == nil {
			return b, nil
		}
	}
	b, err := op.AppendRequest(nil, k.protocol.NewSend(*r))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnfit, err)
	}
	return b, nil
}

// ReadRequest reads what Request wrote.
func (k *Codec) ReadRequest(wire int64, doc []byte) (*runtime.SendRequest, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	v, err := k.version(wire)
	if err != nil {
		return nil, err
	}
	op := send(v)
	if op == nil {
		return nil, errors.New("a request in a version of the protocol that has no operation for it")
	}
	r, err := op.Decode(doc)
	if err != nil {
		return nil, err
	}
	req, ok := r.(*runtime.SendRequest)
	if !ok {
		return nil, fmt.Errorf("expected a request to send, found a %T", r)
	}
	return req, nil
}
