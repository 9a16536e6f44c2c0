package grpcserver_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// Statuses as they are on the wire.
const (
	wireOK          = "0"
	wireInvalid     = "3"
	wireDeadline    = "4"
	wireExhausted   = "8"
	wireUnavailable = "14"
)

// large is a skill whose task is larger than any window.
func large() server.Skill {
	return run("large", func(_ context.Context, t *server.Task) (string, error) {
		return strings.Repeat("0123456789abcdef", 64<<10), nil
	})
}

// endless is a skill that goes on until nobody wants it.
func endless() server.Skill {
	return run("endless", func(ctx context.Context, t *server.Task) (string, error) {
		w := t.Stream("numbers")
		for ctx.Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 4<<10)); err != nil {
				break
			}
		}
		return "", ctx.Err()
	})
}

// A message has to come within the limit of bodies: nothing of it, or the beginning of it, holds nothing for ever. Other
// calls on the connection go on.
func TestAMessageThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	a := start(t, []server.Skill{echo()}, server.WithLimits(server.Limits{Read: 300 * time.Millisecond}))
	op := operation(t, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message("hello"))
	if err != nil {
		t.Fatal(err)
	}
	p := a.connect()
	for _, cut := range []int{1, len(in), len(in) + 4} {
		p.call(op.GRPC, in, cut)
		if got := p.status(10 * time.Second); got != wireDeadline {
			t.Errorf("cut by %d bytes: %s", cut, got)
		}
	}
	p.call(op.GRPC, in, 0)
	if got := p.status(10 * time.Second); got != "0" {
		t.Errorf("the connection is of no use any more: %s", got)
	}
}

// A connection that says nothing, or not enough, is closed within the limit of headers.
func TestASilentConnectionIsClosed(t *testing.T) {
	t.Parallel()
	a := start(t, []server.Skill{echo()}, server.WithLimits(server.Limits{Header: 200 * time.Millisecond}))
	for name, first := range map[string]string{
		"nothing": "", "a letter": "P", "the preface": http2.ClientPreface,
		"a frame cut short": http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x20\x01",
	} {
		c, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, first); err != nil {
			t.Fatal(err)
		}
		if p := (&peer{t: t, Conn: c}); !p.closed() {
			t.Errorf("%s: the connection is still open", name)
		}
		_ = c.Close()
	}
}

// A client that asks for a stream and takes nothing of it is dropped, and its stream is closed.
func TestAStreamThatNobodyReadsEnds(t *testing.T) {
	t.Parallel()
	a := start(t, []server.Skill{endless()}, server.WithLimits(server.Limits{Stall: 300 * time.Millisecond, Streams: 1}))
	c := a.dial()
	first := open(t.Context(), t, c, "1.0", runtime.RoleStream, message("go"))
	if _, err := first.next(); err != nil {
		t.Fatal(err)
	}
	for try := 0; ; try++ { // there is room for one stream only
		second := open(t.Context(), t, c, "1.0", runtime.RoleStream, message("go"))
		_, err := second.next()
		if err == nil {
			break
		}
		if status.Code(err) != codes.Unavailable || try > 100 {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := first.rest(); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the first stream ends with %v", err)
	}
}

// A client that asks for a large answer and takes nothing of it is dropped with its connection, because the answer would
// stay in memory.
func TestALargeAnswerThatNobodyTakesIsDropped(t *testing.T) {
	t.Parallel()
	a := start(t, []server.Skill{large()}, server.WithLimits(server.Limits{Stall: 300 * time.Millisecond}))
	op := operation(t, "1.0", runtime.RoleSend)
	got, err := send(t.Context(), a.dial(), op, message("go"))
	if err != nil {
		t.Fatal(err)
	}
	get := operation(t, "1.0", runtime.RoleGet)
	in, err := get.AppendRequest(nil, taskRequest(runtime.RoleGet, got.(runtime.Task).TaskInfo().ID))
	if err != nil {
		t.Fatal(err)
	}
	p := a.connect(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	if p.call(get.GRPC, in, 0); !p.closed() {
		t.Error("the connection is still open")
	}
}

// The same holds for a call that net/http serves, whose connection may be of use to others.
func TestAnAnswerOverNetHTTPThatNobodyTakesIsDropped(t *testing.T) {
	t.Parallel()
	a := mounted(t, testCard, []server.Skill{large()}, server.WithLimits(server.Limits{Stall: 300 * time.Millisecond}))
	op := operation(t, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message("go"))
	if err != nil {
		t.Fatal(err)
	}
	p := a.connect(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	p.call(op.GRPC, in, 0)
	if got := p.status(10 * time.Second); got != http2.ErrCodeInternal.String() {
		t.Errorf("the call ends with %q", got)
	}
}

// Messages that come at the same time have a budget: when it is used up they are refused, to come again.
func TestMessagesThatComeHaveABudget(t *testing.T) {
	t.Parallel()
	a := start(t, []server.Skill{echo()}, server.WithLimits(server.Limits{Bodies: 256 << 10}))
	op := operation(t, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message(strings.Repeat("a long text ", 20_000)))
	if err != nil {
		t.Fatal(err)
	}
	var peers []*peer
	for range 8 { // more than fits is on its way, and nothing of it is complete
		p := a.connect()
		p.part(op.GRPC, in, 60<<10)
		peers = append(peers, p)
	}
	refused := 0
	for _, p := range peers {
		if p.status(time.Second) == wireExhausted {
			refused++
		}
	}
	if refused < 2 { // those that came when others had been refused fit
		t.Errorf("%d of %d were refused", refused, len(peers))
	}
	for range 100 { // what was refused is given back when the garbage collector has seen it
		if _, err = send(t.Context(), a.dial(), op, message("hello")); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("nothing gets in any more: %v", err)
}

// A deadline of the client's reaches the handler of an operation that waits, and ends the wait.
func TestTheClientsDeadlineEndsTheWait(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	c := start(t, []server.Skill{run("slow", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		<-release
		return "done", nil
	})}).dial()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := send(ctx, c, operation(t, "1.0", runtime.RoleSend), message("go"))
	if status.Code(err) != codes.DeadlineExceeded || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// A shutdown lets calls finish, ends streams with what they still have to say, and closes connections.
func TestAShutdownLetsCallsFinish(t *testing.T) {
	began, release := make(chan struct{}, 2), make(chan struct{})
	a := start(t, []server.Skill{run("slow", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		began <- struct{}{}
		<-release
		return "done", nil
	})})
	c := a.dial()
	st := open(context.Background(), t, c, "1.0", runtime.RoleStream, message("go"))
	answered := make(chan error, 1)
	go func() {
		_, err := send(context.Background(), c, operation(t, "1.0", runtime.RoleSend), message("go"))
		answered <- err
	}()
	<-began
	<-began
	stopped := make(chan struct{})
	go func() {
		a.stop()
		close(stopped)
	}()
	for a.accepts() {
		time.Sleep(5 * time.Millisecond)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Errorf("the call: %v", err)
	}
	all, err := st.rest()
	if err != nil || all[len(all)-1].EventInfo().State != runtime.StateCompleted {
		t.Errorf("the stream: %v, %v", all, err)
	}
	<-stopped
}

// accepts reports whether somebody answers new connections.
func (a *agent) accepts() bool {
	c, err := net.Dial("tcp", a.addr)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// FuzzFrame sends what is no message, or not one of gRPC, as one: every call ends with a status, and the agent lives.
func FuzzFrame(f *testing.F) {
	op := operation(f, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message("hello"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(0), uint32(len(in)), in)
	f.Add(byte(1), uint32(len(in)), in)
	f.Add(byte(0), uint32(1<<31), []byte{})
	f.Add(byte(9), uint32(3), []byte("abcdef"))
	a := start(f, []server.Skill{echo()})
	p := a.connect()
	f.Fuzz(func(t *testing.T, compressed byte, length uint32, data []byte) {
		frame := append(binary.BigEndian.AppendUint32([]byte{compressed}, length), data...)
		p.t = t
		p.send(op.GRPC, frame[:min(len(frame), 16<<10)], true)
		if got := p.status(10 * time.Second); got == "" {
			t.Errorf("%q ends with nothing", frame)
		}
	})
}
