package postgres

import (
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

func TestWhatNobodyElseWatchesIsNotTold(t *testing.T) {
	var o otherWatchers
	now := time.Now()
	check := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	check("told while it does not listen", o.mustKnow(1, now), true)
	check("noted while it does not listen", o.watch(1, now), false)
	o.listen(now)
	check("told while others have not said what they watch", o.mustKnow(1, now), true)

	now = now.Add(learnTime)
	check("told of what nobody watches", o.mustKnow(1, now), false)
	check("somebody missed that change", o.watch(1, now), true)
	check("told of what somebody watches", o.mustKnow(1, now), true)
	check("somebody missed a change of another task", o.watch(2, now), false)
	check("told of what nobody watches any more", o.mustKnow(1, now.Add(saidLasts)), false)
	if o.expire(now.Add(saidLasts + 1)); len(o.until) != 0 {
		t.Errorf("%d are remembered", len(o.until))
	}

	for i := range uint64(3) {
		now = now.Add(2 * saidLasts)
		o.mustKnow(3+i, now)
	}
	check("a change of a while ago was missed", o.watch(3, now), false)
	check("the last change was missed", o.watch(5, now), true)

	for h := range uint64(mostWatched) {
		o.watch(h, now)
	}
	o.watch(mostWatched, now)
	check("told when there are too many", o.mustKnow(mostWatched+1, now), true)
	if len(o.until) != mostWatched {
		t.Errorf("%d are remembered", len(o.until))
	}
	o.stop()
	check("told when it does not listen any more", o.mustKnow(9, now), true)
}

func TestWhoRunsATaskIsToldOfIt(t *testing.T) {
	const me, another = 1, 2
	for _, c := range []struct {
		was, is       int32
		state         runtime.State
		told, watches bool
	}{
		{0, 0, runtime.StateWorking, false, false},
		{0, me, runtime.StateWorking, false, false},
		{me, me, runtime.StateWorking, false, false},
		{me, 0, runtime.StateCompleted, false, false},
		{me, 0, runtime.StateInputRequired, false, true},
		{another, another, runtime.StateWorking, true, false},
		{another, 0, runtime.StateCanceled, true, false},
		{another, me, runtime.StateWorking, true, false},
		{me, another, runtime.StateWorking, true, true},
	} {
		s := &Store{tasks: decoded{cache: stored.NewCache[*row](1 << 20)}}
		s.waking.init(s)
		s.self.number.Store(me)
		s.waking.others.listen(time.Now().Add(-learnTime))
		s.waking.watchers.add(keyed("t"), func() {})
		s.waking.tellOf(keyed("t"), c.was, &taskstate.State{Runner: c.is, Status: c.state})
		if told, watches := len(s.waking.notices.changed) > 0, len(s.waking.notices.watched) > 0; told != c.told || watches != c.watches {
			t.Errorf("%+v: the change is told: %v, that it is watched: %v", c, told, watches)
		}
	}
}

// knowing returns an instance of which nobody says any more what he has not said already.
func knowing(t *testing.T, address string) *Store {
	t.Helper()
	s := mustOpen(t, address, Options{})
	eventually(t, "it listens", s.waking.others.listens)
	o := &s.waking.others
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = time.Now()
	return s
}

func TestAnInstanceSaysWhatItWatches(t *testing.T) {
	address := postgrestest.Server(t)
	one, two := knowing(t, address), knowing(t, address)
	said := func() bool {
		o := &one.waking.others
		o.mu.Lock()
		defer o.mu.Unlock()
		return !o.until[hashOf(keyed("t"))].IsZero()
	}
	eventually(t, "it says that it is there", func() bool { return one.Stats().Sent > 0 })
	before := one.Stats().Sent
	snap := create(t, one, "t")
	watched(t, one, "t")
	if sent := one.Stats().Sent; sent != before || said() {
		t.Errorf("%d notifications of what nobody else watches", sent-before)
	}
	theirs := watched(t, two, "t")
	eventually(t, "it is known that somebody watches the task", said)
	await(t, "who missed the last change is woken", theirs)
	before = one.Stats().Sent
	if _, err := one.Apply(t.Context(), keyed("t"), 0, says("t", snap.Epoch, runtime.StateWorking), nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the change is told", func() bool { return one.Stats().Sent > before })
	await(t, "who watches is woken", theirs)
}

func TestWhatAnInstanceBeganToWatchBeforeItListensIsSaid(t *testing.T) {
	address := postgrestest.Server(t)
	one := knowing(t, address)
	two, err := Open(t.Context(), address, a2a.Protocol(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	two.Watch(keyed("t"), func() {})
	eventually(t, "it is known", func() bool {
		one.waking.others.mu.Lock()
		defer one.waking.others.mu.Unlock()
		return len(one.waking.others.until) == 1
	})
}
