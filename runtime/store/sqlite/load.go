package sqlite

import (
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// taskColumns are the columns of a task in the order of scanTask. The last ones are of other tables: the number of the
// last event, whether there are push configurations and tickets, and what the body has.
const taskColumns = `n, context, skill, clientid, state, at, version, oldest, epoch, runner, calls, done, said, status, made, log,
	charged, rest, rested, asked, input, saved, trace, length(head),
	(SELECT max(seq) FROM event WHERE task=n), EXISTS(SELECT 1 FROM push WHERE task=n), EXISTS(SELECT 1 FROM ticket WHERE task=n),
	(SELECT max(version) FROM body WHERE task=n), (SELECT length(doc) FROM body WHERE task=n ORDER BY version DESC LIMIT 1)`

// scanTask reads the columns, for the given instance.
func scanTask(v []value, me int64) (n int64, m meta) {
	m = meta{
		context: text(v[1]), skill: text(v[2]), clientID: num(v[3]) != 0, state: runtime.State(num(v[4])), at: num(v[5]),
		version: num(v[6]), oldest: num(v[7]), epoch: num(v[8]), runner: num(v[9]), calls: num(v[10]), done: num(v[11]),
		size: size{said: num(v[12]), status: num(v[13]), made: num(v[14]), log: num(v[15]), head: num(v[23]),
			body: num(v[28])},
		charged: num(v[16]), rest: rest(num(v[17])), rested: num(v[18]), asked: num(v[19]) != 0, input: blob(v[20]), saved: blob(v[21]),
		trace: text(v[22]), pushed: num(v[25]) != 0, tickets: num(v[26]) != 0, snapshot: num(v[27]),
	}
	if last := num(v[24]); last > m.version {
		m.version = last // chunks of artifacts are not noted in the task
	}
	if m.runner != me {
		m.runner = 0 // the instance is dead
	}
	return num(v[0]), m
}

// number returns the number of the task of a key.
func (c *conn) number(key store.Key) (n int64, found bool, err error) {
	return c.one(`SELECT t.n FROM account a JOIN owner o ON o.account=a.n JOIN task t ON t.owner=o.n
		WHERE a.principal=? AND o.tenant=? AND t.id=?`, key.Owner.Principal, key.Owner.Tenant, key.Task)
}

// meta reads a task without its content.
func (c *conn) meta(n, me int64) (m meta, found bool, err error) {
	err = c.query("SELECT "+taskColumns+" FROM task WHERE n=?", func(v []value) error {
		_, m = scanTask(v, me)
		found = true
		return nil
	}, n)
	return m, found, err
}

// content makes a task from its last body at or before a version, and the events after it. It counts into m what
// taskColumns do not know.
func (k *codec) content(c *conn, n, at int64, m *meta) (task runtime.Task, err error) {
	from := int64(0)
	err = c.query("SELECT version, wire, doc FROM body WHERE task=? AND version<=? ORDER BY version DESC LIMIT 1",
		func(v []value) (err error) {
			from = num(v[0])
			task, err = k.readTask(num(v[1]), blob(v[2]))
			return err
		}, n, at)
	if err != nil {
		return nil, err
	}
	if task == nil && m.oldest > 0 {
		return nil, store.ErrTrimmed
	}
	var late struct{ log, made int64 }
	noted, _, err := c.one("SELECT version FROM task WHERE n=?", n)
	if err != nil {
		return nil, err
	}
	m.since = 0
	err = c.query("SELECT seq, wire, doc, messages FROM event WHERE task=? AND seq>? AND seq<=? ORDER BY seq",
		func(v []value) error {
			doc, messages := blob(v[2]), blob(v[3])
			bytes := int64(eventBytes + len(doc) + len(messages))
			m.since += bytes
			e, err := k.read(num(v[1]), doc)
			if err == nil && task == nil {
				first, ok := e.(runtime.Task)
				if !ok {
					return fmt.Errorf("the log of task %d begins with a %T", n, e)
				}
				task = first
				return nil
			}
			if err == nil {
				err = task.Apply(e)
			}
			if err != nil {
				return fmt.Errorf("event %d of task %d: %w", num(v[0]), n, err)
			}
			if num(v[0]) > noted {
				late.log += bytes
				late.made += int64(store.SizeOf(e, nil).Bytes)
			}
			return k.readMessages(num(v[1]), messages, task.AddMessage)
		}, n, from, at)
	if err == nil && task == nil {
		err = fmt.Errorf("task %d has neither a body nor a log", n)
	}
	m.size.log, m.size.made = m.size.log+late.log, m.size.made+late.made
	return task, err
}

// load reads a whole task.
func (k *codec) load(c *conn, key store.Key, n, me int64) (*row, error) {
	m, found, err := c.meta(n, me)
	if err != nil || !found {
		return nil, orNotFound(err)
	}
	r := &row{n: n, key: key, meta: m}
	if r.task, err = k.content(c, n, m.version, &r.meta); err != nil {
		return nil, err
	}
	err = c.query("SELECT seq, stamp FROM event WHERE task=? ORDER BY seq DESC LIMIT ?", func(v []value) error {
		if s := num(v[1]); s != 0 {
			r.stamps.list = append([]stamp{{num(v[0]), uint64(s)}}, r.stamps.list...) //nolint:gosec // bits
		}
		return nil
	}, n, mostStamps/2)
	return r, err
}

func orNotFound(err error) error {
	if err == nil {
		return store.ErrNotFound
	}
	return err
}
