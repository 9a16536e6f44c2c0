// Package record records the exchanges of a client and an agent over HTTP, and plays them back without a network.
//
// A [Recorder] and a [Player] are HTTP transports. In tests both are behind [Replay]; a program uses them so:
//
//	r := record.NewRecorder()
//	c, err := weather.New(ctx, url, rpc.HTTPClient(&http.Client{Transport: r}))
//	…
//	err = r.Save("quote.jsonl")
//
// A recording is a file of JSON Lines, one frame a line in the order of time: a header, and of each exchange its
// request, the head of the answer, the events of a stream, and its end. Ids and times are replaced by names and a
// fixed time, so that the next recording differs little; secrets are masked.
//
// Each line has a type and, but for the header, n, the number of its exchange. An "event" has id, name, retry and its data, and
// unfinished if it was cut. An "end" has how if the exchange did not end well: "unreached", "cut", or "left" by the
// client. A body is body (JSON), text or bytes (base64). Generated ids are "task-1", "message-2" and so on; times count
// from 2000-01-01; the host is http://agent.test.
package record
