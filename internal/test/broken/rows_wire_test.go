package broken

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// errorInfo is the detail that names an error.
func errorInfo(reason string) map[string]any {
	return map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org"}
}

func toText(v any) string { return fmt.Sprint(v) }

var errorRows = []*row{
	{name: "an error without a code", requirement: "R42", failure: func(_ *exchange, e map[string]any) { delete(e, "code") }},
	{name: "an error without a message", requirement: "R42", failure: func(_ *exchange, e map[string]any) { delete(e, "message") }},
	{name: "a code that is a text", requirement: "R42", failure: func(_ *exchange, e map[string]any) { e["code"] = toText(e["code"]) }},
	{name: "an unknown task is an internal error", requirement: "R91", ops: "GetTask", failure: func(_ *exchange, e map[string]any) { e["code"] = -32603 }},
	{name: "details without a type", requirement: "R43", failure: func(_ *exchange, e map[string]any) { remove(e, []string{"data", "@type"}) }},
	{name: "details that are no list", requirement: "R154", failure: func(_ *exchange, e map[string]any) { e["data"] = errorInfo("TASK_NOT_FOUND") }},
	{name: "errors without details", requirement: "R154", failure: func(_ *exchange, e map[string]any) { delete(e, "data") }},
	{name: "the details of another error", requirement: "R154", ops: "GetTask", failure: func(_ *exchange, e map[string]any) {
		put(e, "TASK_NOT_CANCELABLE", []string{"data", "reason"})
	}},
	{name: "bad parameters that are not named", requirement: "R36", failure: func(_ *exchange, e map[string]any) {
		if toText(e["code"]) == "-32602" {
			delete(e, "data")
			e["message"] = "Invalid parameters"
		}
	}},
	{name: "bad parameters are an internal error", requirement: "R35", failure: func(_ *exchange, e map[string]any) {
		if toText(e["code"]) == "-32602" {
			e["code"] = -32603
		}
	}},
}

var envelopeRows = []*row{
	{name: "another id", requirement: "R153", document: func(_ *exchange, doc map[string]any) { doc["id"] = "another" }},
	{name: "the id as another type", requirement: "R153", document: func(_ *exchange, doc map[string]any) {
		switch id := doc["id"].(type) {
		case string:
			doc["id"] = 1
		case json.Number:
			doc["id"] = id.String()
		}
	}},
	{name: "no id", requirement: "R153", document: func(_ *exchange, doc map[string]any) { delete(doc, "id") }},
	{name: "no version of JSON-RPC", requirement: "R153", document: func(_ *exchange, doc map[string]any) { delete(doc, "jsonrpc") }},
	{name: "result and error at once", requirement: "R153", document: func(_ *exchange, doc map[string]any) {
		if doc["error"] != nil {
			doc["result"] = map[string]any{}
		}
	}},
	{name: "an unknown method has another error", requirement: "R153", failure: func(_ *exchange, e map[string]any) {
		if toText(e["code"]) == "-32601" {
			e["code"] = -32600
		}
	}},
	{name: "what is no JSON has another error", requirement: "R153", failure: func(_ *exchange, e map[string]any) {
		if toText(e["code"]) == "-32700" {
			e["code"] = -32603
		}
	}},
	{name: "another version of JSON-RPC is taken", requirement: "R153", request: func(_ *proxy, x *exchange) {
		if x.envelope != nil {
			x.envelope["jsonrpc"] = "2.0"
		}
	}},
	{name: "answers as text", requirement: "R153", response: func(_ *exchange, r *http.Response) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			r.Header.Set("Content-Type", "text/plain")
		}
	}},
	{name: "errors as a status of HTTP", requirement: "R153", response: func(_ *exchange, r *http.Response) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.Contains(string(body), `"error":`) {
			r.StatusCode = http.StatusInternalServerError
		}
	}},
}

var versionRows = []*row{
	{name: "any version is taken", requirement: "R72", request: func(_ *proxy, x *exchange) {
		if x.request.Header.Get("A2A-Version") != "" {
			x.request.Header.Set("A2A-Version", "1.0")
		}
	}},
	{name: "another version has another error", over: overRPC, requirement: "R72", failure: func(_ *exchange, e map[string]any) {
		if toText(e["code"]) == "-32009" {
			e["code"], e["data"] = -32600, []any{}
		}
	}},
	{name: "a request without a version is taken", requirement: "R73", over: overRPC, card: noCard("url")},
	{name: "a patch number is refused", requirement: "R70", request: func(_ *proxy, x *exchange) {
		if strings.Count(x.request.Header.Get("A2A-Version"), ".") > 1 {
			x.request.Header.Set("A2A-Version", "99.0")
		}
	}},
	{name: "methods of 0.3 are taken in 1.0", over: overRPC, requirement: "R72", request: func(_ *proxy, x *exchange) {
		if x.version == "0.3" && x.request.Header.Get("A2A-Version") == "1.0" {
			x.envelope["method"], x.params["id"] = "GetTask", "nobody"
		}
	}, failure: func(x *exchange, e map[string]any) {
		if x.version == "0.3" {
			e["code"] = -32001
		}
	}},
}

// httpStatus sets the status of an error over HTTP+JSON, in the body too.
func httpStatus(op string, status int, name string) *row {
	return &row{
		ops:     op,
		failure: func(_ *exchange, e map[string]any) { e["code"], e["status"] = status, name },
		response: func(_ *exchange, r *http.Response) {
			if r.StatusCode >= 400 {
				r.StatusCode = status
			}
		},
	}
}

// named gives a row a name and a requirement.
func named(name, requirement string, r *row) *row {
	r.name, r.requirement = name, requirement
	return r
}

var restRows = []*row{
	named("an unknown task is an internal error", "R91", httpStatus("GetTask", http.StatusInternalServerError, "INTERNAL")),
	named("an unknown task answers 200", "R38", &row{
		ops:      "GetTask",
		response: func(_ *exchange, r *http.Response) { r.StatusCode = http.StatusOK },
	}),
	named("canceling twice is not found", "R91", httpStatus("CancelTask", http.StatusNotFound, "NOT_FOUND")),
	{name: "an error without details", requirement: "R170",
		failure: func(_ *exchange, e map[string]any) { delete(e, "details") }},
	{name: "details without a type", requirement: "R169",
		failure: func(_ *exchange, e map[string]any) { remove(e, []string{"details", "@type"}) }},
	{name: "details of another domain", requirement: "R170",
		failure: func(_ *exchange, e map[string]any) { put(e, "example.com", []string{"details", "domain"}) }},
	{name: "an error without a message", requirement: "R42",
		failure: func(_ *exchange, e map[string]any) { delete(e, "message") }},
	{name: "the body has another status", requirement: "R42",
		failure: func(_ *exchange, e map[string]any) { e["code"] = 500 }},
	{name: "answers as text", requirement: "R153", response: func(_ *exchange, r *http.Response) {
		if strings.Contains(r.Header.Get("Content-Type"), "json") {
			r.Header.Set("Content-Type", "text/plain")
		}
	}},
	{name: "an envelope of JSON-RPC", requirement: "R100", ops: "GetTask",
		result: func(_ *proxy, _ *exchange, result any) any {
			return map[string]any{"jsonrpc": "2.0", "id": 1, "result": result}
		}},
	{name: "parameters in the query are ignored", requirement: "R165", ops: "GetTask",
		request: func(_ *proxy, x *exchange) { x.request.URL.RawQuery = "" }},
	{name: "filters in the query are ignored", requirement: "R14", ops: "ListTasks",
		request: func(_ *proxy, x *exchange) {
			q := x.request.URL.Query()
			q.Del("contextId")
			x.request.URL.RawQuery = q.Encode()
		}},
}
