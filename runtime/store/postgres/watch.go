package postgres

import (
	"context"
	"encoding/base64"
	"encoding/binary"
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
// It is a hint: nobody waits until it is sent, and an instance that misses one finds the change a second later.

// waking wakes those who watch tasks when other instances change them, and tells those what this one changes.
type waking struct {
	db      *database
	target  *target
	control *pgxpool.Pool // of its instance
	channel string
	me      func() int32 // number of its instance
	alone   atomic.Bool  // no other instance is there, as far as is known
	stats   *stats
	logger  *slog.Logger

	watchers watchers
	notices  notices
}

func (k *waking) init(s *Store) {
	k.db, k.target, k.me, k.stats, k.logger = &s.database, s.target, s.me, &s.stats, s.options.Logger
	k.notices.pending, k.notices.wake = map[uint64]struct{}{}, make(chan struct{}, 1)
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
	return s.waking.watchers.add(key, wake)
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
	pending map[uint64]struct{}
	wake    chan struct{}
}

// Limits of a notification: PostgreSQL has 8,000 bytes, a hash is 11 letters.
const (
	hashLetters = 11
	mostHashes  = (8000 - 16) / hashLetters
)

// tell has the other instances told that a task was changed, if there are any.
func (k *waking) tell(key store.Key) {
	if k.alone.Load() {
		return
	}
	q := &k.notices
	q.mu.Lock()
	q.pending[hashOf(key)] = struct{}{}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take makes the text of the next notification of an instance; "": there is nothing to tell.
func (q *notices) take(me int32) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) == 0 {
		return ""
	}
	text := make([]byte, 0, 16+hashLetters*min(len(q.pending), mostHashes))
	text = append(strconv.AppendInt(text, int64(me), 10), ':')
	n := 0
	for h := range q.pending {
		delete(q.pending, h)
		text = base64.RawURLEncoding.AppendEncode(text, binary.BigEndian.AppendUint64(nil, h))
		if n++; n == mostHashes {
			break
		}
	}
	return string(text)
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

// wakeNamed wakes who watches the tasks that a notification names. Any role of the database may send one: what cannot
// be decoded is ignored.
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
	for ; len(hashes) >= hashLetters; hashes = hashes[hashLetters:] {
		b, err := base64.RawURLEncoding.DecodeString(hashes[:hashLetters])
		if err != nil {
			return
		}
		for _, w := range k.watchers.of(binary.BigEndian.Uint64(b)) {
			w.wake()
		}
	}
}
