package sqlite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// codec writes what is kept as JSON of the newest version, and reads what was written in any. A doc keeps the number of
// the version it is in: the agent may speak a newer one by the time it is read.
type codec struct {
	protocol *runtime.Protocol
	newest   *runtime.Version // in which all is written
	wires    map[int64]*runtime.Version
	wire     int64 // number of newest in the file
}

// newCodec gives the newest version its number in the file.
func newCodec(c *conn, p *runtime.Protocol) (*codec, error) {
	k := &codec{protocol: p, newest: cmp.Or(p.Whole, p.Versions[0]), wires: map[int64]*runtime.Version{}}
	if _, err := c.exec("INSERT INTO wire(name) SELECT ?1 WHERE NOT EXISTS(SELECT 1 FROM wire WHERE name=?1)",
		k.newest.Name); err != nil {
		return nil, err
	}
	return k, c.query("SELECT n, name FROM wire", func(v []value) error {
		n := num(v[0])
		k.wires[n] = k.newest // of a version that is no longer spoken: the newest knows most of it
		for _, known := range append(slices.Clip(p.Versions), k.newest) {
			if known.Name == text(v[1]) {
				k.wires[n] = known
			}
		}
		if k.wires[n] == k.newest && text(v[1]) == k.newest.Name {
			k.wire = n
		}
		return nil
	})
}

// append writes an event with its envelope: a task, message, status or artifact.
func (k *codec) append(dst []byte, e runtime.Event) ([]byte, error) {
	b, err := k.newest.AppendEvent(dst, e)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnfit, err)
	}
	return b, nil
}

// record makes the record of an event that is at hand, with what was written of it. Those bytes are what readers of the
// newest version get, unless the agent keeps more than that version says.
func (k *codec) record(seq int64, e runtime.Event, doc []byte) *store.Record {
	if k.newest != k.protocol.Versions[0] {
		doc = nil
	}
	info := e.EventInfo()
	return store.NewRecord(seq, info.Kind, info.State, doc, func([]byte) (runtime.Event, error) { return e, nil })
}

// messages writes messages as a list of events; nil for none.
func (k *codec) messages(list []runtime.Message) (b []byte, err error) {
	for i, m := range list {
		b = append(b, "[,"[min(i, 1)])
		if b, err = k.append(b, m); err != nil {
			return nil, err
		}
	}
	if b != nil {
		b = append(b, ']')
	}
	return b, nil
}

func (k *codec) read(wire int64, doc []byte) (runtime.Event, error) {
	v := k.wires[wire]
	if v == nil {
		return nil, errors.New("an event in a version of the protocol that the file does not name")
	}
	return v.ReadEvent(doc)
}

func (k *codec) readTask(wire int64, doc []byte) (runtime.Task, error) {
	e, err := k.read(wire, doc)
	if err != nil {
		return nil, err
	}
	t, ok := e.(runtime.Task)
	if !ok {
		return nil, fmt.Errorf("expected a task, found a %T", e)
	}
	return t, nil
}

// readMessages calls each with what messages wrote.
func (k *codec) readMessages(wire int64, doc []byte, each func(runtime.Message)) error {
	if len(doc) == 0 {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(doc, &list); err != nil {
		return err
	}
	for _, one := range list {
		e, err := k.read(wire, one)
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

// head writes the task without its history and artifacts.
func (k *codec) head(t runtime.Task) ([]byte, error) { return k.append(nil, t.View(new(int), false)) }

// send is the operation in whose form requests are kept.
func send(v *runtime.Version) *runtime.Operation {
	for _, op := range v.Operations {
		if op.Role == runtime.RoleSend {
			return op
		}
	}
	return nil
}

// request writes the request of a call as a client would send it; nil for none.
func (k *codec) request(r *runtime.SendRequest) ([]byte, error) {
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

func (k *codec) readRequest(wire int64, doc []byte) (*runtime.SendRequest, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	v := k.wires[wire]
	if v == nil || send(v) == nil {
		return nil, errors.New("a request in a version of the protocol that is not known")
	}
	r, err := send(v).Decode(doc)
	if err != nil {
		return nil, err
	}
	req, ok := r.(*runtime.SendRequest)
	if !ok {
		return nil, fmt.Errorf("expected a request to send, found a %T", r)
	}
	return req, nil
}
