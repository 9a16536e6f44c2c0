package memory

import (
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// repeats are the messages that may be sent again.
type repeats struct {
	since time.Time               // when the store was made
	known map[store.Key]*repeated // by owner and key
	of    map[string][]*repeated  // by principal, those that were there first go first
}

type repeated struct {
	key    store.Key
	task   string
	call   int64
	digest [32]byte
	at     time.Time // when it came
	until  time.Time
}

// find returns a *Repeated if a message was sent before, and ErrForgotten if it may have been.
func (rs *repeats) find(key store.Key, r *store.Repeat, now time.Time) error {
	if found := rs.known[store.Key{Owner: key.Owner, Task: r.Key}]; found != nil && now.Before(found.until) {
		return &store.Repeated{Task: found.task, Call: found.call, Same: found.digest == r.Digest}
	}
	of := rs.of[key.Owner.Principal]
	if !r.Since.IsZero() && (r.Since.Before(rs.since) || // it came before there was this store, or was one of too many
		len(of) > 0 && store.MayForget(r.Since, len(of), of[0].at)) {
		return store.ErrForgotten
	}
	return nil
}

// add notes a message that was taken on, with its call if it has one.
func (rs *repeats) add(key store.Key, r *store.Repeat, c *store.Call, now time.Time) {
	principal := key.Owner.Principal
	rs.sweepRepeats(principal, now)
	if of := rs.of[principal]; len(of) == store.MaxRepeats {
		rs.forget(of[0])
		rs.of[principal] = of[1:]
	}
	added := &repeated{key: store.Key{Owner: key.Owner, Task: r.Key}, task: key.Task, digest: r.Digest, at: now, until: now.Add(r.For)}
	if c != nil {
		added.call = c.N
	}
	rs.known[added.key], rs.of[principal] = added, append(rs.of[principal], added)
}

// sweepRepeats forgets those of a principal that no longer count.
func (rs *repeats) sweepRepeats(principal string, now time.Time) {
	of := rs.of[principal]
	for len(of) > 0 && !now.Before(of[0].until) {
		rs.forget(of[0])
		of = of[1:]
	}
	if rs.of[principal] = of; len(of) == 0 {
		delete(rs.of, principal)
	}
}

// forget forgets one, unless its key was used again since.
func (rs *repeats) forget(r *repeated) {
	if rs.known[r.key] == r {
		delete(rs.known, r.key)
	}
}
