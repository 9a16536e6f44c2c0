package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/postgres"
)

// pid keeps the numbers of tasks of several processes apart.
var pid = os.Getpid()

// bare writes the rows of tasks and their events, and nothing else: it decides nothing, counts nothing and reads nothing.
type bare struct {
	pool   *pgxpool.Pool
	sender // of statements
	next   atomic.Int64
	schema string
}

// sender sends the statements of one call and waits.
type sender interface {
	send(ctx context.Context, b *pgx.Batch) error
}

// each sends them at once, on a connection of its own.
type each struct{ *pgxpool.Pool }

func (e each) send(ctx context.Context, b *pgx.Batch) error { return e.SendBatch(ctx, b).Close() }

// batched sends what waits together, on two connections, as the store does.
type batched chan sending

type sending struct {
	batch *pgx.Batch
	done  chan error
}

func (b batched) send(_ context.Context, batch *pgx.Batch) error {
	done := make(chan error, 1)
	b <- sending{batch, done}
	return <-done
}

func (b batched) run(pool *pgxpool.Pool) {
	for first := range b {
		list, all := []sending{first}, &pgx.Batch{}
		for more := true; more && len(list) < 128; {
			select {
			case one := <-b:
				list = append(list, one)
			default:
				more = false
			}
		}
		for _, one := range list {
			all.QueuedQueries = append(all.QueuedQueries, one.batch.QueuedQueries...)
		}
		err := pool.SendBatch(context.Background(), all).Close()
		for _, one := range list {
			one.done <- err
		}
	}
}

// openBare makes the tables as the store does, and then leaves it.
func openBare(ctx context.Context, address string, together bool) (*bare, error) {
	s, err := postgres.Open(ctx, address, a2a.Protocol(), postgres.Options{})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	address, schema, _ := strings.Cut(address, "a2a_schema=")
	config, err := pgxpool.ParseConfig(strings.TrimRight(address, "?&"))
	if err != nil {
		return nil, err
	}
	config.MaxConns = 64
	b := &bare{schema: schema}
	if b.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	b.sender = each{b.pool}
	if together {
		waiting := make(batched, 256)
		for range 2 {
			go waiting.run(b.pool)
		}
		b.sender = waiting
	}
	return b, nil
}

const (
	insertTask = `INSERT INTO %s.task(n, rev, owner, account, at, version, oldest, epoch, calls, done, said, laststatus, artifacts, log, charged, rested,
		snapshot, body, since, began, runner, attempt, made, saidparts, laststatusparts, artifactparts, pushes, wire, state, rest, ticketed, clientid,
		asked, id, context, skill, trace, stamps, head) VALUES($1,1,1,1,$2,1,0,0,0,0,300,0,0,400,3000,0,0,0,400,0,0,0,0,1,0,0,0,1,1,0,false,false,
		false,$3,$4,'bench','',$5,$6)`
	insertEvent = "INSERT INTO %s.event(task, seq, kind, state, wire, doc) VALUES($1,$2,$3,$4,1,$5)"
	updateTask  = `UPDATE %s.task SET rev=$2+1, version=version+1, said=said+100, log=log+200, charged=charged+500, since=since+200, stamps=$3 WHERE n=$1 AND rev=$2`
	updateState = `UPDATE %s.task SET rev=$2+1, version=version+1, said=said+100, log=log+200, charged=charged+500, since=since+200, stamps=$3, state=$4,
		at=$5, rest=$6, rested=$5, head=$7 WHERE n=$1 AND rev=$2`
)

func (b *bare) task(ctx context.Context) error {
	t, p := newTask(), a2a.Protocol().Versions[0]
	n := b.next.Add(1) + int64(pid)<<32
	stamps := make([]byte, 32)
	for i := range 4 {
		var event runtime.Event = t.start.Task
		if i > 0 {
			event = t.updates[i-1].Event
		}
		doc, err := p.AppendEvent(nil, event)
		if err != nil {
			return err
		}
		info, at := event.EventInfo(), t.start.Task.TaskInfo().At.UnixNano()+int64(i)
		state, batch := int16(info.State), &pgx.Batch{} //nolint:gosec // few
		add := func(sql string, args ...any) { batch.Queue(fmt.Sprintf(sql, b.schema), args...) }
		switch {
		case i == 0:
			head, err := p.AppendEvent(nil, t.start.Task.View(new(int), false))
			if err != nil {
				return err
			}
			add(insertTask, n, at, t.key.Task, t.start.Task.TaskInfo().ContextID, stamps[:8], head)
		case info.Kind == runtime.EventArtifact:
			add(updateTask, n, int64(i), stamps[:8*(i+1)])
		default:
			add(updateState, n, int64(i), stamps[:8*(i+1)], state, at, state/3, doc)
		}
		add(insertEvent, n, int64(i+1), int16(info.Kind), state, doc)
		if err := b.send(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}
