package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

var (
	protocol = a2a.Protocol()
	noon     = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
)

// ticking is a clock that stands still but for what makes times differ: lists expect new times to be the latest.
func ticking() time.Time { return noon.Add(time.Duration(ticks.Add(1))) }

var ticks atomic.Int64

func (m *Store) make(principal, id string, size int) (store.Key, error) {
	key := store.Key{Owner: store.Owner{Principal: principal}, Task: id}
	_, err := m.Create(context.Background(), key, store.New{Task: protocol.NewTask(id, "c", ticking()), Size: store.Size{Bytes: size}}, nil)
	return key, err
}

func (m *Store) status(key store.Key, version int64, state runtime.State) error {
	u := store.Update{Event: protocol.NewStatus(key.Task, "c", state, nil, ticking())}
	_, err := m.Apply(context.Background(), key, version, u, nil)
	return err
}

func (m *Store) chunk(key store.Key, version int64, size int) error {
	part := runtime.Text(strings.Repeat("x", size))
	u := store.Update{Event: protocol.NewArtifact(key.Task, "c", runtime.ArtifactData{ID: "a", Append: true, Parts: []runtime.Part{part}})}
	_, err := m.Apply(context.Background(), key, version, u, nil)
	return err
}

func (m *Store) has(key store.Key) bool {
	_, err := m.Get(context.Background(), key, store.View{})
	return err == nil
}

// audit counts everything anew and compares. A task may have changed a little since it was counted: by the slack, and by what its log lost.
func (m *Store) audit(t interface{ Errorf(string, ...any) }) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var held, rested taskstate.Holding
	for key, r := range m.rows {
		r.mu.Lock()
		if d := r.held() - r.charged; d <= -2*slack || d >= slack {
			t.Errorf("task %s takes %d bytes, counted are %d", key.id, r.held(), r.charged)
		}
		if (r.resting != nil) != (r.st.Rest() != taskstate.Active) {
			t.Errorf("task %s is %s, in a queue for eviction: %t", key.id, r.state, r.resting != nil)
		}
		if m.owners[r.owner.owner] != r.owner || m.rows[name{r.owner, r.id}] != r || r.context != "" && m.contexts[name{r.owner, r.context}] != r.group {
			t.Errorf("task %s is not among those of its owner and context", key.id)
		}
		h := taskstate.Holding{Tasks: 1, Bytes: int64(r.charged)}
		held = held.Plus(h)
		if r.resting != nil {
			rested = rested.Plus(h)
		}
		r.mu.Unlock()
	}
	tasks := 0
	for _, o := range m.owners {
		tasks += o.all.n
	}
	if tasks != len(m.rows) || len(m.owners) > len(m.rows) || len(m.contexts) > len(m.rows) {
		t.Errorf("%d tasks are in %d rows of %d owners in %d contexts", tasks, len(m.rows), len(m.owners), len(m.contexts))
	}
	var sum, yields taskstate.Holding
	for principal, a := range m.accounts {
		sum, yields = sum.Plus(a.Held), yields.Plus(a.Rested)
		if a.Held.Tasks == 0 || (a.place > 0) != (a.Rested.Tasks > 0) || a.place > 0 && m.heaviest.items[a.place-1] != a {
			t.Errorf("account %s holds %v, of it %v rested, at %d", principal, a.Held, a.Rested, a.place)
		}
	}
	if held != m.all.Held || held != sum || rested != m.all.Rested || rested != yields {
		t.Errorf("counted %v and %v, the accounts say %v and %v, the store %v and %v", held, rested, sum, yields, m.all.Held, m.all.Rested)
	}
	for i, a := range m.heaviest.items {
		if i > 0 && heavier(a, m.heaviest.items[(i-1)/2]) {
			t.Errorf("account %s is below a lighter one", a.principal)
		}
	}
}

func TestAccountsAddUpWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := NewAt(Limits{Tasks: 12, Bytes: 400_000, TaskBytes: 100_000, Logs: 2, Events: 4}, ticking)
		version := map[store.Key]int64{}
		var keys []store.Key
		for i := range rapid.IntRange(1, 80).Draw(rt, "steps") {
			size := rapid.SampledFrom([]int{0, 10, 3000, 30_000, 120_000}).Draw(rt, "size")
			if len(keys) == 0 || rapid.IntRange(0, 2).Draw(rt, "new") == 0 {
				key, err := m.make(rapid.SampledFrom([]string{"", "ann", "bob", "eve"}).Draw(rt, "who"), fmt.Sprint("t", i), size)
				if err == nil {
					keys, version[key] = append(keys, key), 1
				} else if !errors.Is(err, store.ErrFull) && !errors.Is(err, store.ErrTooLarge) {
					rt.Fatal(err)
				}
				m.audit(rt)
				continue
			}
			key := rapid.SampledFrom(keys).Draw(rt, "task")
			var err error
			if state := rapid.SampledFrom([]runtime.State{0, 0, runtime.StateWorking, runtime.StateInputRequired, runtime.StateFailed}).Draw(rt, "state"); state == 0 {
				err = m.chunk(key, version[key], size)
			} else {
				err = m.status(key, version[key], state)
			}
			if err == nil {
				version[key]++
			}
			if n, err := m.SweepAt(noon.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "hours")) * time.Hour)); err != nil || n > len(keys) {
				rt.Fatal(n, err)
			}
			m.audit(rt)
		}
	})
}

func TestAccountsAddUpWhenManyWorkOnAFullStore(t *testing.T) {
	m := New(Limits{Tasks: 100, Bytes: 2 << 20, TaskBytes: 100_000, Logs: 10})
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(7, uint64(w)))
			for i := range 150 {
				key, err := m.make(fmt.Sprint("p", w%5), fmt.Sprint(w, "-", i), rng.IntN(20_000))
				for version := int64(1); err == nil && version < 6; version++ {
					if err = m.chunk(key, version, rng.IntN(20_000)); err == nil {
						_, err = m.Events(context.Background(), key, version, 0)
					}
				}
				if err == nil {
					err = m.status(key, 6, []runtime.State{runtime.StateCompleted, runtime.StateInputRequired}[i%2])
				} else if errors.Is(err, store.ErrTooLarge) || errors.Is(err, store.ErrFull) {
					if snap, gone := m.Get(context.Background(), key, store.View{}); gone == nil {
						err = m.status(key, snap.Version, runtime.StateFailed) // the end always has room
					}
				}
				if err != nil && !errors.Is(err, store.ErrFull) && !errors.Is(err, store.ErrNotFound) {
					t.Error(err)
				}
				if i%10 == 0 {
					if _, err := m.List(context.Background(), store.Owner{Principal: fmt.Sprint("p", w%5)}, store.Query{Size: 20, Bytes: 50_000, View: store.Full}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	m.audit(t)
	if m.all.Held.Tasks > 100 || m.all.Held.Bytes > 2<<20 {
		t.Errorf("the store holds %v", m.all.Held)
	}
}

// A task is locked for as long as somebody reads or changes it: a new one takes the index of the next.
func TestRoomIsMadePastATaskThatIsLocked(t *testing.T) {
	for _, state := range []runtime.State{runtime.StateCompleted, runtime.StateInputRequired} {
		t.Run(state.String(), func(t *testing.T) {
			m := NewAt(Limits{Tasks: 10, Ended: time.Hour, Parked: time.Hour}, ticking)
			var keys []store.Key
			for i := range 10 {
				key, err := m.make("", fmt.Sprint("t", i), 10)
				if err != nil || m.status(key, 1, state) != nil {
					t.Fatal(err)
				}
				keys = append(keys, key)
			}
			oldest := m.row(keys[0])
			oldest.mu.Lock()
			if _, err := m.make("", "new", 10); err != nil {
				t.Errorf("no room beside a locked task: %v", err)
			}
			if n, err := m.SweepAt(noon.Add(2 * time.Hour)); n != 8 || err != nil {
				t.Errorf("swept %d: %v", n, err)
			}
			oldest.mu.Unlock()
			if !m.has(keys[0]) || m.has(keys[1]) {
				t.Error("the locked task is gone, or the next one is not")
			}
			m.audit(t)
		})
	}
}

// 20,000 questions of a stranger shut nobody out: not others, not even himself.
func TestAFloodOfQuestionsCostsOnlyItsOwner(t *testing.T) {
	for _, flood := range []string{"", "eve"} {
		m := New(Limits{})
		var kept []store.Key
		for i := range 50 {
			key, err := m.make("ann", fmt.Sprint("kept", i), 1000)
			if err != nil || m.status(key, 1, runtime.StateInputRequired) != nil {
				t.Fatal(err)
			}
			kept = append(kept, key)
		}
		for i := range 20_500 {
			key, err := m.make(flood, fmt.Sprint("t", i), 100)
			if err == nil {
				err = m.status(key, 1, runtime.StateInputRequired)
			}
			if err != nil {
				t.Fatalf("question %d of %q: %v", i, flood, err)
			}
		}
		for _, who := range []string{"ann", "bob", flood} {
			if _, err := m.make(who, "new of "+who, 1000); err != nil {
				t.Errorf("a task of %q after the flood: %v", who, err)
			}
		}
		for _, key := range kept {
			if !m.has(key) {
				t.Errorf("%s went although its owner holds least", key.Task)
			}
		}
		if first := (store.Key{Owner: store.Owner{Principal: flood}, Task: "t0"}); m.has(first) {
			t.Error("the oldest question is still there")
		}
		m.audit(t)
	}
}

// Tenants are names that clients choose: who uses many has one account all the same.
func TestAnAccountIsThatOfThePrincipal(t *testing.T) {
	m := New(Limits{Tasks: 100, OwnerTasks: 10})
	for i := range 30 {
		key := store.Key{Owner: store.Owner{Tenant: fmt.Sprint("tenant", i), Principal: "eve"}, Task: "t"}
		if _, err := m.Create(context.Background(), key, store.New{Task: protocol.NewTask("t", "c", noon)}, nil); err != nil {
			t.Fatal(err)
		}
		if err := m.status(key, 1, runtime.StateInputRequired); err != nil {
			t.Fatal(err)
		}
	}
	if m.Len() != 10 {
		t.Errorf("%d tasks are kept", m.Len())
	}
}

func TestAnOwnerOverItsLimitLosesItsOwnTasksOrIsRefused(t *testing.T) {
	m := New(Limits{Bytes: 1 << 20, TaskBytes: 200_000}) // half of it for one owner
	other, err := m.make("ann", "ended", 100_000)
	if err != nil || m.status(other, 1, runtime.StateCompleted) != nil {
		t.Fatal(err)
	}
	var keys []store.Key
	for i := range 5 {
		key, err := m.make("eve", fmt.Sprint("t", i), 100_000)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	if _, err := m.make("eve", "more", 100_000); !errors.Is(err, store.ErrFull) {
		t.Errorf("with five tasks at work, a sixth: %v", err)
	}
	if err := m.chunk(keys[0], 1, 90_000); !errors.Is(err, store.ErrFull) {
		t.Errorf("growth beyond the limit: %v", err)
	}
	if err := m.status(keys[3], 1, runtime.StateAuthRequired); err != nil {
		t.Fatal(err)
	}
	if err := m.status(keys[4], 1, runtime.StateCompleted); err != nil {
		t.Fatal(err)
	}
	if err := m.chunk(keys[0], 1, 90_000); err != nil || m.has(keys[4]) || !m.has(keys[3]) {
		t.Errorf("growth when one has ended: %v", err)
	}
	if _, err := m.make("eve", "more", 100_000); err != nil || m.has(keys[3]) {
		t.Errorf("a new task when one waits: %v", err)
	}
	if !m.has(other) {
		t.Error("somebody else's task went")
	}
	m.audit(t)
}

// What cannot fit evicts nothing.
func TestARefusalCostsNobodyATask(t *testing.T) {
	m := New(Limits{Bytes: 1 << 20, TaskBytes: 1 << 20})
	ended, err := m.make("", "ended", 100_000)
	if err != nil || m.status(ended, 1, runtime.StateCompleted) != nil {
		t.Fatal(err)
	}
	if _, err := m.make("", "working", 600_000); err != nil {
		t.Fatal(err)
	}
	if _, err := m.make("", "too much", 600_000); !errors.Is(err, store.ErrFull) || !m.has(ended) {
		t.Errorf("a task that cannot fit: %v", err)
	}
}

// What an evicted task held is free, whoever still knows its row: the list of those with logs, a handler, a stream.
func TestAnEvictedTaskHoldsNothing(t *testing.T) {
	m := New(Limits{Tasks: 1})
	key, err := m.make("", "t", 10)
	if err != nil || m.chunk(key, 1, 10) != nil || m.status(key, 2, runtime.StateCompleted) != nil {
		t.Fatal(err)
	}
	if _, err := m.make("", "new", 10); err != nil {
		t.Fatal(err)
	}
	if r := m.logs[0]; !r.gone || r.task != nil || r.log != nil {
		t.Errorf("the row still has %v", r.task)
	}
}

// The garbage collector looks one by one at objects that are larger, and a full store has many rows.
func TestARowIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(row{}); size > 512 {
		t.Errorf("a row has %d bytes", size)
	}
}
