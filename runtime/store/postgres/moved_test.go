package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/store/spread"
	"github.com/a2agen/a2agen/testkit/storetest"
)

// named gives a database a name among several.
func named(address, name string) string {
	sep := "?"
	if strings.Contains(address, "?") {
		sep = "&"
	}
	return address + sep + paramName + "=" + name
}

// replica opens a store over databases.
func replica(t *testing.T, o Options, addresses ...string) *spread.Store {
	t.Helper()
	var names []string
	var places []spread.Place
	for _, address := range addresses {
		target, err := parseAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, target.name())
	}
	var err error
	if o.placed, err = spread.ListOf(names); err != nil {
		t.Fatal(err)
	}
	for i, address := range addresses {
		places = append(places, spread.Place{Name: names[i], Open: func(ctx context.Context) (spread.Database, error) {
			return openPlace(ctx, address, a2a.Protocol(), o)
		}})
	}
	s, err := spread.New(places, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestTwoDatabasesAreAStore takes long: package spread has the same over memory.
func TestTwoDatabasesAreAStore(t *testing.T) {
	if os.Getenv("A2A_COLD") == "" {
		t.Skip("opens a hundred databases: set A2A_COLD=1, as every night does")
	}
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2a.Protocol(),
			Apart:    true,
			Open: func(t *testing.T, l memory.Limits) store.Store {
				return replica(t, options(l), named(postgrestest.Server(t), "a"), named(postgrestest.Server(t), "b"))
			},
			Durable: true,
		}
	})
}

// load works on tasks of some principals through several replicas, and knows what was acknowledged.
type load struct {
	t          *testing.T
	replicas   []*spread.Store
	principals []string
	stamp      atomic.Uint64
	refused    atomic.Int64

	mu    sync.Mutex
	tasks map[store.Key]*worked
}

// worked is a task as those who have changed it know it.
type worked struct {
	mu     sync.Mutex
	events []string // text of each artifact that was acknowledged, in order
}

// retry calls do by one replica after another until it has an answer, for a minute.
func (l *load) retry(do func(s *spread.Store) error) error {
	for end := time.Now().Add(time.Minute); ; {
		err := do(l.replicas[rand.IntN(len(l.replicas))])
		if err == nil || !store.Unsure(err) || time.Now().After(end) {
			return err
		}
		l.refused.Add(1)
		time.Sleep(2 * time.Millisecond)
	}
}

// work makes tasks, and appends to those that are there, until ctx ends.
func (l *load) work(ctx context.Context, name string) {
	p, at := a2a.Protocol(), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := 0; ctx.Err() == nil; i++ {
		key := store.Key{Owner: store.Owner{Principal: l.principals[i%len(l.principals)], Tenant: []string{"", "x"}[i%2]}, Task: fmt.Sprint(name, "-", i)}
		task := p.NewTask(key.Task, "talk", at)
		stamp := l.stamp.Add(1)
		var epoch int64
		err := l.retry(func(s *spread.Store) error {
			snap, err := s.Create(context.Background(), key, store.New{Task: task, Private: store.Private{Skill: "echo"}, Stamp: stamp, Call: &store.Call{}}, nil)
			epoch = snap.Epoch
			if errors.Is(err, store.ErrExists) { // another replica has made it: its answer was lost
				return nil
			}
			return err
		})
		if err != nil {
			l.t.Errorf("create %v: %v", key, err)
			return
		}
		w := &worked{}
		l.mu.Lock()
		l.tasks[key] = w
		l.mu.Unlock()
		for n := range 4 {
			text := fmt.Sprint(key.Task, "/", n)
			u := store.Update{Event: p.NewArtifact(key.Task, "talk", runtime.ArtifactData{ID: fmt.Sprint("a", n), Parts: []runtime.Part{runtime.Text(text)}}),
				Stamp: l.stamp.Add(1)}
			if n%2 == 0 {
				u.Epoch = epoch // a handler's
			}
			err := l.retry(func(s *spread.Store) error {
				expect := int64(0)
				if u.Epoch == 0 {
					expect = int64(n + 1)
				}
				_, err := s.Apply(context.Background(), key, expect, u, nil)
				return err
			})
			if errors.Is(err, store.ErrLost) { // the handler did not end in time: another is to begin
				u.Epoch = 0
				err = l.retry(func(s *spread.Store) error {
					_, err := s.Apply(context.Background(), key, int64(n+1), u, nil)
					return err
				})
			}
			if err != nil {
				l.t.Errorf("event %d of %v: %v", n, key, err)
				return
			}
			w.mu.Lock()
			w.events = append(w.events, text)
			w.mu.Unlock()
		}
	}
}

// judge compares what was acknowledged with what is there.
func (l *load) judge() {
	for key, w := range l.tasks {
		s := l.replicas[rand.IntN(len(l.replicas))]
		records, err := s.Events(context.Background(), key, 1, 0)
		if err != nil {
			l.t.Errorf("the events of %v: %v", key, err)
			continue
		}
		var got []string
		for i, r := range records {
			e, err := r.Event()
			if err != nil || r.Seq != int64(i)+2 {
				l.t.Fatalf("event %d of %v: number %d, %v", i, key, r.Seq, err)
			}
			a := e.(runtime.ArtifactUpdate).ArtifactUpdate()
			got = append(got, a.Parts[0].Text)
		}
		if len(got) > len(w.events) { // the last one may have been under way
			got = got[:len(w.events)]
		}
		if !slices.Equal(got, w.events) {
			l.t.Errorf("%v has %q, acknowledged were %q", key, got, w.events)
		}
	}
}

// TestAnOwnerIsMovedWhileItWorks: two databases, three replicas, and an owner who goes back and forth.
func TestAnOwnerIsMovedWhileItWorks(t *testing.T) {
	addresses := []string{named(postgrestest.Server(t), "a"), named(postgrestest.Server(t), "b")}
	l := &load{t: t, principals: []string{"ann", "bob", "cy"}, tasks: map[store.Key]*worked{}}
	for range 3 {
		l.replicas = append(l.replicas, replica(t, Options{}, addresses...))
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() { l.work(ctx, fmt.Sprint("w", i)) })
	}
	m := &spread.Mover{Drain: 50 * time.Millisecond}
	for _, address := range addresses {
		m.Places = append(m.Places, openWhole(t, address, false))
	}
	for len(l.keys()) < 20 {
		time.Sleep(time.Millisecond)
	}
	moves := 0
	for range 3 {
		for _, to := range []string{"a", "b"} {
			if err := m.Move(t.Context(), "ann", to); err != nil {
				t.Error(err)
			}
			moves++
			for before := len(l.keys()); len(l.keys()) < before+5; {
				time.Sleep(time.Millisecond)
			}
		}
	}
	stop()
	group.Wait()
	l.judge()
	t.Logf("%d tasks, %d moves, %d calls refused meanwhile", len(l.tasks), moves, l.refused.Load())
	for i, address := range addresses {
		if list, err := wrong(openTested(t, address, Options{placed: "a b"})); err != nil || len(list) > 0 {
			t.Errorf("database %d: %v, %v", i, list, err)
		}
	}
	if stand, err := m.Places[0].Find(t.Context(), "ann"); err != nil || stand.Steps%4 != spread.Away {
		t.Errorf("in the end the first database says %+v, %v", stand, err)
	}
}

func (l *load) keys() []store.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []store.Key
	for key := range l.tasks {
		list = append(list, key)
	}
	return list
}
