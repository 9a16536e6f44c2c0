package server_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/server"
)

// BenchmarkPush tells 100 receivers, of which 10 hang, of 100 status events each: how long it takes until the others
// have heard all of it, and how much more memory is in use meanwhile, receivers included.
func BenchmarkPush(b *testing.B) {
	const receivers, hanging, events = 100, 10, 100
	var arrived atomic.Int64
	over := make(chan struct{})
	urls := make([]string, receivers)
	for i := range urls {
		hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if i < hanging {
				<-over
				return
			}
			arrived.Add(1)
		}))
		b.Cleanup(hook.Close)
		urls[i] = hook.URL
	}
	b.Cleanup(func() { close(over) })
	work := run("work", func(_ context.Context, t *server.Task) (string, error) {
		for range events - 1 {
			if err := t.Progress("still at it"); err != nil {
				return "", err
			}
		}
		return "", nil
	})
	for b.Loop() {
		s := newServer(b, pushCard, []server.Skill{work}, open)
		arrived.Store(0)
		before, most := inUse(), uint64(0)
		begin := time.Now()
		for _, url := range urls {
			body := rpcBody("SendMessage", with(message("go"), inline(url, "")))
			req := httptest.NewRequest(http.MethodPost, "/rpc", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("A2A-Version", "1.0")
			s.ServeHTTP(httptest.NewRecorder(), req)
		}
		for arrived.Load() < (receivers-hanging)*events {
			time.Sleep(20 * time.Millisecond)
			most = max(most, inUse())
		}
		b.ReportMetric(float64(arrived.Load())/time.Since(begin).Seconds(), "notifications/s")
		b.ReportMetric(float64(most-min(before, most))/(1<<20), "MB")
		_ = s.Close()
	}
}

func inUse() uint64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
