package main

import "github.com/a2agen/a2agen/bench/internal/work"

// bindingSections measure the other bindings against bare net/http with JSON-RPC.
func (b *bench) bindingSections() []section {
	return []section{
		b.ratio(overREST, "HTTP+JSON: send, answered by a Message", job{"rest-message", work.Message, 0, connections, 1}, 1.35),
		b.ratio(overREST, "HTTP+JSON: send, answered by a finished Task (4 events)", job{"rest-task", work.Task, 0, connections, 1}, 2),
		b.ratio(overREST, "HTTP+JSON: stream of 100 chunks, 8 at a time, handlers yield after each chunk", job{"rest-stream", work.Stream, 100, 8, 103}, 0),
		b.ratio(overGRPC, "gRPC: send, answered by a Message", job{"grpc-message", work.Message, 0, connections, 1}, 0),
		b.ratio(overGRPC.shared(), "gRPC: send, answered by a Message, over one connection", job{"grpc-one", work.Message, 0, connections, 1}, 0),
		b.ratio(overGRPC, "gRPC: send, answered by a finished Task (4 events)", job{"grpc-task", work.Task, 0, connections, 1}, 0),
		b.ratio(overGRPC, "gRPC: a Task of 4 events, streamed", job{"grpc-events", work.Burst, 1, connections, 1}, 0),
		b.ratio(overGRPC, "gRPC: stream of 100 chunks, 8 at a time, handlers yield after each chunk", job{"grpc-stream", work.Stream, 100, 8, 103}, 0),
	}
}
