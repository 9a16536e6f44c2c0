package engine

import (
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What the engine does differently for clients of older versions. The codecs of the version do the rest.

// Version is a version of the protocol that the agent speaks.
type Version struct {
	*runtime.Version
	Index int // among the versions, newest 0
	wires int // index of the first of its wires among all codings
}

// Coding is how streams write events as a table of the version has them: its own JSON or one of its wires.
func (v *Version) Coding(t *runtime.Table) Coding {
	c := Coding{Index: v.Index, Append: t.AppendEvent}
	for i, w := range v.Wires {
		if t == &w.Table {
			c.Index = v.wires + i
		}
	}
	return c
}

// Unnamed reports whether requests of the version do not name it: before 1.0 there was no A2A-Version (R73).
func (v *Version) Unnamed() bool { return v.Rules.PlainErrors }

// Decode reads the parameters of an operation of one of the version's tables. Where a message of an older version does
// not say whether it blocks, the answer may come early (0.3 §7.1.2), but clients expect what the official servers do,
// which is to wait: a2a-go 0.3.15 leaves the member out for that. The operation's own Decode cannot tell. In the
// version's other encodings the member is always there where there is a configuration.
func (v *Version) Decode(op *runtime.Operation, params []byte) (any, *runtime.Error) {
	request, err := op.Decode(params)
	if err != nil {
		return nil, invalid.Params(err)
	}
	p, ok := request.(*runtime.SendRequest)
	if ok && p.ReturnImmediately && v.Unnamed() && slices.Contains(v.Operations, op) {
		p.ReturnImmediately = says(params, "configuration", "blocking")
	}
	return request, nil
}

// says reports whether parameters have the member at the path, with a value.
func says(v wire.Value, path ...string) bool {
	for _, name := range path {
		if v.Kind() != wire.KindObject {
			return false
		}
		v, _ = wire.Object(v).Get(name)
	}
	return len(v) > 0 && v.Kind() != wire.KindNull
}

// history returns how long a history is asked for; nil: nothing is said, which is what 0 means in 0.1 and 0.2.
func (v *Version) history(length *int) *int {
	if length != nil && *length == 0 && v.Rules.NoHistory {
		return nil
	}
	return length
}

// adapt sets what requests of older versions leave to the server: the message's id, which 0.1 does not have and samples
// of 0.2 and 0.3 leave out (T38), and the history's length.
func (v *Version) adapt(p *runtime.SendRequest, e *Engine) {
	if !v.Unnamed() || p.Message == nil {
		return
	}
	p.HistoryLength = v.history(p.HistoryLength)
	info := p.Message.MessageInfo()
	if info.ID != "" {
		return
	}
	info.ID = e.runner.NewID()
	p.Message = e.protocol.NewMessage(runtime.MessageData{MessageInfo: info, Parts: p.Message.Contents()})
}
