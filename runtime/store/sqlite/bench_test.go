package sqlite

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

// fourEvents is a task as most are: created at work, a word on the way, an artifact, the end.
func fourEvents(b *testing.B, s *Store, id string, took func(time.Duration)) {
	k := key(id)
	m := proto.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: "m" + id,
			User: true}, Parts: []runtime.Part{runtime.Text("What is the weather like in Berlin?")},
	})
	task := proto.NewTask(id, "c"+id, time.Now())
	task.AddMessage(m)
	do := func(call func() (store.Snapshot, error)) store.Snapshot {
		begin := time.Now()
		snap, err := call()
		if err != nil {
			b.Error(err)
		}
		took(time.Since(begin))
		return snap
	}
	size := store.SizeOfMessage(m, m.Contents())
	n := store.New{
		Task: task, Private: store.Private{Skill: "weather", Input: []byte(`{"city":"Berlin"}`)}, Size: size, Stamp: 1,
		Call: &store.Call{Input: []byte(`{"city":"Berlin"}`), Request: &runtime.SendRequest{Message: m}},
	}
	snap := do(func() (store.Snapshot, error) { return s.Create(ctx, k, n, nil) })
	say := func(u store.Update, view *store.View) {
		u.Epoch = snap.Epoch
		do(func() (store.Snapshot, error) { return s.Apply(ctx, k, 0, u, view) })
	}
	state := func(state runtime.State, text string) store.Update {
		m := proto.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "a" + id},
			Parts: []runtime.Part{runtime.Text(text)}})
		return store.Update{Event: proto.NewStatus(id, "c"+id, state, m, time.Now())}
	}
	say(state(runtime.StateWorking, "Looking at the sky"), nil)
	data := runtime.ArtifactData{ID: "artifact-1", Name: "forecast",
		Parts: []runtime.Part{runtime.Text(strings.Repeat("sunny ", 10))}}
	say(store.Update{Event: proto.NewArtifact(id, "c"+id, data)}, nil)
	end := state(runtime.StateCompleted, "It is going to be sunny.")
	end.Done = 1
	say(end, &store.Full)
}

// BenchmarkTask is durable tasks of four events, each call of which waits for its answer.
func BenchmarkTask(b *testing.B) {
	for _, full := range []bool{false, true} {
		for _, callers := range []int{1, 16, 64} {
			name := fmt.Sprintf("callers=%d", callers)
			if full {
				name += "/full"
			}
			b.Run(name, func(b *testing.B) {
				s := open(b, fresh(b), Options{Full: full})
				var statements, commits float64
				s.writer.before = func(sql string) error {
					if statements++; sql == "COMMIT" {
						commits++
					}
					return nil
				}
				measure(b, callers, func(i int64, took func(time.Duration)) {
					fourEvents(b, s, fmt.Sprintf("task-%08x-%08x", uint32(i)*2654435761, i), took)
				})
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(statements/float64(b.N), "statements/task")
				b.ReportMetric(commits/float64(b.N), "commits/task")
				if info, err := os.Stat(s.path); err == nil {
					b.ReportMetric(float64(info.Size())/float64(b.N), "file-B/task")
				}
			})
		}
	}
}

// BenchmarkAnswered is durable tasks that are answered at once: one transaction each, or one for several of them.
func BenchmarkAnswered(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b, fresh(b), Options{})
			measure(b, callers, func(i int64, took func(time.Duration)) {
				id := benchID(int(i))
				n := newTask(id)
				n.Call, n.Done, n.Stamp = &store.Call{Input: []byte(`{"city":"Berlin"}`)}, true, 1
				n.Then = []store.Change{
					{Event: chunk(id, strings.Repeat("sunny ", 10)).Event}, {Event: status(id, runtime.StateCompleted).Event},
				}
				begin := time.Now()
				if _, err := s.Create(ctx, key(id), n, &store.Full); err != nil {
					b.Error(err)
				}
				took(time.Since(begin))
			})
		})
	}
}

// BenchmarkBurst is a hundred chunks of a task, of which each update has so many.
func BenchmarkBurst(b *testing.B) {
	for _, together := range []int{1, 50} {
		b.Run(fmt.Sprintf("together=%d", together), func(b *testing.B) {
			s := open(b, fresh(b), Options{})
			for i := range b.N {
				id := benchID(i)
				create(b, s, id)
				for version := int64(1); version < 100; version += int64(together) {
					u := chunk(id, strings.Repeat("sunny ", 10))
					for range together - 1 {
						u.Then = append(u.Then, store.Change{Event: chunk(id, strings.Repeat("sunny ", 10)).Event})
					}
					apply(b, s, id, version, u)
				}
			}
		})
	}
}

// measure has so many callers do one task after another.
func measure(b *testing.B, callers int, task func(i int64, took func(time.Duration))) {
	var next atomic.Int64
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range callers {
		wg.Go(func() {
			var mine []time.Duration
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				task(i, func(d time.Duration) { mine = append(mine, d) })
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkLongTask is one task of 10,000 events: ns/event is the same for a tenth of them, or it is not linear.
func BenchmarkLongTask(b *testing.B) {
	for _, events := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			for range b.N {
				s := open(b, fresh(b), Options{})
				create(b, s, "t")
				said := strings.Repeat("x", 150)
				for v := range events {
					apply(b, s, "t", int64(v)+1, chunk("t", said))
				}
				_ = s.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
		})
	}
}

// handlers are what skills do with a message.
var handlers = map[string]func(*task.Task) ([]byte, error){
	"answers":  func(*task.Task) ([]byte, error) { return []byte(strings.Repeat("sunny ", 10)), nil },
	"progress": func(c *task.Task) ([]byte, error) { return []byte("sunny"), c.Progress("Looking at the sky") },
	"burst": func(c *task.Task) ([]byte, error) {
		w := c.Stream("numbers")
		for range 100 {
			if err := w.Part(runtime.Text(strings.Repeat("sunny ", 10))); err != nil {
				return nil, err
			}
		}
		return nil, w.Close()
	},
}

// BenchmarkEngine is messages through the engine, a request in and an answer out: one answered at once, one with a word on
// the way, and one with a hundred chunks in a burst; in a file and in memory.
func BenchmarkEngine(b *testing.B) {
	for _, what := range []string{"answers", "progress", "burst"} {
		for _, callers := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/sqlite/callers=%d", what, callers), func(b *testing.B) {
				s, commits := open(b, fresh(b), Options{}), 0.0
				s.writer.before = func(sql string) error {
					if sql == "COMMIT" {
						commits++
					}
					return nil
				}
				throughEngine(b, s, what, callers)
				b.ReportMetric(commits/float64(b.N), "commits/task")
			})
			b.Run(fmt.Sprintf("%s/memory/callers=%d", what, callers), func(b *testing.B) {
				throughEngine(b, memory.New(memory.Limits{}), what, callers)
			})
		}
	}
}

func throughEngine(b *testing.B, s store.Store, what string, callers int) {
	e := talking(b, s, handlers[what])
	params := []byte(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"What is the weather like in Berlin?"}]}}`)
	measure(b, callers, func(_ int64, took func(time.Duration)) {
		var r engine.Request
		r.Begin(ctx, e)
		r.Version = e.Versions()[0]
		r.Coding = engine.Coding{Append: r.Version.AppendEvent}
		ops := r.Version.Operations
		r.Op = ops[slices.IndexFunc(ops, func(op *runtime.Operation) bool { return op.Role == runtime.RoleSend })]
		begin := time.Now()
		in, err := r.Op.Decode(params)
		if err != nil {
			b.Error(err)
		}
		answer, err := r.Serve(in)
		if err == nil {
			_, err = r.Op.Append(nil, answer.Result)
		}
		if err != nil {
			b.Error(err)
		}
		took(time.Since(begin))
	})
}

const benchCard = `{"name":"Test","description":"for tests","version":"1.0.0",
	"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// talking is an engine with a handler.
func talking(b *testing.B, s store.Store, run func(*task.Task) ([]byte, error)) *engine.Engine {
	card, err := proto.DecodeCard([]byte(benchCard))
	if err != nil {
		b.Fatal(err)
	}
	skill := engine.Skill{ID: "s", Name: "s", Run: func(_ context.Context, c *task.Task, _ any) ([]byte, error) {
		return run(c)
	}}
	o := engine.Options{Store: s, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	e, err := engine.New(engine.Config{Protocol: proto, Card: card, Skills: []engine.Skill{skill}}, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	return e
}

// BenchmarkManyTasks is what a large file costs: SQLITE_BENCH_TASKS tasks, or 20,000.
func BenchmarkManyTasks(b *testing.B) {
	n := 20_000
	if text := os.Getenv("SQLITE_BENCH_TASKS"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	path := fresh(b)
	s := open(b, path, Options{})
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				fill(b, s, i, n)
			}
		})
	}
	wg.Wait()
	_ = s.Close()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d tasks in %v: %d B each", n, time.Since(begin), info.Size()/int64(n))
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			s = open(b, path, Options{})
			if runs, err := s.Claim(ctx, []string{"skill"}, 100); err != nil || len(runs) != min(49, n/1000) && b.N == 1 {
				b.Fatal(len(runs), err)
			}
			b.StopTimer()
			_ = s.Close()
			b.StartTimer()
		}
	})
	s = open(b, path, Options{})
	b.Run("get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := s.Get(ctx, key(benchID(i*7919%n+1)), store.Full); err != nil {
				b.Fatal(err)
			}
		}
	})
	middle := store.Cursor{At: start.Add(time.Duration(n/2) * time.Second), ID: benchID(n / 2)}
	for name, q := range map[string]store.Query{
		"page": {}, "page/middle": {Token: middle.Token(store.Owner{}, store.Query{})}, "page/state": {State: runtime.StateCompleted},
		"page/context": {Context: "c7"},
	} {
		b.Run(name, func(b *testing.B) {
			q.Size, q.View = 50, store.View{History: new(int)}
			for b.Loop() {
				if page, err := s.List(ctx, store.Owner{}, q); err != nil || len(page.Tasks) == 0 {
					b.Fatal(len(page.Tasks), err)
				}
			}
		})
	}
	b.Run("sweep of 100", func(b *testing.B) {
		s.options.Ended = time.Nanosecond
		for b.Loop() {
			if _, _, err := s.Sweep(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchID(i int) string { return fmt.Sprintf("task-%08x-%08x", uint32(i)*2654435761, i) }

// fill makes one of many tasks: all have ended but some that are at work.
func fill(b *testing.B, s *Store, i, n int) {
	id := benchID(i)
	at := start.Add(time.Duration(i) * time.Second)
	task := store.New{Task: proto.NewTask(id, fmt.Sprint("c", i%max(n/100, 1)), at), Private: store.Private{Skill: "skill"}}
	if i%1000 == 0 && i <= 49_000 {
		task.Call = &store.Call{}
	}
	if _, err := s.Create(ctx, key(id), task, nil); err != nil {
		b.Error(err)
		return
	}
	if task.Call == nil {
		u := store.Update{Event: proto.NewStatus(id, "c", runtime.StateCompleted, nil, at)}
		if _, err := s.Apply(ctx, key(id), 1, u, nil); err != nil {
			b.Error(err)
		}
	}
}
