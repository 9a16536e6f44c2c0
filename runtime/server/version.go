package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What a server does otherwise for a client that speaks an older version. The codecs of the version do the rest.

// unnamed reports whether clients of the version do not name it in their requests: before 1.0 there was no A2A-Version header (R73).
func (v *version) unnamed() bool { return v.Rules.PlainErrors }

// tolerate lets 0.1 leave out jsonrpc, and the id of a request that wants an answer, as its schema does. It returns what is wrong with the envelope.
func (q *request) tolerate(env envelope, fault *runtime.Error) *runtime.Error {
	if q.version.Rules.ClientIDs {
		q.silent = false
		return fault
	}
	if fault == nil && env.bare {
		return runtime.ErrInvalidRequest.With(`jsonrpc must be "2.0"`)
	}
	return fault
}

// recognise corrects the version of a request that names none, where the method's name says too little: tasks/get is one of 0.1 and of 0.3.
// What is asked about a task whose id its client chose is in the words of 0.1, which its client speaks.
func (q *request) recognise() {
	named := q.s.byClient
	if named == nil || q.version == named || askedVersion(q.r) != "" {
		return
	}
	switch q.op.Role {
	case runtime.RoleGet, runtime.RoleCancel, runtime.RoleSubscribe:
	default:
		return
	}
	op := named.methods[q.op.RPC]
	if op == nil {
		return
	}
	params, err := op.Decode(q.params)
	p, ok := params.(*runtime.TaskRequest)
	if err != nil || !ok {
		return
	}
	key := store.Key{Owner: store.Owner{Tenant: p.Tenant, Principal: q.caller}, Task: p.ID}
	if snap, err := q.s.store.Get(q.r.Context(), key, store.View{History: new(int)}); err == nil && snap.Private.ClientID {
		q.version, q.op = named, op
	}
}

// adapt gives a request what older versions leave to the server: the message's id, which 0.1 does not have and samples of 0.2 and
// 0.3 leave out (T38), the history's length, and whether to wait. Without a word about blocking the answer may come early (0.3 §7.1.2), but
// clients count on what the official servers do, which is to wait: a2a-go 0.3.15 leaves the word out for that.
func (q *request) adapt(p *runtime.SendRequest) {
	if !q.version.unnamed() || p.Message == nil {
		return
	}
	p.HistoryLength = q.history(p.HistoryLength)
	p.ReturnImmediately = p.ReturnImmediately && q.says("configuration", "blocking")
	info := p.Message.MessageInfo()
	if info.ID != "" {
		return
	}
	info.ID = q.s.ids.next()
	p.Message = q.s.protocol.NewMessage(runtime.MessageData{MessageInfo: info, Parts: p.Message.Contents()})
}

// says reports whether the request's parameters have the member at the path, with a value.
func (q *request) says(path ...string) bool {
	v := wire.Value(q.params)
	for _, name := range path {
		if v.Kind() != wire.KindObject {
			return false
		}
		v, _ = wire.Object(v).Get(name)
	}
	return len(v) > 0 && v.Kind() != wire.KindNull
}

// history is how long a history is wanted: 0 says nothing in 0.1 and 0.2.
func (q *request) history(length *int) *int {
	if length != nil && *length == 0 && q.version.Rules.NoHistory {
		return nil
	}
	return length
}

// nameTask takes the task id of a 0.1 message as that of a new task, unless there is such a task. It returns the message's info as
// that of 1.0 would be.
func (s *Server) nameTask(t *Task, info runtime.MessageInfo) (runtime.MessageInfo, error) {
	if info.TaskID != "" {
		_, err := s.store.Get(t.ctx, store.Key{Owner: t.owner, Task: info.TaskID}, store.View{History: new(int)})
		if !errors.Is(err, store.ErrNotFound) {
			return info, err
		}
	}
	t.id, t.private.ClientID = info.TaskID, true
	info.TaskID = ""
	return info, nil
}

// endsAt reports whether the stream ends with the task as it stands. A subscription of 0.3 to a task that waits goes on: only updates
// have an end mark, and 0.1 sees the task as an update.
func (st *stream) endsAt(state runtime.State) bool {
	if rules := st.q.version.Rules; rules.Final && st.follow && !rules.UpdatesOnly {
		return state.Terminal()
	}
	return st.ends(state)
}

// openingEvents returns the events that tell the task as it stands. For 0.1, whose streams have updates only, its artifacts go before its status.
func (st *stream) openingEvents(task runtime.Task) (events []runtime.Event, err error) {
	rules, p := st.q.version.Rules, st.q.s.protocol
	if rules.Places {
		if task, err = p.Placed(task); err != nil {
			return nil, err
		}
	}
	if rules.UpdatesOnly {
		info := task.TaskInfo()
		for _, a := range task.ArtifactList() {
			events = append(events, p.NewArtifact(info.ID, info.ContextID, a))
		}
	}
	return append(events, task), nil
}

// appendPlainError appends an error without details, which SDKs of 0.3 each want in another form, and with a code that versions before 1.0
// have (0.3 §8). Its note has no place but the message: it follows the specification's words, unless they say it all.
func appendPlainError(dst []byte, e *runtime.Error) []byte {
	code, text := e.Code, e.Text()
	switch code {
	case runtime.ErrExtensionSupportRequired.Code, runtime.ErrVersionNotSupported.Code:
		code = runtime.ErrInternal.Code
	case runtime.ErrTaskNotFound.Code, runtime.ErrTaskNotCancelable.Code, runtime.ErrPushNotificationNotSupported.Code,
		runtime.ErrExtendedAgentCardNotConfigured.Code:
		text = e.Message
	}
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(code), 10)
	dst = wire.AppendString(append(dst, `,"message":`...), strings.ToValidUTF8(text, "\uFFFD"))
	return append(dst, '}')
}

// cardShape is how a card is written: as the versions have it, newest first. What several have is one card for readers of each.
type cardShape []*runtime.Version

// cardShapes finds the shapes of the card by where it is for clients that do not say what they speak. They are those of the versions that look
// there; clients of other versions get the card at either path, because some know only the other one.
func (s *Server) cardShapes() map[string]*cardShape {
	shapes := map[string]*cardShape{}
	for _, v := range s.protocol.Versions {
		at := v.Rules.CardPath
		if at == "" {
			at = CardPath
		}
		if shapes[at] == nil {
			shapes[at] = new(cardShape)
		}
		*shapes[at] = append(*shapes[at], v)
	}
	if shapes[CardPath] == nil {
		shapes[CardPath] = shapes[OldCardPath]
	}
	if oldest := s.versions[len(s.versions)-1]; shapes[OldCardPath] == nil && oldest.unnamed() {
		shapes[OldCardPath] = shapes[CardPath]
	}
	return shapes
}

// OldCardPath is where agents before 0.3 have their card (T52).
const OldCardPath = "/.well-known/agent.json"

// try writes the card in all its shapes, so that a card that cannot be written is known at the start.
func (c *cards) try(s *Server, base string) error {
	for i := range s.versions {
		if _, err := c.under(s.versions[i].shape, base); err != nil {
			return err
		}
	}
	for _, shape := range c.paths {
		if _, err := c.under(shape, base); err != nil {
			return err
		}
	}
	return nil
}

// write writes a card. Of several versions the result has the members of all; what differs under one name is as the newest has it.
func (shape *cardShape) write(card runtime.Card) ([]byte, error) {
	var whole []byte
	for _, v := range *shape {
		one, err := v.AppendCard(nil, card)
		if err != nil {
			return nil, err
		}
		if whole == nil {
			whole = one
			continue
		}
		if whole, err = union(whole, one); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// union adds to newer what only older has: members of objects at any depth, and of objects at the same place of lists of one length.
func union(newer, older wire.Value) (wire.Value, error) {
	switch {
	case bytes.Equal(newer, older):
		return newer, nil
	case newer.Kind() == wire.KindObject && older.Kind() == wire.KindObject:
		return members(wire.Object(newer), wire.Object(older))
	case newer.Kind() == wire.KindArray && older.Kind() == wire.KindArray:
		var a, b []wire.Value
		if err := errors.Join(json.Unmarshal(newer, &a), json.Unmarshal(older, &b)); err != nil {
			return nil, err
		}
		if len(a) != len(b) {
			return newer, nil
		}
		for i := range a {
			var err error
			if a[i], err = union(a[i], b[i]); err != nil {
				return nil, err
			}
		}
		out, err := json.Marshal(a)
		return out, err
	}
	return newer, nil
}

func members(newer, older wire.Object) (wire.Value, error) {
	rest, out := map[string]wire.Value{}, wire.Value{}
	for name, v := range older.All() {
		rest[name] = v
	}
	for name, v := range newer.All() {
		if old, ok := rest[name]; ok {
			var err error
			if v, err = union(v, old); err != nil {
				return nil, err
			}
			delete(rest, name)
		}
		out = append(wire.AppendKey(out, name), v...)
	}
	for name, v := range older.All() {
		if _, ok := rest[name]; ok {
			out = append(wire.AppendKey(out, name), v...)
		}
	}
	return wire.EndObject(out, 0), nil
}
