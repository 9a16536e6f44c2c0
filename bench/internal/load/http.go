package load

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"

	"github.com/a2agen/a2agen/bench/internal/proc"
)

// overHTTP is what both bindings over HTTP have in common.
type overHTTP struct {
	tls *tls.Config // nil: in clear text
}

func (overHTTP) addr(p *proc.Process) string { return p.Addr }

func (o overHTTP) dial(addr string) (line, error) { return dialHTTP(addr, o.tls) }

func (overHTTP) complete(d *Dialect, body []byte) bool {
	return bytes.Contains(body, []byte(d.completed))
}

// httpRequest makes a request with a body.
func httpRequest(d *Dialect, addr, method, path, body string) *request {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, addr)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	d.header.Write(&b)
	b.WriteString("\r\n" + body)
	r := numbered(method, b.Bytes())
	r.find(d.bears)
	return r
}

// rpc is the binding JSON-RPC.
type rpc struct{ overHTTP }

func (rpc) request(d *Dialect, addr, method, params string) *request {
	return httpRequest(d, addr, "POST", "/", fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}`, numberMark, method, params))
}

func (rpc) answers(body, number []byte) bool { return hasID(body, number) }

func (rpc) open(_ string, body []byte) ([]byte, error) {
	var envelope struct {
		JSONRPC string
		Result  json.RawMessage
		Error   json.RawMessage
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, fmt.Errorf("reading answer: %w", err)
	}
	if envelope.JSONRPC != "2.0" || envelope.Error != nil {
		return nil, fmt.Errorf("not a JSON-RPC result: %.300s", body)
	}
	return envelope.Result, nil
}

// hasID finds the request's id at either end of a compact answer (members have no order).
func hasID(body, number []byte) bool {
	i := bytes.Index(body, []byte(`"id":"`))
	for i >= 0 {
		if bytes.HasPrefix(body[i+6:], number) {
			return true
		}
		j := bytes.Index(body[i+6:], []byte(`"id":"`))
		if j < 0 {
			return false
		}
		i += 6 + j
	}
	return false
}
