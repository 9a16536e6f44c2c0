package stored

import (
	"container/list"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
)

// Cache holds the decoded tasks that were written last, so that the cost of an update depends on its events and not on the
// size of the task. R is a pointer to a row. Tasks that are only read would be too many.
type Cache[R any] struct {
	limit int64

	mu    sync.Mutex
	rows  map[store.Key]*list.Element
	order *list.List // the last used in front
	bytes int64
}

type cached[R any] struct {
	key   store.Key
	row   R
	bytes int64
}

// NewCache makes a cache of about as many bytes.
func NewCache[R any](limit int64) *Cache[R] {
	return &Cache[R]{limit: limit, rows: map[store.Key]*list.Element{}, order: list.New()}
}

// Get returns a task, nil if it is not there.
func (c *Cache[R]) Get(key store.Key) (r R) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.rows[key]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*cached[R]).row
	}
	return r
}

// Put adds a task of that many bytes, and removes those used longest ago when there are too many bytes.
func (c *Cache[R]) Put(key store.Key, r R, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.rows[key]; e != nil {
		old := e.Value.(*cached[R])
		c.bytes += bytes - old.bytes
		old.row, old.bytes = r, bytes
		c.order.MoveToFront(e)
	} else {
		c.rows[key] = c.order.PushFront(&cached[R]{key, r, bytes})
		c.bytes += bytes
	}
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
}

func (c *Cache[R]) remove(e *list.Element) {
	old := c.order.Remove(e).(*cached[R])
	delete(c.rows, old.key)
	c.bytes -= old.bytes
}

// Drop removes a task.
func (c *Cache[R]) Drop(key store.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.rows[key]; e != nil {
		c.remove(e)
	}
}

// Clear removes all tasks.
func (c *Cache[R]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.rows)
	c.order.Init()
	c.bytes = 0
}
