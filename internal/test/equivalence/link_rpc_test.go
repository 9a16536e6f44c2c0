package equivalence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime"
)

// web is what the bindings over HTTP have in common on the client's side.
type web struct {
	speaker *speaker
	client  *http.Client
	base    string
	query   string
}

func newWeb(s *speaker, d door) web {
	scheme := "http://"
	if d.tls != nil {
		scheme = "https://"
	}
	return web{s, &http.Client{Transport: &http.Transport{TLSClientConfig: d.tls}}, scheme + d.addr + s.at(), d.query}
}

func (w *web) close() { w.client.CloseIdleConnections() }

// do sends a request with the parameters of a call.
func (w *web) do(ctx context.Context, c call, method, url string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if w.query != "" {
		req.URL.RawQuery = strings.TrimSuffix(w.query+"&"+req.URL.RawQuery, "&")
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.op.Stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	if c.after != "" {
		req.Header.Set("Last-Event-ID", c.after)
	}
	for name, value := range c.params {
		req.Header.Set(name, value)
	}
	return w.client.Do(req)
}

// rpcLink speaks JSON-RPC.
type rpcLink struct{ web }

func newRPCLink(s *speaker, d door) link { return &rpcLink{newWeb(s, d)} }

func (l *rpcLink) call(ctx context.Context, c call) (*answer, error) {
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"one","method":%q,"params":%s}`, c.op.RPC, c.request)
	resp, err := l.do(ctx, c, http.MethodPost, l.base, body)
	if err != nil {
		return nil, err
	}
	a := &answer{active: resp.Header.Get("A2A-Extensions")}
	if resp.Header.Get("Content-Type") == sse.ContentType {
		a.stream = newWebItems(resp, readRPC)
		return a, nil
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	a.body, a.fault, err = readRPC(b)
	if a.fault != nil && resp.StatusCode != http.StatusOK {
		a.fault.class.http = resp.StatusCode
	}
	if a.fault != nil {
		a.fault.hear(resp, b)
	}
	return a, err
}

// hear takes down all of an answer that is an error.
func (f *fault) hear(resp *http.Response, body []byte) {
	f.challenge = resp.Header["Www-Authenticate"]
	resp.Header.Del("Date")
	f.raw = fmt.Sprint(resp.Status, resp.Header, string(body))
}

// readRPC reads a response, which is one event of a stream, too.
func readRPC(b []byte) ([]byte, *fault, error) {
	var r struct {
		JSONRPC string
		ID      any
		Result  json.RawMessage
		Error   json.RawMessage
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, nil, fmt.Errorf("%w in %s", err, b)
	}
	if r.JSONRPC != "2.0" || r.ID != "one" && r.ID != nil {
		return nil, nil, fmt.Errorf("no response to the request: %s", b)
	}
	if r.Error == nil {
		return r.Result, nil, nil
	}
	e, err := runtime.ReadError(r.Error)
	return nil, &fault{protocolError: e}, err
}

// webItems are server-sent events.
type webItems struct {
	resp   *http.Response
	events *sse.Reader
	read   func([]byte) ([]byte, *fault, error)
}

func newWebItems(resp *http.Response, read func([]byte) ([]byte, *fault, error)) *webItems {
	return &webItems{resp, sse.NewReader(bufio.NewReader(resp.Body), 0), read}
}

func (i *webItems) next() (item, bool) {
	e, err := i.events.Next()
	if err != nil {
		return item{}, false
	}
	body, f, err := i.read(bytes.Clone(e.Data))
	if err != nil {
		f = &fault{protocolError: runtime.ErrInternal.With("unreadable: %v", err)}
	}
	if f != nil {
		f.raw = string(e.Data)
	}
	return item{id: string(e.ID), body: body, fault: f}, true
}

func (i *webItems) close() { _ = i.resp.Body.Close() }
