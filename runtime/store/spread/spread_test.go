package spread

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// fake is a database in memory that knows its accounts, and can be away.
type fake struct {
	store.Store
	name string

	mu       sync.Mutex
	away     error         // what calls return instead
	hang     chan struct{} // not nil: calls wait for it
	accounts map[string]int64
	cleared  bool // the tasks of accounts that are away are gone
	list     string
	watched  []store.Key
	silent   bool // who watches may not be woken
}

func newFake(name string) *fake {
	return &fake{name: name, Store: memory.New(memory.Limits{}), accounts: map[string]int64{}}
}

// call is what happens at the begin of a call for a principal.
func (f *fake) call(principal *string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if hang := f.hang; hang != nil {
		f.mu.Unlock()
		<-hang
		f.mu.Lock()
	}
	if f.away != nil {
		return f.away
	}
	if principal == nil {
		return nil
	}
	if steps, known := f.accounts[*principal]; known && steps%4 == Away && !f.cleared {
		return ErrMoved
	}
	return nil
}

func (f *fake) set(change func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fake) Find(_ context.Context, principal string) (Stand, error) {
	if err := f.call(nil); err != nil {
		return Stand{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	steps, known := f.accounts[principal]
	list := f.list
	if list == "" && len(f.accounts) > 0 {
		list = f.name
	}
	return Stand{Known: known, Steps: steps, List: list}, nil
}

func (f *fake) Admit(_ context.Context, principal, list string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list == "" && len(f.accounts) == 0 {
		f.list = list
	}
	if f.list != list && (f.list != "" || list != f.name) {
		return ErrMoved
	}
	if _, ok := f.accounts[principal]; !ok {
		f.accounts[principal] = 0
	}
	return nil
}

func (f *fake) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (store.Snapshot, error) {
	if err := f.call(&key.Owner.Principal); err != nil {
		return store.Snapshot{}, err
	}
	return f.Store.Create(ctx, key, n, view)
}

func (f *fake) Head(ctx context.Context, key store.Key) (store.Head, error) {
	if err := f.call(&key.Owner.Principal); err != nil {
		return store.Head{}, err
	}
	return f.Store.Head(ctx, key)
}

func (f *fake) Ticket(ctx context.Context, hash [32]byte) (store.Key, store.Ticket, error) {
	if err := f.call(nil); err != nil {
		return store.Key{}, store.Ticket{}, err
	}
	return f.Store.Ticket(ctx, hash)
}

func (f *fake) Claim(ctx context.Context, skills []string, max int) ([]store.Run, error) {
	if err := f.call(nil); err != nil {
		return nil, err
	}
	return []store.Run{{Key: store.Key{Owner: store.Owner{Principal: "of " + f.name}, Task: f.name}}}, nil
}

func (f *fake) Due(ctx context.Context, max int, hold time.Duration) ([]store.Delivery, time.Duration, error) {
	if err := f.call(nil); err != nil {
		return nil, 0, err
	}
	return []store.Delivery{{Key: store.Key{Task: f.name}}}, time.Minute, nil
}

func (f *fake) Sweep(context.Context) (int, bool, error) {
	if err := f.call(nil); err != nil {
		return 0, false, err
	}
	return 1, false, nil
}

func (f *fake) Renew(context.Context) (store.Lease, error) {
	return store.Lease{For: time.Hour, Durable: true, Wakes: !f.silent}, f.call(nil)
}

func (f *fake) Watch(key store.Key, wake func()) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watched = append(f.watched, key)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.watched = slices.DeleteFunc(f.watched, func(k store.Key) bool { return k == key })
	}
}

// over makes a store over some.
func over(t testing.TB, list ...*fake) *Store {
	t.Helper()
	var places []Place
	for _, f := range list {
		places = append(places, Place{f.name, func(context.Context) (Database, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return Database{f, f}, f.away
		}})
	}
	s, err := New(places, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// whose is a principal whose first place of a list is that one.
func whose(list, first string) string {
	for i := 0; ; i++ {
		if p := fmt.Sprint("p", i); First(list, p) == first {
			return p
		}
	}
}

func keyOf(principal string) store.Key {
	return store.Key{Owner: store.Owner{Principal: principal}, Task: "t"}
}

func create(s *Store, principal string) error {
	p := a2a.Protocol()
	task := p.NewTask("t", "c", time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	task.AddMessage(p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("hello")}}))
	_, err := s.Create(context.Background(), keyOf(principal), store.New{Task: task}, nil)
	return err
}

func head(s *Store, principal string) error {
	_, err := s.Head(context.Background(), keyOf(principal))
	return err
}

// has checks which database has an account.
func has(t *testing.T, principal string, want *fake, others ...*fake) {
	t.Helper()
	for _, f := range append(others, want) {
		f.set(func(f *fake) {
			if steps, known := f.accounts[principal]; (known && steps%4 != Away) != (f == want) {
				t.Errorf("%s has %s: %t", f.name, principal, known)
			}
		})
	}
}

func TestOwnersAreSpread(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s := over(t, a, b)
	counts := map[string]int{}
	for i := range 200 {
		p := fmt.Sprint("caller ", i)
		if err := create(s, p); err != nil {
			t.Fatal(err)
		}
		counts[First("a b", p)]++
	}
	if len(a.accounts) != counts["a"] || len(b.accounts) != counts["b"] || counts["a"] < 70 || counts["b"] < 70 {
		t.Errorf("%d and %d owners, want %v", len(a.accounts), len(b.accounts), counts)
	}
	if a.list != "a b" || b.list != "a b" {
		t.Errorf("the databases know of %q and %q", a.list, b.list)
	}
}

// TestAReadMakesNoAccount: whoever asks for tasks of a name that nobody has used leaves nothing behind.
func TestAReadMakesNoAccount(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s := over(t, a, b)
	if err := head(s, "x"); !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrNotFound) || len(a.accounts)+len(b.accounts) > 0 {
		t.Errorf("%v, and %d accounts", err, len(a.accounts)+len(b.accounts))
	}
}

// TestAPlaceIsAdded: owners are found where they are, and new ones go where the databases say, until owners are moved.
func TestAPlaceIsAdded(t *testing.T) {
	a, b, c := newFake("a"), newFake("b"), newFake("c")
	old, fresh := whose("a b c", "c"), ""
	if err := create(over(t, a, b), old); err != nil {
		t.Fatal(err)
	}
	s := over(t, a, b, c)
	for i := 0; fresh == ""; i++ {
		if p := fmt.Sprint("q", i); First("a b c", p) == "c" {
			fresh = p
		}
	}
	if err := errors.Join(head(s, old), create(s, fresh)); err != nil {
		t.Fatal(err)
	}
	if len(c.accounts) != 0 {
		t.Errorf("the new one has %v", c.accounts)
	}
	for _, f := range []*fake{a, b, c} {
		f.set(func(f *fake) { f.list = "a b c ?" })
	}
	next := fresh + "x"
	for First("a b c", next) != "c" {
		next += "x"
	}
	if err := create(s, next); err != nil {
		t.Fatal(err)
	}
	has(t, next, c, a, b)
}

// TestOneDatabaseBecomesTwo: the list of a database that was alone is itself.
func TestOneDatabaseBecomesTwo(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	a.accounts["somebody"] = 0
	p := whose("a b", "b")
	if err := create(over(t, a, b), p); err != nil {
		t.Fatal(err)
	}
	has(t, p, a, b)
	lone := newFake("z")
	lone.accounts["somebody"] = 0
	if err := create(over(t, newFake("x"), lone, a), "new"); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "do not agree") {
		t.Errorf("two that were alone: %v", err)
	}
}

func TestAPlaceThatIsAwayStopsNoOther(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	here, there, fresh := whose("a b", "a"), whose("a b", "b"), whose("a b", "a")+"0"
	for First("a b", fresh) != "a" {
		fresh += "0"
	}
	s := over(t, a, b)
	if err := errors.Join(create(s, here), create(s, there)); err != nil {
		t.Fatal(err)
	}
	b.set(func(b *fake) { b.away = fmt.Errorf("%w: gone", store.ErrUnavailable) })
	if err := errors.Join(head(s, here), create(s, fresh)); err != nil {
		t.Errorf("an owner of the other: %v", err)
	}
	if err := head(s, there); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("an owner of it: %v", err)
	}
	rounds(t, s, "it fails")
	if _, _, err := s.Ticket(t.Context(), [32]byte{1}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a ticket that it may have: %v", err)
	}
	a.set(func(a *fake) { a.away = b.away })
	if _, err := s.Renew(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("all are away: %v", err)
	}
}

// rounds has everything done that goes to all places, of which b is away.
func rounds(t *testing.T, s *Store, what string) {
	t.Helper()
	runs, err := s.Claim(t.Context(), []string{"x"}, 10)
	if err != nil || len(runs) != 1 || runs[0].Key.Task != "a" {
		t.Errorf("%s: claimed %v, %v", what, runs, err)
	}
	list, next, err := s.Due(t.Context(), 10, time.Hour)
	if err != nil || len(list) != 1 || list[0].Key.Task != "a" || next != lookAgain {
		t.Errorf("%s: due %v, %v, %v", what, list, next, err)
	}
	if n, _, err := s.Sweep(t.Context()); err != nil || n != 1 {
		t.Errorf("%s: swept %d, %v", what, n, err)
	}
	if l, err := s.Renew(t.Context()); err != nil || l.For != time.Hour {
		t.Errorf("%s: renewed %v, %v", what, l, err)
	}
}

// TestAPlaceThatDoesNotAnswerIsLeftOut: what it says later is not lost.
func TestAPlaceThatDoesNotAnswerIsLeftOut(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s := over(t, a, b)
	s.patient = 20 * time.Millisecond
	hang := make(chan struct{})
	b.set(func(b *fake) { b.hang = hang })
	rounds(t, s, "it hangs")
	rounds(t, s, "it hangs still")
	b.set(func(b *fake) { b.hang = nil })
	close(hang)
	got := map[string]int{}
	for got["b"] == 0 {
		runs, err := s.Claim(t.Context(), []string{"x"}, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			got[r.Key.Task]++
		}
	}
}

func TestNoMoreIsClaimedThanIsAsked(t *testing.T) {
	s, got := over(t, newFake("a"), newFake("b"), newFake("c")), map[string]bool{}
	for range 3 {
		runs, err := s.Claim(t.Context(), []string{"x"}, 1)
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d, %v", len(runs), err)
		}
		got[runs[0].Key.Task] = true
	}
	if len(got) != 3 {
		t.Errorf("one place comes first each time: %v", got)
	}
}

// TestALeaseThatIsNotRenewedIsGivenUp: what runs in that place stops, what runs in the others goes on, and the lease is not renewed before it is over.
// Readers look by themselves only where a database may not wake them.
func TestAWatchWakesWhereEachDatabaseDoes(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s := over(t, a, b)
	for _, want := range []bool{true, false} {
		b.silent = !want
		if lease, err := s.Renew(t.Context()); err != nil || lease.Wakes != want {
			t.Errorf("with a database that wakes (%v) it wakes: %v, %v", want, lease.Wakes, err)
		}
	}
	b.set(func(f *fake) { f.away = store.ErrUnavailable })
	if lease, err := s.Renew(t.Context()); err != nil || lease.Wakes {
		t.Errorf("without the database it wakes: %v, %v", lease.Wakes, err)
	}
}

func TestALeaseThatIsNotRenewedIsGivenUp(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s := over(t, a, b)
	here, there := whose("a b", "a"), whose("a b", "b")
	if err := errors.Join(create(s, here), create(s, there)); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Renew(t.Context()); err != nil || l.Over != nil {
		t.Fatal(l, err)
	}
	b.set(func(b *fake) { b.away = store.ErrUnavailable })
	if l, err := s.Renew(t.Context()); err != nil || l.Over != nil {
		t.Errorf("at once: %v, %v", l, err)
	}
	at := s.named("b")
	at.begun = at.begun.Add(-50 * time.Minute)
	l, err := s.Renew(t.Context())
	if err != nil || l.Over == nil || l.Over(keyOf(here)) || !l.Over(keyOf(there)) {
		t.Fatalf("after two thirds: %v, %v", l, err)
	}
	b.set(func(b *fake) { b.away = nil })
	if l, err := s.Renew(t.Context()); err != nil || l.Over != nil || at.begun.After(time.Now().Add(-40*time.Minute)) {
		t.Errorf("it was renewed before it was over: %v, %v", l, err)
	}
	at.begun = at.begun.Add(-50 * time.Minute)
	if _, err := s.Renew(t.Context()); err != nil || at.over {
		t.Errorf("it is not renewed when it is over: %v", err)
	}
}

// TestAnOwnerIsFoundAgain: one whose place was known is looked for when the database says that it does not have it, and those who watch its
// tasks are woken.
// TestALeaseThatIsGivenUpWhileNoPlaceAnswersIsTold: not in the renewal that failed, which nobody looks at, but in the next one.
func TestALeaseThatIsGivenUpWhileNoPlaceAnswersIsTold(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s := over(t, a, b)
	here, there := whose("a b", "a"), whose("a b", "b")
	if err := errors.Join(create(s, here), create(s, there)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.named("b").begun = time.Now().Add(-50 * time.Minute)
	for _, f := range []*fake{a, b} {
		f.set(func(f *fake) { f.away = store.ErrUnavailable })
	}
	if _, err := s.Renew(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("no place answers: %v", err)
	}
	a.set(func(a *fake) { a.away = nil })
	l, err := s.Renew(t.Context())
	if err != nil || l.Over == nil || l.Over(keyOf(here)) || !l.Over(keyOf(there)) {
		t.Errorf("one answers again: %v, %v", l, err)
	}
	if l, err = s.Renew(t.Context()); err != nil || l.Over != nil {
		t.Errorf("it is told twice: %v, %v", l, err)
	}
}

func TestAnOwnerIsFoundAgain(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s := over(t, a, b)
	p := whose("a b", "a")
	if err := create(s, p); err != nil {
		t.Fatal(err)
	}
	woken := 0
	stop := s.Watch(keyOf(p), func() { woken++ })
	if len(a.watched) != 1 {
		t.Fatal("nobody watches it")
	}
	a.set(func(a *fake) { a.accounts[p] = Away })
	if err := head(s, p); !errors.Is(err, ErrMoved) {
		t.Errorf("between both: %v", err)
	}
	if err := create(s, p); !errors.Is(err, ErrMoved) {
		t.Errorf("it is made anew: %v", err)
	}
	b.set(func(b *fake) { b.accounts[p] = 4 })
	if err := head(s, p); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("in the other: %v", err)
	}
	if woken != 1 || len(a.watched) != 0 || len(b.watched) != 1 {
		t.Errorf("woken %d times, watched %d and %d times", woken, len(a.watched), len(b.watched))
	}
	stop()
	stop()
	if len(b.watched) != 0 || len(s.watches) != 0 {
		t.Error("it is watched for ever")
	}
}

// TestWhatIsNoLongerThereIsLookedForElsewhere: a replica that knew where an owner was meets nothing of it, not even an error.
func TestWhatIsNoLongerThereIsLookedForElsewhere(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	s, other, p := over(t, a, b), over(t, a, b), whose("a b", "a")
	if err := create(s, p); err != nil {
		t.Fatal(err)
	}
	a.set(func(a *fake) { a.accounts[p], a.cleared, a.Store = Away, true, memory.New(memory.Limits{}) })
	b.set(func(b *fake) { b.accounts[p] = 4 })
	if err := create(other, p); err != nil {
		t.Fatal(err)
	}
	before := over(t, a, b) // knows it where it was
	for what, do := range map[string]func() error{
		"its head": func() error { return head(before, p) },
		"its list": func() error {
			page, err := before.List(t.Context(), store.Owner{Principal: p}, store.Query{Size: 1})
			if err == nil && page.Total != 1 {
				err = fmt.Errorf("%d tasks", page.Total)
			}
			return err
		},
		"its notes": func() error {
			_, err := before.Note(t.Context(), store.Owner{Principal: p}, "c")
			return err
		},
	} {
		before.remember(p, before.named("a"))
		if err := do(); err != nil || before.known[p].name != "b" {
			t.Errorf("%s: %v, looked for in %s", what, err, before.known[p].name)
		}
	}
}

// TestTwoThatHaveAnOwnerAreAMistake: neither is believed.
// TestClosingEndsTheOpeningOfAPlace: a database that does not answer holds up nobody who ends.
func TestClosingEndsTheOpeningOfAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		s, err := New([]Place{
			{"a", func(context.Context) (Database, error) { return Database{Store: memory.New(memory.Limits{})}, nil }},
			{"b", func(ctx context.Context) (Database, error) {
				if tries++; tries > 1 {
					<-ctx.Done() // as a server whose packets are lost
				}
				return Database{}, store.ErrUnavailable
			}},
		}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * againAfter)
		if err := s.Close(); err != nil || tries != 2 {
			t.Errorf("after %d tries: %v", tries, err)
		}
	})
}

func TestTwoThatHaveAnOwnerAreAMistake(t *testing.T) {
	a, b, c := newFake("a"), newFake("b"), newFake("c")
	p := whose("a b c", "c")
	a.accounts[p], b.accounts[p] = 0, 0
	if err := head(over(t, a, b, c), p); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "a and b both have this owner") {
		t.Error(err)
	}
}

func TestAPlaceIsOpenedLater(t *testing.T) {
	a, b := newFake("a"), newFake("b")
	b.away = store.ErrUnavailable
	s := over(t, a, b)
	if _, err := s.named("b").database(); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("it is open: %v", err)
	}
	if _, err := s.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	open := func(of ...*fake) error {
		var places []Place
		for _, f := range of {
			places = append(places, Place{f.name, func(context.Context) (Database, error) { return Database{f, f}, f.away }})
		}
		s, err := New(places, slog.New(slog.DiscardHandler))
		if err == nil {
			_ = s.Close()
		}
		return err
	}
	if err := open(b); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("none can be reached: %v", err)
	}
	wrong := newFake("c")
	wrong.away = errors.New("an older format")
	if err := open(a, wrong); err != wrong.away {
		t.Errorf("one cannot be used: %v", err)
	}
	if err := open(a, a); err == nil || !strings.Contains(err.Error(), "two of the databases have the name a") {
		t.Errorf("twice the same: %v", err)
	}
	if err := open(newFake("a b")); err == nil || !strings.Contains(err.Error(), "cannot be the name") {
		t.Errorf("a name with a space: %v", err)
	}
}
