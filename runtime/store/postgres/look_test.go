package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// gate counts queries, which wait until it is open.
type gate struct {
	queries atomic.Int64
	open    chan struct{}
}

func (g *gate) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	<-g.open
	g.queries.Add(1)
	return ctx
}

func (g *gate) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestLooksThatComeTogetherShareQueries: of thousands of readers each looks once a second.
func TestLooksThatComeTogetherShareQueries(t *testing.T) {
	s := mustOpen(t, postgrestest.Server(t), Options{})
	create(t, s, "t")
	r, err := s.tasks.row(t.Context(), relational.Ref{Key: keyed("t")})
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{open: make(chan struct{})}
	config := s.target.pool.Copy()
	config.ConnConfig.Tracer = g
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	s.pool.Close()
	s.pool = pool
	const readers = 2000
	var work sync.WaitGroup
	var begun atomic.Int64
	for i := range readers {
		n := r.N + int64(i)
		work.Go(func() {
			begun.Add(1)
			rev, err := s.tasks.looks.rev(t.Context(), n)
			if err != nil || (rev != 0) != (n == r.N) {
				t.Errorf("task %d has revision %d: %v", n, rev, err)
			}
		})
	}
	eventually(t, "all of them are about to look", func() bool { return begun.Load() == readers })
	close(g.open)
	work.Wait()
	if n := g.queries.Load(); n > readers/20 {
		t.Errorf("%d looks were %d queries", readers, n)
	}
}
