package server_test

import (
	"context"
	"io"
	"net/http"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
)

// A busy handler that makes way after each chunk leaves it to the server how many of them it writes at once. What it
// writes is the same.
func TestEventsOfABusyHandlerShareWrites(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(1)) // nobody else takes turns
	const chunks = 400
	s := newServer(t, testCard, []server.Skill{run("count", func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("numbers")
		for range chunks {
			if _, err := io.WriteString(w, "a chunk of text "); err != nil {
				return "", err
			}
			goruntime.Gosched()
		}
		return "", w.Close()
	})})
	defer func() { _ = s.Close() }()
	req, err := http.NewRequest(http.MethodPost, "http://localhost/rpc", strings.NewReader(rpcBody("SendStreamingMessage", message("count"))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	w := &sink{header: http.Header{}}
	s.ServeHTTP(w, req)
	if w.n < chunks*100 {
		t.Errorf("only %d bytes were written", w.n)
	}
	if w.events < 10 || w.events > chunks*2/3 {
		t.Errorf("%d chunks went out in %d writes", chunks, w.events)
	}
}
