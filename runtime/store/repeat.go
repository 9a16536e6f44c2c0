package store

import "time"

// repeats are the messages that may be sent again, by owner and key. The lock of the index guards them.
type repeats map[Key]repeated

type repeated struct {
	task   string
	digest [32]byte
	until  time.Time
}

// find returns a *Repeated if a message was sent before.
func (rs repeats) find(key Key, r *Repeat, now func() time.Time) error {
	if r == nil {
		return nil
	}
	if found, ok := rs[Key{key.Owner, r.Key}]; ok && now().Before(found.until) {
		return &Repeated{Task: found.task, Same: found.digest == r.Digest}
	}
	return nil
}

// add notes a message that was taken on.
func (rs *repeats) add(key Key, r *Repeat, now func() time.Time) {
	if r == nil {
		return
	}
	if *rs == nil {
		*rs = repeats{}
	}
	(*rs)[Key{key.Owner, r.Key}] = repeated{key.Task, r.Digest, now().Add(r.For)}
}

// sweep forgets those that no longer count.
func (rs repeats) sweep(now time.Time) {
	for key, r := range rs {
		if !now.Before(r.until) {
			delete(rs, key)
		}
	}
}
