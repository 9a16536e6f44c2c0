package main

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/bench/internal/work"
)

// bindingSections measure the other bindings against bare net/http with JSON-RPC.
func (b *bench) bindingSections() []section {
	return []section{
		b.ratio(overREST, "HTTP+JSON: send, answered by a Message", job{"rest-message", work.Message, 0, connections, 1}, 1.35),
		b.ratio(overREST, "HTTP+JSON: send, answered by a finished Task (4 events)", job{"rest-task", work.Task, 0, connections, 1}, 2),
		b.ratio(overREST, "HTTP+JSON: stream of 100 chunks, 8 at a time, handlers yield after each chunk", job{"rest-stream", work.Stream, 100, 8, 103}, 0),
		b.ratio(overGRPC, "gRPC: send, answered by a Message", job{"grpc-message", work.Message, 0, connections, 1}, 1.9),
		b.ratio(overGRPC.shared(), "gRPC: send, answered by a Message, over one connection", job{"grpc-one", work.Message, 0, connections, 1}, 1.3),
		b.ratio(overGRPC, "gRPC: send, answered by a finished Task (4 events)", job{"grpc-task", work.Task, 0, connections, 1}, 2.6),
		b.ratio(overGRPC, "gRPC: a Task of 4 events, streamed", job{"grpc-events", work.Burst, 1, connections, 1}, 0),
		b.ratio(overGRPC, "gRPC: stream of 100 chunks, 8 at a time, handlers yield after each chunk", job{"grpc-stream", work.Stream, 100, 8, 103}, 0),
		{"grpc-idle", b.idleOverGRPC},
	}
}

// mostShared is how many idle streams are opened on one connection at most: a server allows so many.
const mostShared = 500

// idleOverGRPC measures idle streams with a connection each, and on one.
func (b *bench) idleOverGRPC(ctx context.Context) (rows []row, err error) {
	for _, c := range []struct {
		l     lineup
		n     int
		where string
	}{{overGRPC, b.idle, "each on a connection of its own"}, {overGRPC.shared(), min(b.idle, mostShared), "all on one connection"}} {
		size, err := b.idleStreams(ctx, c.l, c.n)
		if err != nil {
			return nil, err
		}
		rows = append(rows, sizeRow(fmt.Sprintf("gRPC: an idle open stream (of %d, %s), resident", c.n, c.where), size, 0))
	}
	return rows, nil
}
