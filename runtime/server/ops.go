package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/wire"
)

// handle carries the operation out, contains panics of user code that runs here (a router, say) and logs at debug level.
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
		q.s.logger.Error("request panicked", "method", q.op.RPC, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		q.fail(runtime.ErrInternal)
	}()
	if ctx := q.r.Context(); q.s.logger.Enabled(ctx, slog.LevelDebug) {
		begin := time.Now()
		defer func() { q.s.logger.DebugContext(ctx, "request", "method", q.op.RPC, "took", time.Since(begin)) }()
	}
	q.dispatch()
	done = true
}

// dispatch carries the operation out. Capabilities are checked before parameters (§3.3.4, R45–R48).
func (q *request) dispatch() {
	if err := q.gate(); err != nil {
		q.reject(q.unlessParse(err))
		return
	}
	params, err := q.op.Decode(q.params)
	if err != nil {
		q.reject(q.badParams(err))
		return
	}
	if err := q.hooked(params); err != nil {
		q.fail(err)
		return
	}
	switch p := params.(type) {
	case *runtime.SendRequest:
		q.send(p)
	case *runtime.TaskRequest:
		q.task(p)
	case *runtime.ListRequest:
		q.answer(q.list(p))
	default:
		if q.op.Role == runtime.RoleExtendedCard {
			q.reply(q.s.card.card.At(q.s.baseOf(q.r)))
			return
		}
		if do := q.s.other(q.op); do != nil {
			if q.op.Stream {
				q.sequence(do, params)
			} else {
				q.answer(q.run(do, params))
			}
			return
		}
		q.fail(runtime.ErrUnsupportedOperation)
	}
}

// gate refuses operations that the card does not offer, and those that the runtime does not know.
func (q *request) gate() *runtime.Error {
	switch q.op.Role {
	case runtime.RoleSend, runtime.RoleGet, runtime.RoleList, runtime.RoleCancel:
		return nil
	case runtime.RoleStream, runtime.RoleSubscribe:
		if !q.s.info.Streaming {
			return runtime.ErrUnsupportedOperation.With("this agent does not stream") // R47
		}
		return nil
	case runtime.RolePushCreate, runtime.RolePushGet, runtime.RolePushList, runtime.RolePushDelete:
		return runtime.ErrPushNotificationNotSupported // R46
	case runtime.RoleExtendedCard:
		if q.version.Rules.PublicCard {
			return nil
		}
		if q.s.info.Extended || q.version.Rules.PlainErrors { // 0.3 has this error for both (its §8.2)
			return runtime.ErrExtendedAgentCardNotConfigured // R48
		}
		return runtime.ErrUnsupportedOperation.With("this agent has no extended card")
	}
	if q.s.other(q.op) != nil {
		return nil
	}
	return runtime.ErrUnsupportedOperation
}

// badParams tells parameters that are no JSON from those that do not fit: the envelope is not checked inside.
func (q *request) badParams(err error) error { return q.unlessParse(invalidParams("", "", err)) }

// unlessParse puts before an error that the parameters, which nobody has decoded yet, are no JSON at all.
func (q *request) unlessParse(err *runtime.Error) error {
	if len(q.params) == 0 || isJSON(q.params) {
		return err
	}
	q.id = []byte("null")
	if _, broken := wire.ParseValue(q.params); broken != nil {
		return runtime.ErrParse.With("%s", invalidParams("", "", broken).Note)
	}
	return runtime.ErrParse
}

func (q *request) answer(result any, err error) {
	if err != nil {
		q.fail(err)
		return
	}
	q.reply(result)
}

// send carries out send and stream.
func (q *request) send(p *runtime.SendRequest) {
	owner, err := q.owner(p.Tenant)
	if err != nil {
		q.fail(err)
		return
	}
	q.adapt(p)
	if q.counted > 0 {
		q.release() // the handler may take long
	}
	streaming := q.op.Role == runtime.RoleStream
	wait := !streaming && !p.ReturnImmediately && !q.silent
	t, answer, err := q.s.send(q.r.Context(), owner, p, sending{wait: wait, named: q.version.Rules.ClientIDs, stored: q.silent})
	if err == nil && wait && t != nil {
		err = t.await(q.r.Context())
	}
	switch {
	case err != nil && q.silent && passing(err):
		q.w.WriteHeader(http.StatusServiceUnavailable) // 204 would say that the message was taken on
	case err != nil:
		q.fail(err)
	case q.silent:
		q.w.WriteHeader(http.StatusNoContent)
	case streaming:
		q.stream(t, answer)
	case answer != nil:
		q.reply(answer)
	default:
		if !wait {
			t.awaitDecision()
		}
		result, bytes, err := t.answer(wait)
		if err == nil {
			err = q.reserve(int64(bytes))
		}
		q.answer(result, err)
	}
}

// task carries out get, cancel and subscribe.
func (q *request) task(p *runtime.TaskRequest) {
	owner, err := q.owner(p.Tenant)
	switch {
	case err != nil:
	case p.ID == "":
		err = violation("id", "is required")
	case len(p.ID) > maxName:
		err = checkName("id", p.ID)
	case p.HistoryLength != nil && *p.HistoryLength < 0:
		err = violation("historyLength", "must not be negative")
	}
	if err != nil {
		q.fail(err)
		return
	}
	key := store.Key{Owner: owner, Task: p.ID}
	p.HistoryLength = q.history(p.HistoryLength)
	switch q.op.Role {
	case runtime.RoleGet:
		task, err := q.get(key, store.View{History: p.HistoryLength, Artifacts: true})
		q.answer(task, q.notFound(err, p.ID))
	case runtime.RoleCancel:
		task, err := q.s.cancelTask(q.r.Context(), key)
		q.answer(task, q.notFound(err, p.ID))
	case runtime.RoleSubscribe:
		if q.silent {
			q.reply(nil)
			return
		}
		q.subscribe(key)
	default:
		q.fail(fmt.Errorf("operation %s decodes to a task request", q.op.RPC))
	}
}

// get carries out GetTask. A large task is read once more when there is room for the answer: nobody holds on to one while he waits.
func (q *request) get(key store.Key, view store.View) (runtime.Task, error) {
	snap, err := q.s.store.Get(q.r.Context(), key, view)
	if err != nil || snap.Bytes <= keepBuffer {
		return snap.Task, err
	}
	snap.Task = nil
	if err := q.reserve(int64(snap.Bytes)); err != nil {
		return nil, err
	}
	snap, err = q.s.store.Get(q.r.Context(), key, view)
	return snap.Task, err
}

// notFound names the task in the error (R36).
func (q *request) notFound(err error, id string) error {
	if err == nil {
		return nil
	}
	if e, _ := toError(err); e == runtime.ErrTaskNotFound {
		return e.WithMetadata("taskId", limit(id, 100))
	}
	return err
}

// cancelTask ends a task for its client (A2A 1.0 §3.1.5). The task is canceled at once; a handler at work on it is told through its context, with the
// cause ErrCanceled, and nothing it still says counts. An ended task cannot be canceled, not even a canceled one (T17).
func (s *Server) cancelTask(ctx context.Context, key store.Key) (runtime.Task, error) {
	if _, err := s.store.Get(context.Background(), key, store.View{History: new(int)}); err != nil {
		return nil, err
	}
	l := s.use(key)
	defer s.drop(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	snap, err := l.load(s, store.View{History: new(int)})
	if err != nil {
		return nil, err
	}
	info := snap.Task.TaskInfo()
	if info.State.Terminal() {
		return nil, runtime.ErrTaskNotCancelable.With("the task has ended: %s", info.State).WithMetadata("taskId", key.Task)
	}
	u := store.Update{Event: s.newStatus(ctx, key.Task, info.ContextID, runtime.StateCanceled, nil, s.now())}
	err = l.retry(s, context.Background(), func() (err error) {
		snap, err = l.commit(s, u, &store.Full)
		return err
	})
	if err != nil {
		return nil, err
	}
	if l.run != nil {
		l.run.cancel(ErrCanceled)
		l.run.release()
	}
	for _, q := range l.queue {
		q.release()
	}
	return snap.Task, nil
}

// Bounds of a page of tasks (R308).
const (
	defaultPage = 50
	maxPage     = 100
)

// list carries out ListTasks (A2A 1.0 §3.1.4). Tasks come without history unless some is asked for.
func (q *request) list(p *runtime.ListRequest) (any, error) {
	owner, err := q.owner(p.Tenant)
	if err != nil {
		return nil, err
	}
	size := defaultPage
	switch {
	case p.PageSize != nil && (*p.PageSize < 0 || *p.PageSize > maxPage):
		return nil, violation("pageSize", fmt.Sprintf("must be between 1 and %d", maxPage))
	case p.HistoryLength != nil && *p.HistoryLength < 0:
		return nil, violation("historyLength", "must not be negative")
	case p.PageSize != nil && *p.PageSize > 0: // 0 is what ProtoJSON writers send for "not set"
		size = *p.PageSize
	}
	history := p.HistoryLength
	if history == nil {
		history = new(int)
	}
	page, err := q.page(owner, store.Query{
		Context: p.ContextID, State: p.State, After: p.After, Size: size, Bytes: q.s.limits.Page, Token: p.PageToken,
		View: store.View{History: history, Artifacts: p.IncludeArtifacts},
	})
	if err != nil {
		return nil, err
	}
	for i, task := range page.Tasks {
		page.Tasks[i] = q.answered(task)
	}
	return q.s.protocol.NewTaskPage(page.Tasks, page.Next, size, page.Total), nil
}

// page reads a page of tasks, as get reads one task.
func (q *request) page(owner store.Owner, query store.Query) (store.Page, error) {
	page, err := q.s.store.List(q.r.Context(), owner, query)
	if err != nil || page.Bytes <= keepBuffer {
		return page, err
	}
	page.Tasks = nil
	if err := q.reserve(int64(page.Bytes)); err != nil {
		return page, err
	}
	return q.s.store.List(q.r.Context(), owner, query)
}
