package broken

import "net/http"

// code makes the calls that fail with one code fail with another.
func code(from, to string) func(*exchange, http.Header) {
	return func(_ *exchange, h http.Header) {
		if h.Get("Grpc-Status") == from {
			h.Set("Grpc-Status", to)
			h.Del("Grpc-Status-Details-Bin")
		}
	}
}

var grpcRows = []*row{
	{name: "an unknown task is an internal error", requirement: "R38", ops: "GetTask", trailer: code("5", "13")},
	{name: "canceling twice is not found", requirement: "T17", ops: "CancelTask", trailer: code("9", "5")},
	{name: "an error without details", requirement: "R160", trailer: func(_ *exchange, h http.Header) { h.Del("Grpc-Status-Details-Bin") }},
	{name: "details that cannot be read", requirement: "R160", trailer: func(_ *exchange, h http.Header) {
		if h.Get("Grpc-Status-Details-Bin") != "" {
			h.Set("Grpc-Status-Details-Bin", "AAAA")
		}
	}},
	{name: "an error without a message", requirement: "R42", trailer: func(_ *exchange, h http.Header) { h.Del("Grpc-Message") }},
	{name: "no status at the end", requirement: "R42", trailer: func(_ *exchange, h http.Header) { h.Del("Grpc-Status") }},
	{name: "state that there is not", requirement: "R94", ops: "GetTask", result: set(99, "status", "state")},
	{name: "messages that are no gRPC", requirement: "R122", response: func(_ *exchange, r *http.Response) { r.Header.Set("Content-Type", "application/json") }},
}
