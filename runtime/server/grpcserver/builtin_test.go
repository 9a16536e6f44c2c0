package grpcserver_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// asking is how many streams a connection may have of gRPC's own services.
const asking = 8

var listServices = &reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}

// reflect opens a stream of reflection and asks once.
func reflect(ctx context.Context, c *grpc.ClientConn) error {
	st, err := reflectionpb.NewServerReflectionClient(c).ServerReflectionInfo(ctx)
	if err != nil {
		return err
	}
	if err := st.Send(listServices); err != nil && err != io.EOF { // of which Recv says why
		return err
	}
	_, err = st.Recv()
	return err
}

// watchHealth opens a stream of health.
func watchHealth(ctx context.Context, c *grpc.ClientConn) error {
	st, err := healthpb.NewHealthClient(c).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return err
	}
	_, err = st.Recv()
	return err
}

// A connection has few streams of gRPC's own services at a time, on a connection of the transport's and over net/http;
// what ends makes room.
func TestAConnectionHasFewStreamsOfHealthAndReflection(t *testing.T) {
	for name, a := range map[string]*agent{"own": start(t, []server.Skill{echo()}), "mounted": mounted(t, testCard, []server.Skill{echo()})} {
		c := a.plain()
		ctx, leave := context.WithCancel(t.Context())
		for i := range asking {
			open := reflect
			if i%2 == 0 {
				open = watchHealth
			}
			if err := open(ctx, c); err != nil {
				t.Fatalf("%s: %d: %v", name, i, err)
			}
		}
		for _, open := range []func(context.Context, *grpc.ClientConn) error{reflect, watchHealth} {
			if err := open(t.Context(), c); status.Code(err) != codes.ResourceExhausted {
				t.Errorf("%s: one too many: %v", name, err)
			}
		}
		if _, err := healthpb.NewHealthClient(c).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
			t.Errorf("%s: a check is no stream: %v", name, err)
		}
		if err := reflect(t.Context(), a.plain()); err != nil {
			t.Errorf("%s: another connection: %v", name, err)
		}
		leave()
		again, cancel := context.WithCancel(t.Context())
		for try := 0; reflect(again, c) != nil; try++ {
			if try > 200 {
				t.Fatalf("%s: nothing gets in any more", name)
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}
}

// Streams of gRPC's own services count as streams, and are a share of them: those of tasks find room.
func TestStreamsOfHealthAndReflectionAreAShareOfAll(t *testing.T) {
	a := start(t, []server.Skill{parked()}, server.WithLimits(server.Limits{Streams: 17, Grace: 10 * time.Millisecond}))
	if err := watchHealth(t.Context(), a.plain()); err != nil {
		t.Fatal(err)
	}
	if err := reflect(t.Context(), a.plain()); err != nil {
		t.Fatal(err)
	}
	if err := reflect(t.Context(), a.plain()); status.Code(err) != codes.Unavailable {
		t.Errorf("one too many: %v", err)
	}
	c := a.dial()
	for i := range 16 {
		_, err := open(t.Context(), t, c, "1.0", runtime.RoleStream, message("go")).next()
		if good := i < 15; (err == nil) != good {
			t.Errorf("stream %d of tasks: %v", i, err)
		}
	}
}

// Reflection is for those who meet what the card demands; health is for everybody.
func TestReflectionWantsWhatTheCardDemands(t *testing.T) {
	for name, a := range map[string]*agent{
		"own": startCard(t, authCard, []server.Skill{quiet()}, guards()), "mounted": mounted(t, authCard, []server.Skill{quiet()}, guards()),
	} {
		c := a.plain()
		for token, want := range map[string]codes.Code{"": codes.Unauthenticated, "Bearer nobody": codes.Unauthenticated, "Bearer bob": codes.OK} {
			ctx := t.Context()
			if token != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", token)
			}
			if err := reflect(ctx, c); status.Code(err) != want {
				t.Errorf("%s: %q: %v", name, token, err)
			}
		}
		if err := watchHealth(t.Context(), c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := healthpb.NewHealthClient(c).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A stream of reflection ends with the credential of its caller.
func TestReflectionEndsWithItsCredential(t *testing.T) {
	c := startCard(t, authCard, []server.Skill{quiet()}, guards(), server.WithStreamGrace(0)).plain()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer brief")
	st, err := reflectionpb.NewServerReflectionClient(c).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Recv(); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
}

// A client of reflection that asks and takes nothing, or asks for nothing, is not waited for; nor is one that says too
// much.
func TestReflectionHasTheLimitsOfCalls(t *testing.T) {
	t.Parallel()
	const method = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	limits := server.WithLimits(server.Limits{Stall: 200 * time.Millisecond, Read: 200 * time.Millisecond, Streams: 8})
	symbol := "lf.a2a.v1.A2AService"
	ask := "\x22" + string(rune(len(symbol))) + symbol // file_containing_symbol
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(ask))), ask...)
	for name, a := range map[string]*agent{"own": start(t, []server.Skill{echo()}, limits), "mounted": mounted(t, testCard, []server.Skill{echo()}, limits)} {
		p := a.connect()
		p.send(method, frame, false)
		if got := p.status(10 * time.Second); got != wireDeadline {
			t.Errorf("%s: who asks no more: %q", name, got)
		}
		// A stream's place is free again just after its status is out: until then the next one is told to come later.
		answered := func(frame []byte) (got string) {
			for got = wireUnavailable; got == wireUnavailable && t.Context().Err() == nil; {
				p.send(method, frame, true)
				got = p.status(10 * time.Second)
			}
			return got
		}
		if got := answered(append(binary.BigEndian.AppendUint32([]byte{0}, 20<<10), make([]byte, 20<<10)...)); got != wireExhausted {
			t.Errorf("%s: who says too much: %q", name, got)
		}
		if got := answered(compressed(zip(make([]byte, 20<<10)))); got != wireExhausted {
			t.Errorf("%s: who says too much in a small message: %q", name, got)
		}
		idle := a.connect(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		idle.send(method, bytes.Repeat(frame, 100), true)
		for try := 0; ; try++ { // one such stream is all there may be
			err := reflect(t.Context(), a.plain())
			if err == nil {
				break
			}
			if status.Code(err) != codes.Unavailable || try > 500 {
				t.Fatalf("%s: who takes nothing is still there: %v", name, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// Tools that show the details of errors learn what those are.
func TestReflectionKnowsTheDetailsOfErrors(t *testing.T) {
	st, err := reflectionpb.NewServerReflectionClient(start(t, []server.Skill{echo()}).plain()).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range []string{"google.rpc.ErrorInfo", "google.rpc.BadRequest", "google.protobuf.Struct"} {
		if err := st.Send(&reflectionpb.ServerReflectionRequest{
			MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol},
		}); err != nil {
			t.Fatal(err)
		}
		got, err := st.Recv()
		if err != nil {
			t.Fatal(err)
		}
		name := []byte(symbol[strings.LastIndexByte(symbol, '.')+1:])
		if files := got.GetFileDescriptorResponse().GetFileDescriptorProto(); !slices.ContainsFunc(files, func(b []byte) bool { return bytes.Contains(b, name) }) {
			t.Errorf("%s is not known: %v", symbol, got.GetErrorResponse())
		}
	}
}

// On a loopback address a call comes under a name of the machine's, or of the agent's, and from no page of another origin.
func TestOnLoopbackOnlyKnownNamesAndOriginsAreAnswered(t *testing.T) {
	a := start(t, []server.Skill{echo()}, server.WithHosts("agent.test"), server.WithOrigins("https://inspector.example"))
	for _, tt := range []struct {
		authority, origin string
		want              codes.Code
	}{
		{a.addr, "", codes.OK}, {"localhost:80", "", codes.OK}, {"agent.test", "", codes.OK}, {"evil.example", "", codes.PermissionDenied},
		{"evil.example:80", "http://evil.example:80", codes.PermissionDenied}, {a.addr, "https://evil.example", codes.PermissionDenied},
		{a.addr, "null", codes.PermissionDenied}, {a.addr, "http://" + a.addr, codes.OK}, {a.addr, "https://inspector.example", codes.OK},
	} {
		ctx := t.Context()
		if tt.origin != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "origin", tt.origin)
		}
		_, err := send(ctx, a.dial(grpc.WithAuthority(tt.authority)), operation(t, "1.0", runtime.RoleSend), message("hello"))
		if status.Code(err) != tt.want {
			t.Errorf("%+v: %v", tt, err)
		}
		if err := reflect(ctx, a.plain(grpc.WithAuthority(tt.authority))); status.Code(err) != tt.want {
			t.Errorf("reflection: %+v: %v", tt, err)
		}
		if err := watchHealth(ctx, a.plain(grpc.WithAuthority(tt.authority))); err != nil {
			t.Errorf("health is for everybody: %+v: %v", tt, err)
		}
	}
}

// lines is a log that is read while it is written.
type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.String()
}

// parked is a skill that is at work until nobody wants it.
func parked() server.Skill {
	return run("parked", func(ctx context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
}

// A client that leaves early is nothing to look after.
func TestCallsThatAreCanceledEarlyAreNoErrors(t *testing.T) {
	var log lines
	opts := []server.Option{
		server.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), server.WithLimits(server.Limits{Grace: 10 * time.Millisecond}),
	}
	for _, a := range []*agent{start(t, []server.Skill{parked()}, opts...), mounted(t, testCard, []server.Skill{parked()}, opts...)} {
		c := a.dial()
		e, err := open(t.Context(), t, c, "1.0", runtime.RoleStream, message("go")).next()
		if err != nil {
			t.Fatal(err)
		}
		op := operation(t, "1.0", runtime.RoleSubscribe)
		in, err := op.AppendRequest(nil, taskRequest(runtime.RoleSubscribe, e.EventInfo().TaskID))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 1000 {
			ctx, leave := context.WithTimeout(t.Context(), time.Duration(i)*2*time.Microsecond)
			all.Go(func() {
				defer leave()
				st, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, op.GRPC)
				if err == nil && st.SendMsg(&in) == nil && st.CloseSend() == nil {
					_ = st.RecvMsg(new([]byte))
				}
			})
			if i%50 == 0 {
				all.Wait()
			}
		}
		all.Wait()
		_ = c.Close()
		a.stop()
	}
	if said := log.all(); strings.Contains(said, "level=ERROR") {
		t.Errorf("%d errors were logged: %.500s", strings.Count(said, "level=ERROR"), said)
	}
}
