package store

import "time"

// repeats are the messages that may be sent again, by owner and key. The lock of the index guards them.
type repeats struct {
	known map[Key]repeated
	order map[string][]Key // by principal, those that were there first go first
}

type repeated struct {
	task   string
	call   int64
	digest [32]byte
	until  time.Time
}

// find returns a *Repeated if a message was sent before.
func (rs *repeats) find(key Key, r *Repeat, now func() time.Time) error {
	if r == nil {
		return nil
	}
	if found, ok := rs.known[Key{key.Owner, r.Key}]; ok && now().Before(found.until) {
		return &Repeated{Task: found.task, Call: found.call, Same: found.digest == r.Digest}
	}
	return nil
}

// add notes a message that was taken on, with its call if it has one.
func (rs *repeats) add(key Key, r *Repeat, c *Call, now time.Time) {
	if r == nil {
		return
	}
	if rs.known == nil {
		rs.known, rs.order = map[Key]repeated{}, map[string][]Key{}
	}
	rs.sweep(key.Owner.Principal, now)
	known, order := Key{key.Owner, r.Key}, rs.order[key.Owner.Principal]
	if len(order) == MaxRepeats {
		delete(rs.known, order[0])
		order = order[1:]
	}
	noted := repeated{task: key.Task, digest: r.Digest, until: now.Add(r.For)}
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

// sweepAll forgets all that no longer count.
func (rs *repeats) sweepAll(now time.Time) {
	for principal := range rs.order {
		rs.sweep(principal, now)
	}
}
