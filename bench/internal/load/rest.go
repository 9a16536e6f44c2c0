package load

import "strings"

// REST is A2A 1.0 over HTTP+JSON. Its methods are an HTTP method and a path.
var REST = V1.over(rest{}, "POST /message:send", "POST /message:stream", func(id string) (string, string) { return "GET /tasks/" + id, "" })

type rest struct{ overHTTP }

func (rest) request(d *Dialect, addr, method, params string) *request {
	verb, path, _ := strings.Cut(method, " ")
	return httpRequest(d, addr, verb, path, params)
}

// answers cannot tell: an answer does not name its request. It is the next one on its connection.
func (rest) answers(_, _ []byte) bool { return true }

func (rest) open(_ string, body []byte) ([]byte, error) { return body, nil }
