package grpcserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// A connection has so many calls at a time: the next one waits until there is room.
func TestAConnectionHasABoundOfCalls(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}, 3), make(chan struct{})
	a := start(t, []server.Skill{run("slow", func(_ context.Context, t *server.Task) (string, error) {
		began <- struct{}{}
		<-release
		return "done", nil
	})}, grpcserver.Serve(grpcserver.WithStreams(2)))
	c := a.dial()
	answers := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := send(context.Background(), c, operation(t, "1.0", runtime.RoleSend), message("go"))
			answers <- err
		}()
	}
	<-began
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	get := operation(t, "1.0", runtime.RoleGet)
	if _, err := send(ctx, c, get, taskRequest(runtime.RoleGet, "x")); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a call too many: %v", err)
	}
	if _, err := send(t.Context(), a.dial(), get, taskRequest(runtime.RoleGet, "x")); status.Code(err) != codes.NotFound {
		t.Errorf("another connection: %v", err)
	}
	close(release)
	for range 3 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// Headers have the limit that they have over HTTP/1.
func TestHeadersAreBounded(t *testing.T) {
	c := start(t, []server.Skill{echo()}).dial()
	for size, good := range map[int]bool{40 << 10: true, binding.MaxHeader: false} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x-long", strings.Repeat("x", size))
		_, err := send(ctx, c, operation(t, "1.0", runtime.RoleSend), message("hello"))
		if (err == nil) != good {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// A connection without calls is closed in good order; one that pings all the time is told to calm down.
func TestIdleConnectionsAreClosed(t *testing.T) {
	a := start(t, []server.Skill{echo()}, server.WithLimits(server.Limits{Idle: 200 * time.Millisecond}))
	op := operation(t, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message("hello"))
	if err != nil {
		t.Fatal(err)
	}
	p := a.connect()
	p.call(op.GRPC, in, 0)
	if got := p.goAway(); got != http2.ErrCodeNo {
		t.Errorf("an idle connection: %v", got)
	}
}

func TestPingsAreBounded(t *testing.T) {
	a := start(t, []server.Skill{echo()})
	op := operation(t, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message("hello"))
	if err != nil {
		t.Fatal(err)
	}
	p := a.connect()
	p.call(op.GRPC, in, 0)
	if got := p.status(10 * time.Second); got != "0" {
		t.Fatal(got)
	}
	for range 10 {
		if p.WritePing(false, [8]byte{}) != nil {
			break
		}
	}
	if got := p.goAway(); got != http2.ErrCodeEnhanceYourCalm {
		t.Errorf("a connection of pings: %v", got)
	}
}

// goAway reads on until the agent takes leave, and returns for what reason.
func (p *peer) goAway() http2.ErrCode {
	p.t.Helper()
	p.must(p.SetReadDeadline(time.Now().Add(10 * time.Second)))
	for {
		f, err := p.ReadFrame()
		p.must(err)
		if g, ok := f.(*http2.GoAwayFrame); ok {
			return g.ErrCode
		}
	}
}

// What is in flight when a connection ends is over for the agent, too: nothing is left of it.
func TestACallEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	a := start(t, []server.Skill{endless()}, server.WithLimits(server.Limits{Streams: 1}))
	c := a.dial()
	if _, err := open(t.Context(), t, c, "1.0", runtime.RoleStream, message("go")).next(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	again := a.dial()
	for try := 0; ; try++ {
		_, err := open(t.Context(), t, again, "1.0", runtime.RoleStream, message("go")).next()
		if err == nil {
			return
		}
		if status.Code(err) != codes.Unavailable || try > 200 {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
