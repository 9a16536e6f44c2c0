package sqlite

import (
	"fmt"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// taskColumns are the columns of a task in the order of scanTask. The last ones are of other tables: the number of the
// checkLast event, whether there are push configurations and tickets, and what the body has.
const taskColumns = `n, context, skill, clientid, state, at, version, oldest, epoch, runner, calls, done, said, status, made, log,
	charged, rested, asked, input, saved, trace, length(head),
	(SELECT max(seq) FROM event WHERE task=n), (SELECT count(*) FROM push WHERE task=n), EXISTS(SELECT 1 FROM ticket WHERE task=n),
	(SELECT max(version) FROM body WHERE task=n), (SELECT length(doc) FROM body WHERE task=n ORDER BY version DESC LIMIT 1)`

// scanTask reads the columns, for the given instance.
func scanTask(v []value, me int64) (n int64, m stored.Meta) {
	m = stored.Meta{
		Context: text(v[1]), Skill: text(v[2]), ClientID: num(v[3]) != 0, At: num(v[5]), Oldest: num(v[7]), Log: num(v[15]),
		Charged: num(v[16]), Asked: num(v[18]) != 0, Input: blob(v[19]), Saved: blob(v[20]), Trace: text(v[21]), Head: num(v[22]),
		Snapshot: num(v[26]), Body: num(v[27]),
	}
	m.State = taskstate.State{
		Status: runtime.State(num(v[4])), Epoch: num(v[8]), Calls: num(v[10]), Done: num(v[11]), Rested: num(v[17]),
		Version: max(num(v[6]), num(v[23])), // chunks of artifacts are not noted in the task
		Pushes:  int32(num(v[24])), Ticketed: num(v[25]) != 0,
	}
	m.Messages.Bytes, m.LastStatus.Bytes, m.Artifacts.Bytes = int(num(v[12])), int(num(v[13])), int(num(v[14]))
	if num(v[9]) == me { // another instance is dead
		m.Runner = int32(me)
	}
	return num(v[0]), m
}

// number returns the number of the task of a key.
func (c *conn) number(key store.Key) (n int64, found bool, err error) {
	return c.one(`SELECT t.n FROM account a JOIN owner o ON o.account=a.n JOIN task t ON t.owner=o.n
		WHERE a.principal=? AND o.tenant=? AND t.id=?`, key.Owner.Principal, key.Owner.Tenant, key.Task)
}

// meta reads a task without its content.
func (c *conn) meta(n, me int64) (m stored.Meta, found bool, err error) {
	err = c.query("SELECT "+taskColumns+" FROM task WHERE n=?", func(v []value) error {
		_, m = scanTask(v, me)
		found = true
		return nil
	}, n)
	return m, found, err
}

// content makes a task from its last body at or before a version, and the events after it. It counts the
// content into m, and the events that taskColumns do not know.
func (s *Store) content(c *conn, n, at int64, m *stored.Meta) (task runtime.Task, err error) {
	from := int64(0)
	err = c.query("SELECT version, wire, doc FROM body WHERE task=? AND version<=? ORDER BY version DESC LIMIT 1",
		func(v []value) (err error) {
			from = num(v[0])
			task, err = s.base.Codec.ReadTask(num(v[1]), blob(v[2]))
			return err
		}, n, at)
	if err != nil {
		return nil, err
	}
	if task == nil && m.Oldest > 0 {
		return nil, store.ErrTrimmed
	}
	noted, _, err := c.one("SELECT version FROM task WHERE n=?", n)
	if err != nil {
		return nil, err
	}
	m.Since = 0
	err = c.query("SELECT "+logColumns+", wire, messages FROM event WHERE task=? AND seq>? ORDER BY seq", func(v []value) error {
		wire, messages := num(v[5]), blob(v[6])
		list, err := scanLog(v)
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].Seq > at {
				return errStop
			}
			if task, err = s.base.Codec.Apply(task, wire, &list[i]); err != nil {
				return fmt.Errorf("event %d of task %d: %w", list[i].Seq, n, err)
			}
		}
		bytes := int64(stored.EventBytes + len(blob(v[4])) + len(messages))
		if m.Since += bytes; num(v[0]) > noted {
			m.Log += bytes
		}
		return s.base.Codec.ReadMessages(wire, messages, task.AddMessage)
	}, n, from)
	err = unlessStopped(err)
	if err != nil {
		return nil, err
	}
	if task == nil {
		return nil, fmt.Errorf("task %d has neither a body nor a log", n)
	}
	m.Content = stored.Recount(task)
	return task, nil
}

// load reads a whole task.
func (s *Store) load(c *conn, key store.Key, n int64) (*stored.Row, error) {
	m, found, err := c.meta(n, s.me)
	if err != nil || !found {
		return nil, orNotFound(err)
	}
	r := &stored.Row{N: n, Key: key, Meta: m}
	if r.Task, err = s.content(c, n, m.Version, &r.Meta); err != nil {
		return nil, err
	}
	return r, c.work(n, &r.Meta)
}

// work reads what the rules must know of the call at work and of the last updates.
func (c *conn) work(n int64, m *stored.Meta) error {
	err := c.query("SELECT attempt, made, stamp FROM call WHERE task=? AND n=?", func(v []value) error {
		m.Attempt, m.Made, m.Began = int32(num(v[0])), int32(num(v[1])), uint64(num(v[2])) //nolint:gosec // bits
		return nil
	}, n, m.Done+1)
	if err != nil {
		return err
	}
	last := m.Stamps[:0]
	return c.query("SELECT stamp FROM event WHERE task=? AND stamp<>0 ORDER BY seq DESC LIMIT ?", func(v []value) error {
		last = append(last, uint64(num(v[0]))) //nolint:gosec // bits
		return nil
	}, n, len(m.Stamps))
}

func orNotFound(err error) error {
	if err == nil {
		return store.ErrNotFound
	}
	return err
}
