package push

import (
	"container/list"
	"crypto/sha256"
	"time"
)

// memory remembers the ids of notifications: the newest ones, for a while.
type memory struct {
	limit int
	life  time.Duration
	at    map[mark]*list.Element
	order list.List // of *remembered, the newest first
}

// mark is a short form of an id and what it belongs to.
type mark [16]byte

type remembered struct {
	mark mark
	at   time.Time
}

func markOf(k laneKey, id string) mark {
	var key []byte
	for _, s := range []string{k.task, k.config, id} {
		sum := sha256.Sum256([]byte(s))
		key = append(key, sum[:]...)
	}
	sum := sha256.Sum256(key)
	return mark(sum[:16])
}

func (m *memory) has(k laneKey, id string) bool {
	if id == "" {
		return false
	}
	e, ok := m.at[markOf(k, id)]
	return ok && time.Since(e.Value.(*remembered).at) < m.life
}

func (m *memory) add(k laneKey, id string) {
	if id == "" {
		return
	}
	key := markOf(k, id)
	if m.at == nil {
		m.at = map[mark]*list.Element{}
	}
	if e, ok := m.at[key]; ok {
		m.order.Remove(e)
	}
	m.at[key] = m.order.PushFront(&remembered{key, time.Now()})
	for e := m.order.Back(); e != nil; e = m.order.Back() {
		old := e.Value.(*remembered)
		if m.order.Len() <= m.limit && time.Since(old.at) < m.life {
			return
		}
		m.order.Remove(e)
		delete(m.at, old.mark)
	}
}
