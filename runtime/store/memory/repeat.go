package memory

import (
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// repeats are the messages that may be sent again, by owner and key. The lock of the index guards them.
type repeats struct {
	since time.Time // when the store was made
	known map[store.Key]repeated
	order map[string][]store.Key // by principal, those that were there first go first
}

type repeated struct {
	task   string
	call   int64
	digest [32]byte
	at     time.Time // when it came
	until  time.Time
}

// find returns a *Repeated if a message was sent before, and ErrForgotten if it may have been.
func (rs *repeats) find(key store.Key, r *store.Repeat, now func() time.Time) error {
	if found, ok := rs.known[store.Key{Owner: key.Owner, Task: r.Key}]; ok && now().Before(found.until) {
		return &store.Repeated{Task: found.task, Call: found.call, Same: found.digest == r.Digest}
	}
	order := rs.order[key.Owner.Principal]
	if !r.Since.IsZero() && (r.Since.Before(rs.since) || // it came before there was this store, or was one of too many
		len(order) > 0 && store.MayForget(r.Since, len(order), rs.known[order[0]].at)) {
		return store.ErrForgotten
	}
	return nil
}

// add notes a message that was taken on, with its call if it has one.
func (rs *repeats) add(key store.Key, r *store.Repeat, c *store.Call, now time.Time) {
	if rs.known == nil {
		rs.known, rs.order = map[store.Key]repeated{}, map[string][]store.Key{}
	}
	rs.sweep(key.Owner.Principal, now)
	known, order := store.Key{Owner: key.Owner, Task: r.Key}, rs.order[key.Owner.Principal]
	if len(order) == store.MaxRepeats {
		delete(rs.known, order[0])
		order = order[1:]
	}
	noted := repeated{task: key.Task, digest: r.Digest, at: now, until: now.Add(r.For)}
	if c != nil {
		noted.call = c.N
	}
	rs.known[known], rs.order[key.Owner.Principal] = noted, append(order, known)
}

// sweep forgets those of a principal that no longer count.
func (rs *repeats) sweep(principal string, now time.Time) {
	order := rs.order[principal]
	for len(order) > 0 && !now.Before(rs.known[order[0]].until) {
		delete(rs.known, order[0])
		order = order[1:]
	}
	if rs.order[principal] = order; len(order) == 0 {
		delete(rs.order, principal)
	}
}
