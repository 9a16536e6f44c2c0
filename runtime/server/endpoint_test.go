package server

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// other is an endpoint of another protocol.
type other struct{ closed bool }

func (*other) ServeHTTP(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Method)) }
func (o *other) Close()                                         { o.closed = true }

func TestAnEndpointIsServedBesideA2AUntilTheAgentStops(t *testing.T) {
	var o other
	s := hosted(t, nil, Limits{}, WithEndpoint("/other", nil, func(EndpointHost) (Endpoint, error) { return &o, nil }))
	ctx, stop := context.WithCancel(t.Context())
	out, ended := new(lines), make(chan int, 1)
	go func() { ended <- host(ctx, s, nil, []string{"-addr", "127.0.0.1:0"}, out) }()
	url := out.url(t)
	if !strings.Contains(out.String(), " other="+url+"/other") {
		t.Errorf("the log does not say where it is: %s", out)
	}
	resp, err := http.Get(url + "/other")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("it answers %d", resp.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if code := <-ended; code != exitOK || !o.closed {
		t.Errorf("exit %d, closed %v: %s", code, o.closed, out)
	}
}
