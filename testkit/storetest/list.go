package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// Pages of tasks.

func (s *suite) list(in store.Store, owner store.Owner, q store.Query) store.Page {
	s.Helper()
	page, err := in.List(ctx, owner, q)
	if err != nil {
		s.Fatalf("list %+v: %v", q, err)
	}
	return page
}

// all walks through the pages of a query, and returns the ids.
func (s *suite) all(in store.Store, owner store.Owner, q store.Query) (list []string) {
	s.Helper()
	for {
		page := s.list(in, owner, q)
		if list = append(list, ids(page.Tasks)...); page.Next == "" {
			return list
		}
		if q.Token = page.Next; len(list) > 1_000_000 {
			s.Fatal("the pages have no end")
		}
	}
}

// fill makes tasks name(0)…, with statuses one second after another but for each third, which has the time of the one
// before.
func (s *suite) fill(in store.Store, owner store.Owner, n int) {
	s.Helper()
	for i := range n {
		k := store.Key{Owner: owner, Task: name(i)}
		task := s.Protocol.NewTask(k.Task, fmt.Sprint("c", i%3), start.Add(time.Duration(i-i%3/2)*time.Second))
		s.create(in, store.New{Task: task, Private: store.Private{Skill: "skill"}, Stamp: s.stamped()}, k)
	}
}

// pages: all tasks, the most recent status first, those of equal times by id, each once.
func pages(s *suite) {
	in := s.open()
	if page := s.list(in, store.Owner{}, store.Query{Size: 10}); len(page.Tasks) != 0 || page.Total != 0 ||
		page.Next != "" {
		s.Errorf("an empty store has %+v", page)
	}
	s.fill(in, store.Owner{}, 30)
	var want []string
	for i := 27; i >= 0; i -= 3 { // each third has the time of the second
		want = append(want, name(i+1), name(i+2), name(i))
	}
	for _, size := range []int{1, 2, 7, 30, 100} {
		if got := s.all(in, store.Owner{}, store.Query{Size: size}); !slices.Equal(got, want) {
			s.Errorf("pages of %d:\n got %v\nwant %v", size, got, want)
		}
	}
	if page := s.list(in, store.Owner{}, store.Query{Size: 7}); page.Total != 30 || len(page.Tasks) != 7 {
		s.Errorf("a page has %d of %d", len(page.Tasks), page.Total)
	}
	s.apply(in, key(name(3)), 1, s.statusIn(name(3), "c0", runtime.StateWorking, time.Hour))
	if got := s.list(in, store.Owner{}, store.Query{Size: 1}); ids(got.Tasks)[0] != name(3) {
		s.Errorf("the task with the newest status is not in front, but %v", ids(got.Tasks))
	}
}

func (s *suite) statusIn(id, context string, state runtime.State, after time.Duration) store.Update {
	return store.Update{Event: s.Protocol.NewStatus(id, context, state, nil, start.Add(after)), Stamp: s.stamped()}
}

// pagesUnderWrites: a task that does not change is on exactly one page, while others change.
func pagesUnderWrites(s *suite) {
	const n = 120
	in := s.open()
	s.fill(in, store.Owner{}, n)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // the second half changes all the time
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			id := name(n/2 + i%(n/2))
			h, err := in.Head(ctx, key(id))
			if err == nil {
				u := s.statusIn(id, h.Context, runtime.StateWorking, time.Hour+time.Duration(i)*time.Second)
				_, err = in.Apply(ctx, key(id), h.Version, u, nil)
			}
			if err != nil {
				s.Error(err)
				return
			}
		}
	})
	for range 5 {
		seen := map[string]int{}
		for _, id := range s.all(in, store.Owner{}, store.Query{Size: 7}) {
			seen[id]++
		}
		for i := range n / 2 {
			if seen[name(i)] != 1 {
				s.Errorf("%s is on %d pages", name(i), seen[name(i)])
			}
		}
	}
	close(stop)
	wg.Wait()
	if page := s.list(in, store.Owner{}, store.Query{Size: 1}); page.Total != n {
		s.Errorf("there are %d tasks", page.Total)
	}
}

// filters: by context, state and time, alone and together, with their totals.
func filters(s *suite) {
	in := s.open()
	s.fill(in, store.Owner{}, 30)
	other := store.New{Task: s.Protocol.NewTask("other", "c1", start), Private: store.Private{Skill: "other"}}
	s.create(in, other, key("other"))
	for i := 0; i < 30; i += 2 {
		state := []runtime.State{runtime.StateWorking, runtime.StateCompleted}[i/2%2]
		at := time.Duration(i-i%3/2) * time.Second
		s.apply(in, key(name(i)), 1, s.statusIn(name(i), fmt.Sprint("c", i%3), state, at))
	}
	for _, q := range []store.Query{
		{}, {Context: "c1"}, {State: runtime.StateWorking}, {State: runtime.StateSubmitted}, {State: runtime.StateFailed},
		{After: start.Add(10 * time.Second)}, {Context: "c2", State: runtime.StateCompleted}, {Context: "c0",
			After: start.Add(15 * time.Second)},
		{State: runtime.StateCompleted, After: start.Add(4 * time.Second)}, {Context: "none"},
		{Context: "c1", State: runtime.StateSubmitted, After: start.Add(9 * time.Second)}, {After: start.Add(time.Hour)},
		{After: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)}, {After: time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Without: []string{"other"}}, {Without: []string{"skill", "none"}}, {Without: []string{"skill", "other"}},
		{Context: "c1", State: runtime.StateSubmitted, Without: []string{"other"}},
	} {
		var want []string
		for _, id := range s.all(in, store.Owner{}, store.Query{Size: 100}) {
			snap := s.get(in, key(id))
			info := snap.Task.TaskInfo()
			if !slices.Contains(q.Without, snap.Private.Skill) && (q.Context == "" || q.Context == info.ContextID) && (q.State == 0 || q.State == info.State) &&
				!info.At.Before(q.After) {
				want = append(want, id)
			}
		}
		q.Size = 4
		if got := s.all(in, store.Owner{}, q); !slices.Equal(got, want) {
			s.Errorf("%+v:\n got %v\nwant %v", q, got, want)
		}
		if page := s.list(in, store.Owner{}, q); page.Total != len(want) {
			s.Errorf("%+v: the total is %d, want %d", q, page.Total, len(want))
		}
	}
}

// cursors: a token is for the query that it came from.
func cursors(s *suite) {
	in := s.open()
	s.fill(in, store.Owner{}, 10)
	q := store.Query{Size: 3, Context: "c1"}
	q.Token = s.list(in, store.Owner{}, store.Query{Size: 1, Context: "c1"}).Next
	s.list(in, store.Owner{}, q) // of another size
	for what, change := range map[string]func(*store.Query, *store.Owner){
		"another context": func(q *store.Query, _ *store.Owner) { q.Context = "c2" },
		"a state":         func(q *store.Query, _ *store.Owner) { q.State = runtime.StateWorking },
		"a time":          func(q *store.Query, _ *store.Owner) { q.After = start },
		"another owner":   func(_ *store.Query, o *store.Owner) { o.Principal = "p" },
		"another tenant":  func(_ *store.Query, o *store.Owner) { o.Tenant = "t" },
		"a cut":           func(q *store.Query, _ *store.Owner) { q.Token = q.Token[:len(q.Token)/2] },
		"noise":           func(q *store.Query, _ *store.Owner) { q.Token = "x" },
		"more":            func(q *store.Query, _ *store.Owner) { q.Token += "=" },
	} {
		q, o := q, store.Owner{}
		change(&q, &o)
		_, err := in.List(ctx, o, q)
		s.refused(what, err, store.ErrCursor)
	}
}

// pageBytes: a page ends before it gets too long, but has at least one task.
func pageBytes(s *suite) {
	in := s.open()
	for i := range 10 {
		n := s.task(name(i))
		s.create(in, n, key(name(i)))
		s.apply(in, key(name(i)), 1, s.chunk(name(i), "a", strings.Repeat("x", 10_000)))
	}
	q := store.Query{Size: 10, Bytes: 35_000, View: store.Full}
	page := s.list(in, store.Owner{}, q)
	if n := len(page.Tasks); n < 2 || n > 3 || page.Bytes > 35_000 || page.Total != 10 {
		s.Errorf("a page has %d tasks of %d bytes, in all %d", n, page.Bytes, page.Total)
	}
	for _, t := range page.Tasks {
		if a := t.ArtifactList(); len(a) != 1 || len(a[0].Parts[0].Text) != 10_000 {
			s.Errorf("a task has %d artifacts", len(a))
		}
	}
	if got := s.all(in, store.Owner{}, q); len(got) != 10 {
		s.Errorf("the pages have %v", got)
	}
	q.Bytes = 1
	if page := s.list(in, store.Owner{}, q); len(page.Tasks) != 1 || page.Next == "" {
		s.Errorf("a page of one byte has %d tasks", len(page.Tasks))
	}
	q.View = store.View{History: new(int)}
	q.Bytes = 35_000
	if page := s.list(in, store.Owner{}, q); len(page.Tasks) != 10 ||
		page.Tasks[0].TaskInfo().Artifacts+page.Tasks[0].TaskInfo().History != 0 {
		s.Errorf("a page without artifacts and history has %d tasks", len(page.Tasks))
	}
}

// owners: nobody sees the tasks of another tenant or principal.
func owners(s *suite) {
	in := s.open()
	all := []store.Owner{{}, {Tenant: "x"}, {Principal: "x"}, {Tenant: "x", Principal: "x"}, {Tenant: "", Principal: "X"},
		{Principal: "x "}}
	for i, o := range all {
		s.fill(in, o, i+1)
		s.apply(in, store.Key{Owner: o, Task: name(0)}, 1, s.statusIn(name(0), "c0", runtime.StateCompleted, time.Second))
	}
	for i, o := range all {
		if page := s.list(in, o, store.Query{Size: 100}); len(page.Tasks) != i+1 || page.Total != i+1 {
			s.Errorf("%+v has %d of %d", o, len(page.Tasks), page.Total)
		}
		if page := s.list(in, o, store.Query{Size: 100, State: runtime.StateCompleted}); len(page.Tasks) != 1 ||
			page.Total != 1 {
			s.Errorf("%+v has completed %d of %d", o, len(page.Tasks), page.Total)
		}
		for j := range all {
			_, err := in.Head(ctx, store.Key{Owner: o, Task: name(j)})
			if j <= i && err != nil {
				s.Errorf("%+v: %v", o, err)
			} else if j > i {
				s.refused(fmt.Sprintf("%+v: task %d", o, j), err, store.ErrNotFound)
			}
		}
	}
	stranger := store.Key{Owner: store.Owner{Principal: "y"}, Task: name(0)}
	_, err := in.Get(ctx, stranger, store.Full)
	s.refused("get", err, store.ErrNotFound)
	_, err = in.Apply(ctx, stranger, 2, s.statusIn(name(0), "c0", runtime.StateCanceled, time.Second), nil)
	s.refused("apply", err, store.ErrNotFound)
	s.refused("set", in.SetPush(ctx, stranger, store.Push{ID: "p"}), store.ErrNotFound)
	_, err = in.Pushes(ctx, stranger)
	s.refused("list", err, store.ErrNotFound)
	s.refused("delete", in.DeletePush(ctx, stranger, "p"), store.ErrNotFound)
}

// manyTasks: among very many tasks, all are found.
func manyTasks(s *suite) {
	if testing.Short() {
		s.Skip("very many tasks")
	}
	const workers = 16
	n := 100_000
	if s.Durable { // each is a write
		n = 20_000
	}
	in := s.Open(s.T, memory.Limits{Tasks: 2 * n, Bytes: 1 << 30})
	var wg sync.WaitGroup
	var next atomic.Int64
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				task := s.Protocol.NewTask(name(i), fmt.Sprint("c", i%1000), start.Add(time.Duration(i)*time.Second))
				if _, err := in.Create(ctx, key(name(i)), store.New{Task: task, Stamp: s.stamped()}, nil); err != nil {
					s.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	q := store.Query{Size: 100}
	for page := range 50 {
		got := s.list(in, store.Owner{}, q)
		if got.Total != n || len(got.Tasks) != 100 || ids(got.Tasks)[0] != name(n-1-100*page) {
			s.Fatalf("page %d has %d of %d, from %v", page, len(got.Tasks), got.Total, ids(got.Tasks)[0])
		}
		q.Token = got.Next
	}
	if got := s.list(in, store.Owner{}, store.Query{Size: 7, Context: "c7"}); got.Total != n/1000 ||
		ids(got.Tasks)[1] != name(n-1000-993) {
		s.Errorf("a context has %d tasks, %v", got.Total, ids(got.Tasks))
	}
	if snap := s.get(in, key(name(n/2))); snap.Task.TaskInfo().ID != name(n/2) {
		s.Errorf("in the middle is %s", s.json(snap.Task))
	}
}
