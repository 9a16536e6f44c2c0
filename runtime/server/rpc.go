package server

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/engine"
	"github.com/a2agen/a2agen/runtime/sse"
	"github.com/a2agen/a2agen/runtime/wire"
)

// request is one JSON-RPC call being answered (A2A 1.0 §9). A notification, which has no id, is silent.
type request struct {
	exchange
	id     []byte // raw; "null" when it could not be read
	params []byte
}

// noID stands for the id of a request that has none, or that could not be read.
var noID = []byte("null")

// release lets go of the body, for an answer that may take long. id and params are slices of it.
func (q *request) release() {
	if q.body != nil {
		q.id, q.params = bytes.Clone(q.id), nil
		q.drop()
	}
}

// serveRPC answers one JSON-RPC request. Errors of the protocol have HTTP status 200; other statuses are for what is
// not JSON-RPC at all. The order of checks is version, caller, method, parameters (T62).
func (s *Server) serveRPC(w http.ResponseWriter, r *http.Request) {
	if !s.allowOrigin(w, r) {
		return
	}
	if wantsPage(r) {
		s.servePage(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST, OPTIONS")
		http.Error(w, "A POST is wanted here. "+s.directions(r), http.StatusMethodNotAllowed)
		return
	}
	q := request{exchange: s.exchange(w, r), id: noID}
	if !jsonContent(r.Header["Content-Type"]) {
		wrong := runtime.ErrContentTypeNotSupported.With("the content type must be application/json")
		q.refuse(http.StatusUnsupportedMediaType, wrong)
		return
	}
	defer q.done()
	if err := q.identify(); err != nil {
		q.fail(err)
		return
	}
	if status, refusal := q.receive(); refusal != nil {
		q.refuse(status, refusal)
		return
	}
	env, fault := readEnvelope(*q.body)
	if env.id != nil && (fault == nil || fault.Code != runtime.ErrParse.Code) {
		q.id = env.id
	}
	q.Silent = env.id == nil
	if fault := q.resolve(env, fault); fault != nil {
		q.reject(fault)
		return
	}
	q.handle()
}

// resolve finds version and operation, and checks the required extensions.
func (q *request) resolve(env envelope, fault *runtime.Error) *runtime.Error {
	asked := askedVersion(q.r)
	has := func(v *engine.Version) bool { return q.s.methods[v.Index][string(env.method)] != nil }
	v, err := q.s.engine.Choose(asked, has)
	if err != nil {
		return err
	}
	q.Version = v
	if fault = q.tolerate(env, fault); fault != nil {
		return fault
	}
	q.params = env.params
	if q.Op = q.s.methods[v.Index][string(env.method)]; q.Op == nil {
		return q.unlessParse(q.unknownMethod(env.method))
	}
	if err := q.activate(); err != nil {
		return q.unlessParse(err)
	}
	if q.params == nil {
		q.params = []byte("{}")
	}
	if asked == "" {
		q.recognise()
	}
	q.Repeat = repeatKey(q.r)
	if q.Op.Stream {
		q.Coding, q.After = q.s.codings[q.Version.Index], lastEventID(q.r)
	}
	return nil
}

// tolerate lets 0.1 leave out jsonrpc, and the id of a request that wants an answer, as its schema does. It returns
// what is wrong with the envelope.
func (q *request) tolerate(env envelope, fault *runtime.Error) *runtime.Error {
	if q.Version.Rules.ClientIDs {
		q.Silent = false
		return fault
	}
	if fault == nil && env.bare {
		return runtime.ErrInvalidRequest.With(`jsonrpc must be "2.0"`)
	}
	return fault
}

// recognise corrects the version of a request that names none, where the method's name says too little: tasks/get is
// one of 0.1 and of 0.3.
func (q *request) recognise() {
	named := q.s.engine.ByClient()
	if named == nil || q.Version == named {
		return
	}
	switch q.Op.Role {
	case runtime.RoleGet, runtime.RoleCancel, runtime.RoleSubscribe:
	default:
		return
	}
	op := q.s.methods[named.Index][q.Op.RPC]
	if op == nil {
		return
	}
	params, err := op.Decode(q.params)
	if p, ok := params.(*runtime.TaskRequest); ok && err == nil && q.Foreign(p) {
		q.Version, q.Op = named, op
	}
}

// handle carries the operation out, contains panics of user code that runs here (a router, say) and logs at debug
// level.
func (q *request) handle() {
	done := false
	defer func() {
		p := recover()
		switch {
		case p == nil && !done:
			q.exited()
			return
		case p == nil:
			return
		case p == http.ErrAbortHandler:
			panic(p)
		}
		q.s.logger.Error("request panicked", "method", q.Op.RPC, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		q.fail(runtime.ErrInternal)
	}()
	if ctx := q.r.Context(); q.s.logger.Enabled(ctx, slog.LevelDebug) {
		begin := time.Now()
		defer func() { q.s.logger.DebugContext(ctx, "request", "method", q.Op.RPC, "took", time.Since(begin)) }()
	}
	q.dispatch()
	done = true
}

// dispatch has the operation carried out and answers. Capabilities are checked before parameters (§3.3.4).
func (q *request) dispatch() {
	if err := q.Allowed(); err != nil {
		q.reject(q.unlessParse(err))
		return
	}
	if status, refusal := q.weigh(q.params); refusal != nil {
		q.refuse(status, refusal)
		return
	}
	params, fault := q.Version.Decode(q.Op, q.params)
	if fault != nil {
		q.reject(q.unlessParse(fault))
		return
	}
	if q.counted > 0 {
		q.release() // the handler may take long
	}
	a, err := q.Serve(params)
	switch {
	case err != nil && q.Silent && q.sends() && engine.Passing(err):
		q.w.WriteHeader(http.StatusServiceUnavailable) // 204 would say that the message was taken on
	case err != nil:
		q.fail(err)
	case a.Stream != nil:
		q.follow(a.Stream)
	case a.Sequence != nil:
		q.sequence(a.Sequence)
	case q.Silent:
		q.w.WriteHeader(http.StatusNoContent)
	case q.Op.Stream:
		q.single(a.Result)
	default:
		q.reply(a.Result)
	}
}

func (q *request) sends() bool {
	return q.Op.Role == runtime.RoleSend || q.Op.Role == runtime.RoleStream
}

// unlessParse puts before an error that the parameters, which nobody has decoded yet, are no JSON at all: the envelope
// is not checked inside.
func (q *request) unlessParse(err *runtime.Error) *runtime.Error {
	if len(q.params) == 0 || isJSON(q.params) {
		return err
	}
	q.id = noID
	if _, broken := wire.ParseValue(q.params); broken != nil {
		return runtime.ErrParse.With("%s", engine.InvalidParams(broken).Note)
	}
	return runtime.ErrParse
}

// follow answers with a stream of a task's events.
func (q *request) follow(st *engine.Stream) {
	q.release()
	w := q.events(q)
	if err := w.follow(st); err == nil {
		return
	} else if e := (*runtime.Error)(nil); errors.As(err, &e) && !w.begun {
		q.fail(e)
	} else if q.r.Context().Err() == nil {
		q.s.logger.Info("stream given up", "task", st.TaskID(), "error", err)
	}
}

// sequence answers with the items of an operation of the agent's own.
func (q *request) sequence(items *engine.Sequence) {
	q.release()
	w := q.events(q)
	if err := w.sequence(items); err != nil {
		q.fail(err)
	}
}

// single answers with a stream of one event.
func (q *request) single(event any) {
	err := q.Pass(func(b []byte) ([]byte, error) {
		e, ok := event.(runtime.Event)
		if !ok {
			return b, runtime.Unexpected(event, "an event")
		}
		b, err := q.Coding.Append(q.beginFrame(sse.Begin(b)), e)
		return sse.End(q.endFrame(b)), err
	}, func(b []byte) {
		q.streamHeader()
		_ = q.putWhole(b)
	})
	if err != nil {
		q.fail(fmt.Errorf("result: %w", err))
	}
}
