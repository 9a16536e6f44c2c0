package feed

import (
	"sync"

	"github.com/a2agen/a2agen/runtime"
)

// snapshots are the tasks that streams begin with: encoded once for all streams that are writing the same.
type snapshots struct {
	mu  sync.Mutex // held while one is encoded: others that need the same wait
	all map[snapshotKey]*snapshot
}

// snapshotKey is a version of the task in a coding.
type snapshotKey struct {
	version int64
	coding  int
}

// snapshot is the events that streams begin with.
type snapshot struct {
	key    snapshotKey
	events [][]byte
	size   int64 // taken from the budget of responses
	users  int   // guarded by snapshots.mu
}

// WriteSnapshot passes the task as it stands to write, and the cursor goes behind it. A snapshot is written without a
// copy, and others write the same bytes: write must not change or keep them. A stream that lost the log gets one again.
func (st *Stream) WriteSnapshot(write func(seq int64, event []byte) error) error {
	task, version := st.f.Show(st.Client, st.first.Task), st.first.Version
	st.first.Task = nil // the stream may be open for long
	info := task.TaskInfo()
	if st.Version.Rules.Places {
		st.positions = positionsOf(task)
	}
	var err error
	if info.Artifacts > 0 || info.History > 1 {
		err = st.writeShared(task, version, write)
	} else { // a call that has only begun: it is small, and nobody else reads it
		err = st.pass(task, version, write)
	}
	if err != nil {
		return err
	}
	st.seq, st.over = version, st.endsAt(info.State)
	if rules := st.Version.Rules; st.over && rules.Final && !rules.UpdatesOnly { // nothing else is to come (T39)
		status := st.f.Protocol.NewStatus(info.ID, info.ContextID, info.State, task.StatusMessage(), info.At)
		return st.pass(status, version, write)
	}
	return nil
}

// pass encodes an event for this stream alone.
func (st *Stream) pass(e runtime.Event, version int64, write func(int64, []byte) error) (err error) {
	encode := func(dst []byte) ([]byte, error) { return st.append(dst, e) }
	failed := st.Response.Pass(st.Client, encode, func(b []byte) { err = write(version, b) })
	if failed != nil {
		return failed
	}
	return err
}

// writeShared passes a version of the task on, encoded once for all who do so at the same time.
func (st *Stream) writeShared(task runtime.Task, version int64, write func(seq int64, event []byte) error) error {
	lent, err := st.borrow(task, version)
	if err != nil {
		return err
	}
	defer st.giveBack(lent)
	for _, e := range lent.events {
		if err := write(version, e); err != nil {
			return err
		}
	}
	return nil
}

// borrow returns the snapshot of a version of the task, for giveBack.
func (st *Stream) borrow(task runtime.Task, version int64) (*snapshot, error) {
	all, key := &st.topic.snapshots, snapshotKey{version, st.Coding.Index}
	all.mu.Lock()
	defer all.mu.Unlock()
	if found := all.lend(key); found != nil {
		return found, nil
	}
	made, err := st.encode(key, task)
	if err != nil {
		return nil, err
	}
	if b := st.Response.Budget; !b.Try(made.size) {
		size := made.size
		made = nil // while waiting
		all.mu.Unlock()
		err := st.Response.Wait(st.Client, size)
		all.mu.Lock()
		if err != nil {
			return nil, err
		}
		if found := all.lend(key); found != nil {
			b.Release(size)
			return found, nil
		}
		if made, err = st.encode(key, task); err != nil {
			b.Release(size)
			return nil, err
		}
		b.Add(made.size - size)
	}
	if all.all == nil {
		all.all = map[snapshotKey]*snapshot{}
	}
	all.all[key] = made
	return made, nil
}

// lend returns a snapshot that is there. Callers must hold mu.
func (s *snapshots) lend(key snapshotKey) *snapshot {
	found := s.all[key]
	if found != nil {
		found.users++
	}
	return found
}

// giveBack gives a snapshot back. The last user's is dropped.
func (st *Stream) giveBack(lent *snapshot) {
	all := &st.topic.snapshots
	all.mu.Lock()
	defer all.mu.Unlock()
	if lent.users--; lent.users == 0 {
		delete(all.all, lent.key)
		st.Response.Budget.Release(lent.size)
	}
}

// encode makes the snapshot of a task, for one user.
func (st *Stream) encode(key snapshotKey, task runtime.Task) (*snapshot, error) {
	events, err := st.firstEvents(task)
	if err != nil {
		return nil, err
	}
	made := &snapshot{key: key, users: 1}
	for _, e := range events {
		b, err := st.append(nil, e)
		if err != nil {
			return nil, err
		}
		made.events = append(made.events, b)
		made.size += int64(cap(b))
	}
	return made, nil
}

// firstEvents returns the events that tell the task as it stands. For 0.1, whose streams have updates only, its
// artifacts go before its status.
func (st *Stream) firstEvents(task runtime.Task) (events []runtime.Event, err error) {
	rules, p := st.Version.Rules, st.f.Protocol
	if rules.Places {
		if task, err = p.Placed(task); err != nil {
			return nil, err
		}
	}
	if rules.UpdatesOnly {
		info := task.TaskInfo()
		for _, a := range task.ArtifactList() {
			events = append(events, p.NewArtifact(info.ID, info.ContextID, a))
		}
	}
	return append(events, task), nil
}
