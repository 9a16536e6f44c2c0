// Package deliver sends the events of tasks to the URLs that clients have registered: it claims what is due in the
// store, sends it, and settles in the store what came of it.
package deliver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/store"
)

// Sender is the transport of push notifications.
type Sender interface {
	// Check says what is wrong with a configuration, as far as that can be told without looking a name up; nil:
	// nothing.
	Check(config *runtime.PushConfig) *runtime.Violation
	// Host names the machine where a configuration leads.
	Host(config *runtime.PushConfig) string
	// Push sends a notification, once. Without an error the receiver has it. An error that is a *runtime.PushFailure
	// says more than that it has not. It returns soon after ctx has ended.
	Push(ctx context.Context, n *runtime.Notification) error
	// Close releases what is kept open for the next notification.
	Close()
}

// Config is what a [Worker] works with.
type Config struct {
	Store     store.Store
	Sender    Sender
	Observers *observing.Group
	// Logger returns the logger for one delivery; all are "" for what concerns none.
	Logger func(skill, task, caller string) *slog.Logger
	// Encode writes the body of a notification in the words of a version. task is nil where the version does not want
	// it.
	Encode func(version string, task runtime.Task, event runtime.Event) (Encoded, error)
	// Join makes an artifact event of what several chunks say; nil: each event travels by itself.
	Join func(taskID, contextID string, data runtime.ArtifactData) runtime.Event
	// StoreTime bounds a call of the store; Grace bounds what is still going on at the end.
	StoreTime, Grace time.Duration
}

// Encoded is the body of a notification.
type Encoded struct {
	Version string // as the header names it
	Body    []byte
	LeftOut error // why content was left out that cannot be written; nil: all is there
}

// Worker sends push notifications. What is due is in the store: the worker claims a little of it at a time, so that its
// memory does not grow with the backlog, and nothing that waits here is lost when the process ends. A configuration has
// one notification in flight at most, which keeps them in order.
//
// A host that does not answer must delay nobody else. Jobs that wait for it are given back to the store, and fall due
// again after a while.
type Worker struct {
	Config
	bodies budget.Budget // of notifications in flight
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	claiming bool // a goroutine claims
	again    bool // more may be due than it has seen
	stopped  bool
	timer    *time.Timer // until the worker looks again
	hosts    map[string]*host
	queued   []*host // those with jobs in their queue, longest waiting first
	jobs     map[jobKey]*job
	inFlight int
	unproven int // of those in flight, to hosts that have not answered in time yet
	returned []*job
	giving   bool // a goroutine gives back what is returned
}

// bodyBytes is how many bytes the notifications in flight may have in all.
const bodyBytes = 64 << 20

// New makes a worker. It does nothing until [Worker.Wake].
func New(c Config) *Worker {
	ctx, cancel := context.WithCancel(context.Background())
	return &Worker{
		Config: c, ctx: ctx, cancel: cancel, bodies: budget.Budget{Limit: bodyBytes},
		hosts: map[string]*host{}, jobs: map[jobKey]*job{},
	}
}

// Wake has the worker look what is due.
func (w *Worker) Wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startClaiming()
}

// startClaiming has a goroutine claim what is due. Callers must hold w.mu.
func (w *Worker) startClaiming() {
	w.again = true
	if !w.claiming && !w.stopped {
		w.claiming = true
		w.done.Add(1)
		go w.claim()
	}
}

// claim claims what is due until there is no more of it, or no more room.
func (w *Worker) claim() {
	defer w.done.Done()
	for w.hasRoom() {
		ctx, cancel := w.storeContext()
		due, next, err := w.Store.Due(ctx, claimBatch, claimFor)
		if cancel(); err != nil && w.ctx.Err() == nil {
			w.Logger("", "", "").Warn("what push notifications are due could not be read, trying again", "error", err)
		}
		if err != nil {
			due, next = nil, claimRetry
		}
		now := time.Now()
		w.mu.Lock()
		for i := range due {
			w.enqueue(&job{Delivery: due[i], claimed: now}, now)
		}
		idle := len(due) == 0 && w.sleep(next)
		w.mu.Unlock()
		if idle {
			return
		}
	}
}

// storeContext is the context of a call of the store. It ends with the worker.
func (w *Worker) storeContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.ctx, w.StoreTime)
}

// hasRoom reports whether more can be claimed. If not, the goroutine that claims must end.
func (w *Worker) hasRoom() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.jobs)+claimBatch > maxClaimed {
		w.returnSlow(time.Now())
	}
	full := len(w.jobs)+claimBatch > maxClaimed
	if full || w.stopped {
		w.claiming = false
		if full {
			w.wakeAfter(slowAfter) // by then it is known who is slow
		}
		return false
	}
	w.again = false
	return true
}

// sleep ends the claiming until something falls due, and reports whether it may end. Callers must hold w.mu.
func (w *Worker) sleep(next time.Duration) bool {
	if w.again {
		return false
	}
	w.claiming = false
	if next >= 0 {
		w.wakeAfter(min(max(next, time.Millisecond), maxSleep))
	}
	return true
}

// wakeAfter has the worker look again after a while. Callers must hold w.mu.
func (w *Worker) wakeAfter(d time.Duration) {
	if w.stopped {
		return
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.Wake)
		return
	}
	w.timer.Reset(d)
}

// enqueue puts a job into the queue of its host. Callers must hold w.mu.
func (w *Worker) enqueue(j *job, now time.Time) {
	switch old := w.jobs[j.key()]; {
	case old == nil:
	case old.inFlight:
		old.next = j
		return
	default: // its claim ran out
		old.Delivery, old.claimed = j.Delivery, j.claimed
		return
	}
	name := w.Sender.Host(&j.Push.Config)
	h := w.hosts[name]
	if h == nil {
		h = &host{name: name}
		w.hosts[name] = h
	}
	j.host = h
	w.jobs[j.key()] = j
	if h.slow(now) && len(h.queue) > 0 {
		w.giveBack(j, h.pause(now))
		return
	}
	if h.queue = append(h.queue, j); len(h.queue) == 1 {
		w.queued = append(w.queued, h)
	}
	w.dispatch(now)
}

// returnSlow gives back the jobs that wait for slow hosts, but for one each. Callers must hold w.mu.
func (w *Worker) returnSlow(now time.Time) {
	for _, h := range w.queued {
		if h.slow(now) {
			for _, j := range h.queue[1:] {
				w.giveBack(j, h.pause(now))
			}
			clear(h.queue[1:])
			h.queue = h.queue[:1]
		}
	}
}

// giveBack has a job given back to the store, where it falls due again after a while. Until then it counts as claimed,
// which bounds how many there are. Callers must hold w.mu.
func (w *Worker) giveBack(j *job, later time.Duration) {
	j.inFlight, j.later = true, later
	w.returned = append(w.returned, j)
	if !w.giving && !w.stopped {
		w.giving = true
		w.done.Add(1)
		go w.giveAllBack()
	}
}

// giveAllBack gives back what is returned.
func (w *Worker) giveAllBack() {
	defer w.done.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.returned) > 0 && !w.stopped { // Close gives back the rest
		j := w.returned[0]
		w.returned = w.returned[1:]
		w.mu.Unlock()
		w.settle(j, store.Outcome{Later: j.later})
		w.mu.Lock()
		w.finished(j, time.Now())
	}
	w.giving, w.returned = false, nil
	w.startClaiming() // to know when they fall due
}

// finished forgets a job. Callers must hold w.mu.
func (w *Worker) finished(j *job, now time.Time) {
	delete(w.jobs, j.key())
	if j.next != nil {
		w.enqueue(j.next, now)
	}
}

// dispatch starts as many jobs as may be in flight, one host after the other. Callers must hold w.mu.
func (w *Worker) dispatch(now time.Time) {
	for i := 0; i < len(w.queued) && w.inFlight < maxInFlight && !w.stopped; {
		h := w.queued[i]
		if h.inFlight >= h.limit() || !h.prompt && w.unproven >= maxUnproven {
			i++
			continue
		}
		j := h.queue[0]
		h.queue[0], h.queue = nil, h.queue[1:]
		w.queued = append(w.queued[:i], w.queued[i+1:]...)
		if len(h.queue) > 0 {
			w.queued = append(w.queued, h)
		}
		if now.Sub(j.claimed) > maxClaimAge {
			w.giveBack(j, 0)
			continue
		}
		j.inFlight = true
		h.inFlight++
		w.inFlight++
		unproven := !h.prompt
		if unproven {
			w.unproven++
		}
		w.done.Add(1)
		go w.run(j, unproven)
	}
}

// run delivers one job's notification.
func (w *Worker) run(j *job, unproven bool) {
	defer w.done.Done()
	w.deliver(j)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight--
	if unproven {
		w.unproven--
	}
	j.host.inFlight--
	w.finished(j, now)
	w.dispatch(now)
	if h := j.host; h.inFlight == 0 && len(h.queue) == 0 && len(w.hosts) > maxHosts {
		delete(w.hosts, h.name)
	}
	w.startClaiming() // for what has happened to the task meanwhile
}

// log returns the logger for a job. The receiver's URL may hold secrets, so that only its host is named.
func (w *Worker) log(j *job) *slog.Logger {
	return w.Logger(w.head(j).Skill, j.Key.Task, j.Key.Owner.Principal).With("push", j.Push.ID, "host", j.host.name)
}

// Close lets what is in flight arrive until ctx is done, for [Config.Grace] at most, and sends nothing more. What is
// claimed is given back to the store, for the next instance.
func (w *Worker) Close(ctx context.Context) {
	w.mu.Lock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	grace, cancel := context.WithTimeout(ctx, w.Grace)
	defer cancel()
	defer context.AfterFunc(grace, w.cancel)()
	w.done.Wait()
	w.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	last, end := context.WithTimeout(context.Background(), w.Grace)
	defer end()
	for _, j := range w.jobs {
		for ; j != nil; j = j.next {
			if w.Store.Settle(last, j.Delivery, store.Outcome{}) != nil && last.Err() != nil {
				return // the claims run out
			}
		}
	}
	clear(w.jobs)
}
