package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// batches counts those that are sent.
type batches struct{ atomic.Int64 }

func (b *batches) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (b *batches) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (b *batches) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	b.Add(1)
	return ctx
}
func (b *batches) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (b *batches) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// Two instances that take over the tasks of a third one, for example, decide on the same tasks at the same time.
func TestABatchWithManyStaleWritesIsSentTwice(t *testing.T) {
	var sent batches
	s := mustOpen(t, postgrestest.Server(t), Options{tracer: &sent})
	var list []*write
	for i := range 20 {
		key := keyOf("p", fmt.Sprint("t", i))
		if err := begin(s, key, uint64(i+1)); err != nil {
			t.Fatal(err)
		}
		r, err := s.tasks.row(bg, relational.Ref{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		w := s.newWrite()
		w.n, w.key, w.next = r.N, key, &taskstate.State{}
		if w.server, w.rev = r.server, r.rev; i%4 != 0 {
			w.rev = 7 // it was decided on another one
		}
		w.fence("UPDATE a2a.task SET rev=rev+1 WHERE n=$1 AND rev=$2", w.n, w.rev)
		list = append(list, w)
	}
	before := sent.Load()
	s.writers[0].batch(slices.Clone(list))
	if n := sent.Load() - before; n != 2 {
		t.Errorf("it is sent %d times", n)
	}
	for i, w := range list {
		if <-w.Done; i%4 == 0 && w.Err != nil || i%4 != 0 && w.Err != relational.ErrStale {
			t.Errorf("write %d: %v", i, w.Err)
		}
	}
	if n := s.Stats().Conflicts; n != 15 {
		t.Errorf("%d conflicts are counted", n)
	}
}

// A message that is not stored after all has not made room for others.
func TestMessagesAreForgottenAlsoAfterAWriteThatFailed(t *testing.T) {
	s := mustOpen(t, postgrestest.Server(t), Options{})
	create := func(id string, stamp uint64, repeat string) error {
		n := store.New{Task: a2a.Protocol().NewTask(id, "c", beginning), Stamp: stamp}
		if repeat != "" {
			n.Repeat = &store.Repeat{Key: repeat, For: time.Hour}
		}
		_, err := s.Create(bg, keyOf("p", id), n, nil)
		return err
	}
	if err := create("t", 1, ""); err != nil {
		t.Fatal(err)
	}
	const full = `INSERT INTO a2a.repeat(owner, key, account, task, call, digest, until)
		SELECT o.n, 'k'||i, o.account, 't', 0, '', $1::bigint+i FROM a2a.owner o, generate_series(1, $2::int) i`
	until := time.Now().Add(time.Hour).UnixNano()
	if _, err := s.pool.Exec(bg, s.sql(full), until, int64(store.MaxRepeats)); err != nil {
		t.Fatal(err)
	}
	if err := create("t", 2, "of a task that is there"); !errors.Is(err, store.ErrExists) {
		t.Errorf("the same task again: %v", err)
	}
	if err := create("u", 3, "new"); err != nil {
		t.Fatal(err)
	}
	if n := s.rows(t, "repeat"); n > store.MaxRepeats {
		t.Errorf("%d messages may be sent again", n)
	}
}
