package postgres

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"iter"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/runtime/store"
)

// Instances tell each other which tasks they have changed: after the commit, in one notification for all that were
// changed meanwhile, so that commits do not wait for each other. A notification names tasks by a hash of their key.
// It is a hint: nobody waits until it is sent, and an instance that misses one finds the change a second later. What
// nobody watches is not told (others.go).

// waking wakes those who watch tasks when other instances change them, and tells those what this one changes.
type waking struct {
	db      *database
	target  *target
	control *pgxpool.Pool // of its instance
	channel string
	me      func() int32         // number of its instance
	runs    func(store.Key) bool // whether it runs a task
	alone   atomic.Bool          // no other instance is there, as far as is known
	stats   *stats
	logger  *slog.Logger

	watchers watchers
	others   otherWatchers
	notices  notices
}

func (k *waking) init(s *Store) {
	k.db, k.target, k.me, k.stats, k.logger = &s.database, s.target, s.me, &s.stats, s.options.Logger
	k.runs = s.runs
	k.notices.changed, k.notices.watched, k.notices.wake = map[uint64]struct{}{}, map[uint64]struct{}{}, make(chan struct{}, 1)
}

// watchers are what is woken, by the hash of the task.
type watchers struct {
	mu  sync.Mutex
	all map[uint64]map[*watcher]struct{}
}

type watcher struct {
	key  store.Key
	wake func()
	n    int64 // number of the task; 0: not known. Only poll uses it, and rev.
	rev  int64 // when it was looked last: 0: never, notThere: there was none
}

// Watch implements [store.Store].
func (s *Store) Watch(key store.Key, wake func()) (stop func()) {
	stop = s.waking.watchers.add(key, wake)
	if !s.runs(key) {
		s.waking.say(key)
	}
	return stop
}

// add adds a watcher of a task.
func (ws *watchers) add(key store.Key, wake func()) (stop func()) {
	h, w := hashOf(key), &watcher{key: key, wake: wake}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all == nil {
		ws.all = map[uint64]map[*watcher]struct{}{}
	}
	if ws.all[h] == nil {
		ws.all[h] = map[*watcher]struct{}{}
	}
	ws.all[h][w] = struct{}{}
	return func() {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		if delete(ws.all[h], w); len(ws.all[h]) == 0 {
			delete(ws.all, h)
		}
	}
}

// of returns those of a task.
func (ws *watchers) of(h uint64) (list []*watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all[h] {
		list = append(list, w)
	}
	return list
}

// list returns all of them.
func (ws *watchers) list() (list []*watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, set := range ws.all {
		for w := range set {
			list = append(list, w)
		}
	}
	return list
}

// wakeAll wakes everybody, as notifications may have been lost: a few at a time, since each looks at the database.
func (k *waking) wakeAll(ctx context.Context) {
	for i, w := range k.watchers.list() {
		if w.wake(); i%100 == 99 && !sleep(ctx, 10*time.Millisecond) {
			return
		}
	}
}

// sleep waits, and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// hashOf is FNV-1a of a key: the same in all instances.
func hashOf(key store.Key) uint64 {
	h := uint64(14695981039346656037)
	for _, part := range [...]string{key.Owner.Tenant, key.Owner.Principal, key.Task} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211 // in no UTF-8
	}
	return h
}

// notices are the tasks that the others are still to be told of.
type notices struct {
	mu      sync.Mutex
	changed map[uint64]struct{}
	watched map[uint64]struct{} // here, although they are not run here
	wake    chan struct{}
}

// Limits of a notification: PostgreSQL has 8,000 bytes, a hash is 11 letters.
const (
	hashLetters = 11
	mostHashes  = (8000 - 16) / hashLetters
)

// tell has the other instances told that a task was changed, if there are any, and one of them is to know.
func (k *waking) tell(key store.Key, always bool) {
	if h := hashOf(key); !k.alone.Load() && (always || k.others.mustKnow(h, time.Now())) {
		k.notices.add(k.notices.changed, h)
	}
}

// add adds a task to one of the sets.
func (q *notices) add(set map[uint64]struct{}, h uint64) {
	q.mu.Lock()
	set[h] = struct{}{}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take makes the text of the next notification of an instance: its number, a colon, the tasks that were changed, and after
// a plus those that it watches. "": there is nothing to tell.
func (q *notices) take(me int32) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.changed)+len(q.watched), mostHashes)
	if n == 0 {
		return ""
	}
	text := make([]byte, 0, 16+hashLetters*n)
	text = append(strconv.AppendInt(text, int64(me), 10), ':')
	text, n = moveHashes(text, q.changed, n)
	if n > 0 {
		text, _ = moveHashes(append(text, '+'), q.watched, n)
	}
	return string(text)
}

// moveHashes moves as many hashes from a set to a text, and returns how many more there may be.
func moveHashes(text []byte, from map[uint64]struct{}, most int) ([]byte, int) {
	for h := range from {
		if most == 0 {
			break
		}
		delete(from, h)
		text = base64.RawURLEncoding.AppendEncode(text, binary.BigEndian.AppendUint64(nil, h))
		most--
	}
	return text, most
}

// noticesApart is the least time between two notifications of an instance. Each one wakes all instances of the schema,
// and costs about as much as a small batch: what is changed meanwhile goes together in the next one.
const noticesApart = 3 * time.Millisecond

// sendNotices tells the others until ctx ends, at first that this instance is there.
func (k *waking) sendNotices(ctx context.Context) {
	_ = k.notify(ctx, k.channel, strconv.Itoa(int(k.me()))+":") // else they find out by the next heartbeat
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.notices.wake:
		}
		for text := k.notices.take(k.me()); text != ""; text = k.notices.take(k.me()) {
			pause := noticesApart
			if k.notify(ctx, k.channel, text) != nil {
				pause = 100 * time.Millisecond
			}
			if !sleep(ctx, pause) {
				return
			}
		}
	}
}

// flush tells the others what they are still to be told.
func (k *waking) flush(ctx context.Context) {
	for text := k.notices.take(k.me()); text != ""; text = k.notices.take(k.me()) {
		if k.notify(ctx, k.channel, text) != nil {
			return // they look themselves
		}
	}
}

// notifySQL sends a notification. What it is about is stored by then, so that it need not wait for the disk.
const notifySQL = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"

// notify sends a notification.
func (k *waking) notify(ctx context.Context, channel, text string) error {
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	k.stats.notified()
	_, err := k.control.Exec(ctx, notifySQL, channel, text)
	return err
}

// wakeNamed wakes who watches the tasks that a notification names, and notes what its sender watches. Any role of the
// database may send one: what cannot be decoded is ignored.
func (k *waking) wakeNamed(text string) {
	by, hashes, ok := strings.Cut(text, ":")
	switch {
	case !ok:
		return
	case by == strconv.Itoa(int(k.me())):
		k.stats.heardOwn()
		return
	}
	k.stats.received.Add(1)
	k.alone.Store(false)
	changed, watched, _ := strings.Cut(hashes, "+")
	for h := range hashesOf(changed) {
		for _, w := range k.watchers.of(h) {
			w.wake()
		}
	}
	now := time.Now()
	for h := range hashesOf(watched) {
		if k.others.watch(h, now) {
			k.notices.add(k.notices.changed, h)
		}
	}
}

// hashesOf reads hashes from a notification.
func hashesOf(text string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for ; len(text) >= hashLetters; text = text[hashLetters:] {
			b, err := base64.RawURLEncoding.DecodeString(text[:hashLetters])
			if err != nil || !yield(binary.BigEndian.Uint64(b)) {
				return
			}
		}
	}
}
