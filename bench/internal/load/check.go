package load

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/a2agen/a2agen/bench/internal/work"
)

// checker checks the answers to one kind of work. Every answer is searched for what only the right answer holds: the
// request's id, the token of the process, the state. The first one of each connection, and the last task, are also decoded
// and looked at in full, which would cost too much for each.
type checker struct {
	d     *Dialect
	kind  work.Kind
	token string
	reply []byte
	seen  bool
	last  string // id of the last task that was looked at in full
	// of a stream
	next  int // the chunk that comes next
	total int
	ended bool
	mark  []byte
}

func newChecker(d *Dialect, k work.Kind, n int, token string) *checker {
	return &checker{d: d, kind: k, token: token, reply: []byte(work.Reply(token)), total: n}
}

// answer checks the body of a blocking answer to the request of the given number.
func (c *checker) answer(body, number []byte) error {
	if !c.d.binding.answers(body, number) || !bytes.Contains(body, c.reply) {
		return fmt.Errorf("not the answer to request %s: %.300s", number, body)
	}
	if c.kind == work.Task && !c.d.binding.complete(c.d, body) {
		return fmt.Errorf("the task of request %s is not complete: %.300s", number, body)
	}
	if c.seen {
		return nil
	}
	c.seen = true
	return c.inFull(c.d.send, body)
}

// inFull looks at an answer to a method that returns a message or a task.
func (c *checker) inFull(method string, body []byte) error {
	src, err := c.d.binding.open(method, body)
	if err != nil {
		return err
	}
	r, err := c.d.result(src)
	if err != nil {
		return err
	}
	if !slices.Equal(r.texts, []string{string(c.reply)}) {
		return fmt.Errorf("the answer says %q: %.300s", r.texts, body)
	}
	if want := c.kind == work.Task; (r.artifacts == 1) != want || (r.id != "") != want {
		return fmt.Errorf("the answer is of the wrong kind: %.300s", body)
	}
	c.last = r.id
	return nil
}

// begin prepares for the events of the next stream.
func (c *checker) begin() {
	c.next, c.ended = 0, false
	c.chunkMark()
}

func (c *checker) chunkMark() {
	c.mark = append(append(c.mark[:0], c.token...), " chunk "...)
	c.mark = append(strconv.AppendInt(c.mark, int64(c.next), 10), " of"...)
}

// event checks one event of a stream: chunks come complete and in order.
func (c *checker) event(data, number []byte) error {
	if c.ended {
		return fmt.Errorf("an event after the last: %.300s", data)
	}
	if !c.d.binding.answers(data, number) {
		return fmt.Errorf("not an event for request %s: %.300s", number, data)
	}
	switch {
	case c.next < c.total && bytes.Contains(data, c.mark):
		c.next++
		c.chunkMark()
	case c.next == c.total && c.d.binding.complete(c.d, data):
		c.ended = true
	case bytes.Contains(data, []byte(" chunk ")) || bytes.Contains(data, []byte(`"error":`)):
		return fmt.Errorf("chunk %d was due, this came: %.300s", c.next, data)
	}
	return nil
}

// end checks that a stream was complete.
func (c *checker) end() error {
	if c.next != c.total || !c.ended {
		return fmt.Errorf("the stream ended after %d of %d chunks (completed: %t)", c.next, c.total, c.ended)
	}
	return nil
}
