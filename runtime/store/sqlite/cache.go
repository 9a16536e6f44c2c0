package sqlite

import (
	"container/list"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
)

// cache holds the decoded tasks that were written last, so that the cost of an update depends on its events and not on the
// size of the task. Only the writer adds tasks: those that are only read would be too many.
type cache struct {
	limit int64

	mu    sync.Mutex
	rows  map[store.Key]*list.Element
	order *list.List // the last used in front
	bytes int64
}

type cached struct {
	row   *row
	bytes int64
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, rows: map[store.Key]*list.Element{}, order: list.New()}
}

// get returns a task, nil if it is not there.
func (c *cache) get(key store.Key) *row {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.rows[key]; e != nil {
		c.order.MoveToFront(e)
		return e.Value.(*cached).row
	}
	return nil
}

// put adds a task of that many bytes, and removes those used longest ago when there are too many bytes.
func (c *cache) put(r *row, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.rows[r.key]; e != nil {
		old := e.Value.(*cached)
		c.bytes += bytes - old.bytes
		*old = cached{r, bytes}
		c.order.MoveToFront(e)
	} else {
		c.rows[r.key] = c.order.PushFront(&cached{r, bytes})
		c.bytes += bytes
	}
	for c.bytes > c.limit && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
}

func (c *cache) remove(e *list.Element) {
	old := c.order.Remove(e).(*cached)
	delete(c.rows, old.row.key)
	c.bytes -= old.bytes
}

func (c *cache) drop(key store.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.rows[key]; e != nil {
		c.remove(e)
	}
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.rows)
	c.order.Init()
	c.bytes = 0
}
