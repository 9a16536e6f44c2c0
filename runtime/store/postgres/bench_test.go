package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// spent is the processor time of a server so far, on systems that tell.
func spent(c *postgrestest.Cluster) (d time.Duration) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range list {
		text, _ := os.ReadFile(name) //nolint:gosec // of the system
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 14 && f[1] == strconv.Itoa(c.Pid()) {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			d += time.Duration(user+system) * 10 * time.Millisecond
		}
	}
	return d
}

// callers runs do by several at once, b.N times in all.
func callers(b *testing.B, c *postgrestest.Cluster, n int, do func(i int64) error) {
	before := spent(c)
	defer func() {
		b.ReportMetric(float64((spent(c)-before).Microseconds())/float64(b.N), "server-µs/op")
	}()
	var next atomic.Int64
	var work sync.WaitGroup
	b.ResetTimer()
	begin := time.Now()
	for range n {
		work.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "tasks/s")
}

func benchServer(b *testing.B) (*postgrestest.Cluster, string) {
	c := postgrestest.New(b, postgrestest.Options{})
	return c, postgrestest.WithSchema(c.Address(), "bench")
}

// BenchmarkTaskOfFourEvents: created, working, an artifact, completed; each acknowledged before the next.
func BenchmarkTaskOfFourEvents(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, address := benchServer(b)
			s, err := Open(context.Background(), address, a2a.Protocol(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = s.Close() })
			if _, err := s.Renew(context.Background()); err != nil { // now it knows that it is alone
				b.Fatal(err)
			}
			callers(b, c, n, func(i int64) error { return fourEvents(s, i) })
		})
	}
}

func fourEvents(s store.Store, i int64) error {
	p, ctx := a2a.Protocol(), context.Background()
	id := fmt.Sprint("t", i)
	k := store.Key{Owner: store.Owner{Principal: "p"}, Task: id}
	task := p.NewTask(id, "c"+id, beginning)
	m := p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m" + id, User: true}, Parts: []runtime.Part{runtime.Text("What is the weather like?")}})
	m.Bind("c"+id, id)
	task.AddMessage(m)
	stamp := uint64(i) * 8 //nolint:gosec // few
	snap, err := s.Create(ctx, k, store.New{Task: task, Private: store.Private{Skill: "skill"}, Stamp: stamp + 1, Call: &store.Call{Input: []byte("{}")}}, nil)
	if err != nil {
		return err
	}
	for j, e := range []runtime.Event{
		p.NewStatus(id, "c"+id, runtime.StateWorking, nil, beginning),
		p.NewArtifact(id, "c"+id, runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text(strings.Repeat("x", 200))}}),
		p.NewStatus(id, "c"+id, runtime.StateCompleted, nil, beginning),
	} {
		u := store.Update{Event: e, Stamp: stamp + 2 + uint64(j), Epoch: snap.Epoch} //nolint:gosec // few
		if j == 2 {
			u.Done = 1
		}
		if _, err := s.Apply(ctx, k, 0, u, nil); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkBareRows writes the rows of such tasks, a pipelined transaction each.
func BenchmarkBareRows(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, address := benchServer(b)
			s, err := Open(context.Background(), address, a2a.Protocol(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = s.Close() })
			config := s.target.pool.Copy()
			config.MaxConns = int32(n)
			pool, err := pgxpool.NewWithConfig(context.Background(), config)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(pool.Close)
			callers(b, c, n, func(i int64) error { return bareRows(pool, s, i) })
		})
	}
}

func bareRows(pool *pgxpool.Pool, s *Store, i int64) error {
	ctx, doc := context.Background(), []byte(`{"task":"`+strings.Repeat("x", 300)+`"}`)
	for step := range 4 {
		var q pgx.Batch
		if step == 0 {
			q.Queue(s.sql(insertSQL), i, int64(1), int64(1), fmt.Sprint("t", i), fmt.Sprint("c", i), "skill", false, "", int64(1), []byte("12345678"), int64(0), int32(0), int64(300), int64(300), int64(1000),
				int64(100), int32(1), int64(0), int32(0), int64(0), int64(0), int64(0), int64(1), int64(1), int64(0), int32(1), int32(1), int32(0), int64(1), int32(0), false, false, nil, nil, int16(0), int64(0), int16(1), int64(1), int32(1), doc)
			q.Queue(s.sql("INSERT INTO a2a.call(task, n, wire, request, input, value) VALUES($1,$2,$3,$4,$5,$6)"), i, int64(1), int32(1), doc, nil, nil)
		} else {
			q.Queue(s.sql("UPDATE a2a.task SET rev=rev+1, version=$2, log=$3, state=$4, head=$5, at=$6 WHERE n=$1"), i, int64(step+1), int64(step*300), int16(step+1), doc, int64(step))
		}
		if step == 3 {
			q.Queue(s.sql("DELETE FROM a2a.call WHERE task=$1"), i)
		}
		q.Queue(s.sql("INSERT INTO a2a.event(task, seq, kind, state, wire, run, doc, messages) VALUES($1,$2,$3,$4,$5,$6,$7,$8)"), i, int64(step+1), int16(1), int16(1), int32(1), nil, doc, nil)
		if err := pool.SendBatch(ctx, &q).Close(); err != nil {
			return err
		}
	}
	return nil
}
