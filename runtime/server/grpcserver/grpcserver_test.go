package grpcserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/gen/proto"
	"github.com/a2agen/a2agen/runtime/server"
)

func echo() server.Skill {
	return run("echo", func(_ context.Context, t *server.Task) (string, error) {
		return "", t.Reply(runtime.Text("you said " + t.Text()))
	})
}

func count() server.Skill {
	return run("count", func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("numbers")
		for _, n := range []string{"one ", "two ", "three "} {
			if _, err := io.WriteString(w, n); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	})
}

// versions are those with a protobuf definition.
var versions = []string{"1.0", "0.3"}

// R155: the version that clients ask for is metadata. The service says it, too, so that those of 0.3 need none.
func TestACallIsAnsweredInEveryVersion(t *testing.T) {
	c := start(t, []server.Skill{echo()}).dial()
	for _, version := range versions {
		for _, named := range []bool{false, true} {
			ctx := t.Context()
			if named {
				ctx = metadata.AppendToOutgoingContext(ctx, "a2a-version", version)
			}
			got, err := send(ctx, c, operation(t, version, runtime.RoleSend), message("hello"))
			m, ok := got.(runtime.Message)
			if err != nil || !ok || m.Contents()[0].Text != "you said hello" {
				t.Errorf("%s, named: %v: %v, %v", version, named, got, err)
			}
		}
	}
}

func TestAStreamIsAnsweredInEveryVersion(t *testing.T) {
	c := start(t, []server.Skill{count()}).dial()
	for _, version := range versions {
		all, err := open(t.Context(), t, c, version, runtime.RoleStream, message("go")).rest()
		if err != nil {
			t.Fatal(err)
		}
		first, last := all[0].EventInfo(), all[len(all)-1].EventInfo()
		if first.Kind != runtime.EventTask || last.State != runtime.StateCompleted {
			t.Errorf("%s: the stream begins with %v and ends with %v", version, first, last)
		}
		got, err := send(t.Context(), c, operation(t, version, runtime.RoleGet), taskRequest(runtime.RoleGet, first.TaskID))
		task, ok := got.(runtime.Task)
		if err != nil || !ok || len(task.ArtifactList()) != 1 {
			t.Errorf("%s: %v, %v", version, got, err)
		}
	}
}

// A stream that a message answers has that one event. It may be resumed by the number of an event, as over HTTP.
func TestAStreamOfAReplyHasOneEvent(t *testing.T) {
	c := start(t, []server.Skill{echo()}).dial()
	all, err := open(t.Context(), t, c, "1.0", runtime.RoleStream, message("hello")).rest()
	if err != nil || len(all) != 1 || all[0].EventInfo().Kind != runtime.EventMessage {
		t.Errorf("%v, %v", all, err)
	}
}

// R160: an error has the code of the table, the specification's words, and an ErrorInfo.
func TestErrorsHaveACodeAndDetails(t *testing.T) {
	c := start(t, []server.Skill{echo()}).dial()
	get := taskRequest(runtime.RoleGet, "none")
	for version, message := range map[string]string{"1.0": "Task not found", "0.3": "TaskNotFoundError: Task not found"} {
		_, err := send(t.Context(), c, operation(t, version, runtime.RoleGet), get)
		s := status.Convert(err)
		if s.Code() != codes.NotFound || s.Message() != message {
			t.Errorf("%s: %v", version, err)
		}
		info := infoIn(t, s.Proto())
		if info.reason != "TASK_NOT_FOUND" || info.domain != "a2a-protocol.org" || info.metadata["taskId"] != "none" {
			t.Errorf("%s: %+v", version, info)
		}
	}
	_, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleGet), taskRequest(runtime.RoleGet, ""))
	violated := detailsIn(status.Convert(err).Proto(), runtime.TypeBadRequest)
	if status.Code(err) != codes.InvalidArgument || len(violated) != 1 || !strings.Contains(violated[0], "id") {
		t.Errorf("%v with %q", err, violated)
	}
}

// errorInfo is what a google.rpc.ErrorInfo says.
type errorInfo struct {
	reason, domain string
	metadata       map[string]string
}

func detailsIn(s *spb.Status, kind string) (all []string) {
	for _, d := range s.GetDetails() {
		if d.GetTypeUrl() == kind {
			all = append(all, string(d.GetValue()))
		}
	}
	return all
}

func infoIn(t *testing.T, s *spb.Status) errorInfo {
	t.Helper()
	all := detailsIn(s, runtime.TypeErrorInfo)
	if len(all) != 1 {
		t.Fatalf("%d ErrorInfos in %v", len(all), s)
	}
	info := errorInfo{metadata: map[string]string{}}
	var r proto.Reader
	r.Reset([]byte(all[0]))
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag >> 3 {
		case 1:
			info.reason = r.String()
		case 2:
			info.domain = r.String()
		case 3:
			m := r.Enter(1)
			var k, v string
			for tag := r.Tag(); tag != 0; tag = r.Tag() {
				if tag>>3 == 1 {
					k = r.String()
				} else {
					v = r.String()
				}
			}
			r.Leave(m)
			info.metadata[k] = v
		}
	}
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	return info
}

// What is no call of an operation has gRPC's own codes.
func TestBadCallsAreRefused(t *testing.T) {
	c := start(t, []server.Skill{echo()}, server.WithLimits(server.Limits{Body: 1000})).dial()
	sending := operation(t, "1.0", runtime.RoleSend).GRPC
	good, err := operation(t, "1.0", runtime.RoleSend).AppendRequest(nil, message("hello"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		method   string
		body     []byte
		metadata []string
		want     codes.Code
	}{
		"an unknown method":      {"/lf.a2a.v1.A2AService/Nothing", nil, nil, codes.Unimplemented},
		"an unknown service":     {"/a2a.v9.A2AService/SendMessage", nil, nil, codes.Unimplemented},
		"no protobuf":            {sending, []byte("hello"), nil, codes.InvalidArgument},
		"a message cut short":    {sending, good[:len(good)-3], nil, codes.InvalidArgument},
		"too much":               {sending, make([]byte, 1001), nil, codes.ResourceExhausted},
		"nothing":                {sending, nil, nil, codes.InvalidArgument},
		"a version nobody has":   {sending, good, []string{"a2a-version", "99.0"}, codes.FailedPrecondition},
		"another one's version":  {sending, good, []string{"a2a-version", "0.3"}, codes.FailedPrecondition},
		"one without a protobuf": {sending, good, []string{"a2a-version", "0.1"}, codes.FailedPrecondition},
	} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), tt.metadata...)
		var out []byte
		if err := c.Invoke(ctx, tt.method, &tt.body, &out); status.Code(err) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleSend), message("hello")); err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestMessagesMayBeCompressed(t *testing.T) {
	c := start(t, []server.Skill{echo()}).dial()
	long := strings.Repeat("a long text ", 10_000)
	got, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleSend), message(long), grpc.UseCompressor(gzip.Name))
	if m, ok := got.(runtime.Message); err != nil || !ok || m.Contents()[0].Text != "you said "+long {
		t.Errorf("%.100v, %v", got, err)
	}
}

// R49: extensions are asked for and echoed in metadata.
func TestExtensionsAreEchoed(t *testing.T) {
	card := strings.Replace(testCard, `"streaming":true`, `"streaming":true,"extensions":[{"uri":"https://example.com/x"}]`, 1)
	c := startCard(t, card, []server.Skill{echo()}).dial()
	for version, keys := range map[string][]string{"1.0": {"a2a-extensions"}, "0.3": {"a2a-extensions", "x-a2a-extensions"}} {
		for _, key := range []string{"a2a-extensions", "x-a2a-extensions"} {
			ctx := metadata.AppendToOutgoingContext(t.Context(), key, "https://example.com/y, https://example.com/x")
			var header metadata.MD
			if _, err := send(ctx, c, operation(t, version, runtime.RoleSend), message("hi"), grpc.Header(&header)); err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				if !slices.Equal(header[k], []string{"https://example.com/x"}) {
					t.Errorf("%s: %s is %q", version, k, header[k])
				}
			}
		}
	}
}

// Identity functions see a call as the request that it is, before its message is read.
func TestTheCallerIsKnownFirst(t *testing.T) {
	var seen *http.Request
	identity := server.WithProxyIdentity(func(r *http.Request) (string, error) {
		seen = r
		if who := r.Header.Get("Authorization"); who != "" {
			return who, nil
		}
		return "", errors.New("nobody")
	})
	c := start(t, []server.Skill{count()}, identity).dial()
	var out []byte
	garbage := []byte("no protobuf")
	op := operation(t, "1.0", runtime.RoleSend)
	err := c.Invoke(t.Context(), op.GRPC, &garbage, &out)
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("nobody: %v", err)
	}
	if seen.Method != http.MethodPost || seen.URL.Path != op.GRPC || seen.ProtoMajor != 2 || seen.Host == "" || seen.TLS != nil ||
		!strings.HasPrefix(seen.RemoteAddr, "127.0.0.1:") || seen.Header.Get("Content-Type") != "application/grpc+proto" {
		t.Errorf("%+v", seen)
	}
	ann := metadata.AppendToOutgoingContext(t.Context(), "authorization", "ann")
	bob := metadata.AppendToOutgoingContext(t.Context(), "authorization", "bob")
	got, err := send(ann, c, op, message("go"))
	if err != nil {
		t.Fatal(err)
	}
	id := got.(runtime.Task).TaskInfo().ID
	get := operation(t, "1.0", runtime.RoleGet)
	if _, err := send(ann, c, get, taskRequest(runtime.RoleGet, id)); err != nil {
		t.Errorf("ann: %v", err)
	}
	if _, err := send(bob, c, get, taskRequest(runtime.RoleGet, id)); status.Code(err) != codes.NotFound {
		t.Errorf("bob: %v", err)
	}
}

// A message that is sent again with its key is taken on once.
func TestAMessageThatComesAgainIsTakenOnOnce(t *testing.T) {
	c := start(t, []server.Skill{count()}).dial()
	var ids []string
	for range 2 {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "idempotency-key", "k1")
		got, err := send(ctx, c, operation(t, "1.0", runtime.RoleSend), message("go"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, got.(runtime.Task).TaskInfo().ID)
	}
	if ids[0] != ids[1] {
		t.Errorf("%q", ids)
	}
}

// A panic is an internal error; user code that ends the goroutine does not leave the caller waiting.
func TestUserCodeThatBreaksIsContained(t *testing.T) {
	for name, breaks := range map[string]func(){
		"panic": func() { panic("a secret") },
		"exit":  exitGoroutine,
	} {
		router := server.WithRouter(func(context.Context, runtime.Message) (string, error) { breaks(); return "", nil })
		c := start(t, []server.Skill{echo(), count()}, router).dial()
		_, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleSend), message("hello"))
		if status.Code(err) != codes.Internal || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// 0.3 names tasks by paths, and a history length of 0, which is none in its proto, is the whole history.
func TestTasksOf03HaveNames(t *testing.T) {
	c := start(t, []server.Skill{count()}).dial()
	got, err := send(t.Context(), c, operation(t, "0.3", runtime.RoleSend), message("go"))
	if err != nil {
		t.Fatal(err)
	}
	id := got.(runtime.Task).TaskInfo().ID
	get := operation(t, "0.3", runtime.RoleGet)
	for name, want := range map[string]codes.Code{"tasks/" + id: codes.OK, "tasks/none": codes.NotFound, "elsewhere/" + id: codes.NotFound} {
		var w proto.Writer
		w.Reset(nil)
		w.String(1<<3|2, name)
		in, err := w.Done()
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		if err := c.Invoke(t.Context(), get.GRPC, &in, &out); status.Code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
		if want != codes.OK {
			continue
		}
		task, err := get.Read(out)
		if err != nil || task.(runtime.Task).TaskInfo().History != 1 {
			t.Errorf("%s: %+v, %v", name, task, err)
		}
	}
}
