package broken

import (
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2agen/a2agen/runtime"
)

// rpc is a row over gRPC.
func rpc(r *row) *row {
	r.binding = runtime.BindingGRPC
	r.name = "gRPC: " + r.name
	return r
}

// rpcOld is one of 0.3.
func rpcOld(r *row) *row {
	r = rpc(r)
	r.version, r.name = "0.3", strings.Replace(r.name, "gRPC", "gRPC 0.3", 1)
	return r
}

// code makes the calls that fail with one code fail with another.
func code(from, to string) func(*exchange, http.Header) {
	return func(_ *exchange, h http.Header) {
		if h.Get("Grpc-Status") == from {
			h.Set("Grpc-Status", to)
			h.Del("Grpc-Status-Details-Bin")
		}
	}
}

// varint replaces a number.
func varint(n uint64, path ...protowire.Number) func(*exchange, int, []byte) [][]byte {
	return func(_ *exchange, _ int, message []byte) [][]byte {
		return [][]byte{edit(message, path, func([]byte) []byte { return protowire.AppendVarint(nil, n) })}
	}
}

// bytesOf replaces a text.
func bytesOf(text string, path ...protowire.Number) func(*exchange, int, []byte) [][]byte {
	return func(_ *exchange, _ int, message []byte) [][]byte {
		return [][]byte{edit(message, path, func([]byte) []byte { return protowire.AppendString(nil, text) })}
	}
}

// isUpdate reports whether a message of a stream is a status update: the third member of StreamResponse.
func isUpdate(message []byte) bool {
	number, _, _ := protowire.ConsumeTag(message)
	return number == 3
}

var grpcRows = []*row{
	rpc(&row{name: "an unknown task is an internal error", requirement: "R38", ops: "GetTask", trailer: code("5", "13")}),
	rpc(&row{name: "canceling twice is not found", requirement: "T17", ops: "CancelTask", trailer: code("9", "5")}),
	rpc(&row{name: "an error without details", requirement: "R160", trailer: func(_ *exchange, h http.Header) { h.Del("Grpc-Status-Details-Bin") }}),
	rpc(&row{name: "details that cannot be read", requirement: "R160", trailer: func(_ *exchange, h http.Header) {
		if h.Get("Grpc-Status-Details-Bin") != "" {
			h.Set("Grpc-Status-Details-Bin", "AAAA")
		}
	}}),
	rpc(&row{name: "an error without a message", requirement: "R42", trailer: func(_ *exchange, h http.Header) { h.Del("Grpc-Message") }}),
	rpc(&row{name: "task without an id", requirement: "R100", ops: "SendMessage", message: without(1, 1)}),
	rpc(&row{name: "task without a status", requirement: "R100", ops: "GetTask", message: without(3)}),
	rpc(&row{name: "state unspecified", requirement: "R94", ops: "GetTask", message: without(3, 1)}),
	rpc(&row{name: "state that there is not", requirement: "R94", ops: "GetTask", message: varint(99, 3, 1)}),
	rpc(&row{name: "every task has one id", requirement: "R57", ops: "SendMessage", message: bytesOf("the-task", 1, 1)}),
	rpc(&row{name: "a task that nobody asked for", requirement: "R58", ops: "GetTask", message: bytesOf("another", 1)}),
	rpc(&row{name: "artifact without an id", requirement: "R100", ops: "GetTask", message: without(4, 1)}),
	rpc(&row{name: "no context id", requirement: "R51", ops: "SendMessage", message: without(1, 2)}),
	rpc(&row{name: "an answer of nothing", requirement: "R7", ops: "SendMessage", message: func(*exchange, int, []byte) [][]byte { return [][]byte{{}} }}),
	rpc(&row{name: "a stream that begins with an update", requirement: "R10", ops: "SendStreamingMessage", message: func(_ *exchange, n int, m []byte) [][]byte {
		if n == 0 {
			return nil
		}
		return [][]byte{m}
	}}),
	rpc(&row{name: "a stream that stops before the end", requirement: "R10", ops: "SendStreamingMessage", message: func(_ *exchange, n int, m []byte) [][]byte {
		if n > 0 && isUpdate(m) {
			return nil
		}
		return [][]byte{m}
	}}),
	rpc(&row{name: "an update without its task", requirement: "R100", ops: "SendStreamingMessage", message: without(3, 1)}),
	rpc(&row{name: "a total that is that of the page", requirement: "R309", ops: "ListTasks", message: varint(1, 4)}),
	rpc(&row{name: "the size of another page", requirement: "R309", ops: "ListTasks", message: varint(77, 3)}),
	rpc(&row{name: "any version is taken", requirement: "R72", request: func(_ *proxy, x *exchange) {
		if x.request.Header.Get("A2a-Version") != "" {
			x.request.Header.Set("A2a-Version", "1.0")
		}
	}}),
	rpcOld(&row{name: "an unknown task is an internal error", requirement: "R38", ops: "GetTask", trailer: code("5", "13")}),
	rpcOld(&row{name: "task without an id", requirement: "R58", ops: "SendMessage", message: without(1, 1)}),
	rpcOld(&row{name: "task without its context", requirement: "R51", ops: "SendMessage", message: without(1, 2)}),
	rpcOld(&row{name: "state unspecified", requirement: "R58", ops: "GetTask", message: without(3, 1)}),
	rpcOld(&row{name: "a stream that stops before the end", requirement: "R10", ops: "SendStreamingMessage", message: func(_ *exchange, n int, m []byte) [][]byte {
		if n > 0 && isUpdate(m) {
			return nil
		}
		return [][]byte{m}
	}}),
}
