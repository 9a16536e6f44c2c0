package postgres

import (
	"maps"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// Most tasks are watched by the instance that runs them, and by no other: nobody needs to be told of their changes. An
// instance says which tasks it watches without running them, as soon as it begins to and then every few seconds; the
// others tell of changes of those alone, and of changes of what another instance runs.
//
// Who has just begun to watch a task, and was not known to yet when it changed, is told as soon as that is known.

// otherWatchers are the tasks that other instances watch, by hash.
type otherWatchers struct {
	mu    sync.Mutex
	until map[uint64]time.Time // for how long it counts that an instance has said so
	// all is until when every change is told: others have not yet said what they watch. Zero: this instance does not
	// listen, and never knows.
	all time.Time
	// changed are tasks of whose changes nobody was told since the time began, and before in the period before that.
	changed, before map[uint64]struct{}
	began           time.Time
}

const (
	// sayEvery is how often an instance says what it watches, saidLasts for how long the others remember it, and
	// learnTime how long they take to have heard it from everybody.
	sayEvery  = 3 * pollEvery
	saidLasts = 15 * time.Second
	learnTime = 2 * sayEvery
	// mostWatched is how many tasks of others are remembered. When there are more, every change is told.
	mostWatched = 1 << 18
	// changedLasts is for how long a change of which nobody was told is remembered, at least.
	changedLasts = time.Second
)

// listen begins to remember what others say, since it is heard now.
func (o *otherWatchers) listen(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until, o.all = map[uint64]time.Time{}, now.Add(learnTime)
}

// stop ends that.
func (o *otherWatchers) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until, o.all = nil, time.Time{}
}

func (o *otherWatchers) listens() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.all.IsZero()
}

// watch notes that another instance watches a task, and reports whether it is to be told of a change that it may have
// missed.
func (o *otherWatchers) watch(h uint64, now time.Time) (missed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all.IsZero() {
		return false
	}
	if _, ok := o.until[h]; !ok && len(o.until) >= mostWatched {
		o.all = now.Add(saidLasts)
		return false
	}
	o.until[h] = now.Add(saidLasts)
	_, changed := o.changed[h]
	_, before := o.before[h]
	return changed || before
}

// mustKnow reports whether a change is to be told. It remembers one that is not.
func (o *otherWatchers) mustKnow(h uint64, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all.IsZero() || now.Before(o.all) || now.Before(o.until[h]) {
		return true
	}
	if o.changed == nil || now.Sub(o.began) > changedLasts {
		o.changed, o.before, o.began = map[uint64]struct{}{}, o.changed, now
	}
	o.changed[h] = struct{}{}
	return false
}

// expire forgets what was said too long ago.
func (o *otherWatchers) expire(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.until, func(_ uint64, until time.Time) bool { return now.After(until) })
}

// runs reports whether this instance runs a task, as far as it knows: then it makes the changes itself.
func (s *Store) runs(key store.Key) bool {
	r := s.tasks.cache.Get(key)
	if r == nil {
		return false
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.Meta.Open() && r.Meta.Runner == s.me()
}

// tellOf tells others of a change of a task, and says that this instance watches it if it does not run it any more.
// was is who ran it before.
func (k *waking) tellOf(key store.Key, was int32, is *taskstate.State) {
	me := k.me()
	another := was != 0 && was != me || is.Runner != 0 && is.Runner != me
	k.tell(key, another)
	if was == me && is.Runner != me && !is.Status.Terminal() && len(k.watchers.of(hashOf(key))) > 0 {
		k.say(key)
	}
}

// say has the others told that this instance watches a task.
func (k *waking) say(key store.Key) {
	if k.alone.Load() || !k.others.listens() {
		return
	}
	k.notices.add(k.notices.watched, hashOf(key))
}

// sayAll has them told of all tasks that it watches without running them.
func (k *waking) sayAll() {
	for _, w := range k.watchers.list() {
		if !k.runs(w.key) {
			k.say(w.key)
		}
	}
}
