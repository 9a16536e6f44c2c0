package storetest

import (
	"cmp"
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

// fill makes tasks of three contexts, with statuses one second after another but for each third, which has the time of the
// one before.
func (s *suite) fill(in store.Store, owner store.Owner, n int) {
	s.Helper()
	for i := range n {
		task := s.Protocol.NewTask(name(i), fmt.Sprint("c", i%3), start.Add(time.Duration(i-i%3/2)*time.Second))
		s.create(in, store.New{Task: task, Private: store.Private{Skill: "skill"}, Stamp: s.stamped()}, store.Key{Owner: owner, Task: name(i)})
	}
}

func (s *suite) statusIn(id, context string, state runtime.State, after time.Duration) store.Update {
	return store.Update{Event: s.Protocol.NewStatus(id, context, state, nil, start.Add(after)), Stamp: s.stamped()}
}

// pages: the tasks that a query selects, the most recent status first, those of equal times by id, each once, with their
// number.
func pages(s *suite) {
	in := s.open()
	if page := s.list(in, store.Owner{}, store.Query{Size: 10}); len(page.Tasks) != 0 || page.Total != 0 || page.Next != "" {
		s.Errorf("an empty store has %+v", page)
	}
	s.fill(in, store.Owner{}, 30)
	s.create(in, store.New{Task: s.Protocol.NewTask("other", "c1", start), Private: store.Private{Skill: "other"}}, keyOf("other"))
	for i := 0; i < 30; i += 2 {
		state, after := runtime.StateWorking, time.Duration(i-i%3/2)*time.Second
		if i%4 == 2 {
			state = runtime.StateCompleted
		}
		if i == 8 {
			after = time.Hour // it comes to the front
		}
		s.apply(in, keyOf(name(i)), 1, s.statusIn(name(i), fmt.Sprint("c", i%3), state, after))
	}
	var tasks []store.Snapshot
	for i := range 31 {
		tasks = append(tasks, s.get(in, keyOf(append([]string{name(i)}, "other")[i/30])))
	}
	slices.SortFunc(tasks, func(a, b store.Snapshot) int {
		x, y := a.Task.TaskInfo(), b.Task.TaskInfo()
		return cmp.Or(y.At.Compare(x.At), strings.Compare(x.ID, y.ID))
	})
	for _, q := range []store.Query{
		{}, {Context: "c1"}, {State: runtime.StateWorking}, {State: runtime.StateSubmitted}, {State: runtime.StateFailed},
		{After: start.Add(10 * time.Second)}, {Context: "c2", State: runtime.StateCompleted},
		{Context: "c0", After: start.Add(15 * time.Second)}, {State: runtime.StateCompleted, After: start.Add(4 * time.Second)},
		{Context: "none"}, {Context: "c1", State: runtime.StateSubmitted, After: start.Add(9 * time.Second)},
		{After: start.Add(2 * time.Hour)}, {After: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)}, {After: time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Without: []string{"other"}}, {Without: []string{"skill", "none"}}, {Without: []string{"skill", "other"}},
		{Context: "c1", State: runtime.StateSubmitted, Without: []string{"other"}},
	} {
		want := []string{}
		for _, t := range tasks {
			info := t.Task.TaskInfo()
			if !slices.Contains(q.Without, t.Private.Skill) && (q.Context == "" || q.Context == info.ContextID) &&
				(q.State == 0 || q.State == info.State) && !info.At.Before(q.After) {
				want = append(want, info.ID)
			}
		}
		for _, q.Size = range []int{1, 4, 31, 100} {
			if got := s.all(in, store.Owner{}, q); !slices.Equal(got, want) {
				s.Errorf("%+v:\n got %v\nwant %v", q, got, want)
			}
			if page := s.list(in, store.Owner{}, q); page.Total != len(want) || len(page.Tasks) != min(q.Size, len(want)) {
				s.Errorf("%+v: a page has %d of %d, want %d", q, len(page.Tasks), page.Total, len(want))
			}
		}
	}
}

// pagesUnderWrites: a task that does not change is on exactly one page, while others change.
func pagesUnderWrites(s *suite) {
	const n = 120
	in := s.open()
	s.fill(in, store.Owner{}, n)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() { // the second half changes all the time
		for i := 0; !stop.Load(); i++ {
			id := name(n/2 + i%(n/2))
			h, err := in.Head(ctx, keyOf(id))
			if err == nil {
				u := s.statusIn(id, h.Context, runtime.StateWorking, time.Hour+time.Duration(i)*time.Second)
				_, err = in.Apply(ctx, keyOf(id), h.Version, u, nil)
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
	stop.Store(true)
	wg.Wait()
	if page := s.list(in, store.Owner{}, store.Query{Size: 1}); page.Total != n {
		s.Errorf("there are %d tasks", page.Total)
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
		s.create(in, s.task(name(i)), keyOf(name(i)))
		s.apply(in, keyOf(name(i)), 1, s.chunk(name(i), strings.Repeat("x", 10_000)))
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
	q.View, q.Bytes = store.View{History: new(int)}, 35_000
	page = s.list(in, store.Owner{}, q)
	if info := page.Tasks[0].TaskInfo(); len(page.Tasks) != 10 || info.Artifacts+info.History != 0 {
		s.Errorf("a page without artifacts and history has %d tasks", len(page.Tasks))
	}
}

// owners: nobody sees the tasks of another tenant or principal, however alike their names are.
func owners(s *suite) {
	in := s.open()
	all := []store.Owner{{}, {Tenant: "x"}, {Principal: "x"}, {Tenant: "x", Principal: "x"}, {Principal: "X"}, {Principal: "x "}}
	for i, o := range all {
		s.fill(in, o, i+1)
	}
	for i, o := range all {
		if page := s.list(in, o, store.Query{Size: 100}); len(page.Tasks) != i+1 || page.Total != i+1 {
			s.Errorf("%+v has %d of %d", o, len(page.Tasks), page.Total)
		}
		for j := range all {
			if _, err := in.Head(ctx, store.Key{Owner: o, Task: name(j)}); (err == nil) != (j <= i) {
				s.Errorf("%+v: task %d: %v", o, j, err)
			}
		}
	}
}

// manyTasks: among very many tasks, all are found.
func manyTasks(s *suite) {
	if testing.Short() {
		s.Skip("very many tasks")
	}
	n := 100_000
	if s.Durable { // each is a write
		n = 20_000
	}
	in := s.Open(s.T, memory.Limits{Tasks: 2 * n, Bytes: 1 << 30})
	var next atomic.Int64
	s.crowd(func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			task := s.Protocol.NewTask(name(i), fmt.Sprint("c", i%1000), start.Add(time.Duration(i)*time.Second))
			if _, err := in.Create(ctx, keyOf(name(i)), store.New{Task: task, Stamp: s.stamped()}, nil); err != nil {
				s.Error(err)
				return
			}
		}
	})
	q := store.Query{Size: 100}
	for page := range 50 {
		got := s.list(in, store.Owner{}, q)
		if got.Total != n || len(got.Tasks) != 100 || ids(got.Tasks)[0] != name(n-1-100*page) {
			s.Fatalf("page %d has %d of %d, from %v", page, len(got.Tasks), got.Total, ids(got.Tasks)[0])
		}
		q.Token = got.Next
	}
	if got := s.list(in, store.Owner{}, store.Query{Size: 7, Context: "c7"}); got.Total != n/1000 || ids(got.Tasks)[1] != name(n-1000-993) {
		s.Errorf("a context has %d tasks, %v", got.Total, ids(got.Tasks))
	}
	if snap := s.get(in, keyOf(name(n/2))); snap.Task.TaskInfo().ID != name(n/2) {
		s.Errorf("in the middle is %s", s.json(snap.Task))
	}
}
