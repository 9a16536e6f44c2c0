package load

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/a2agen/a2agen/bench/internal/raw"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// askGRPC runs one request against a server that answers a call with the first of some messages, a stream with all.
func askGRPC(t *testing.T, k work.Kind, n int, answers ...string) error {
	t.Helper()
	take := func(recv func(any) error) error {
		var request []byte
		err := recv(&request)
		if !bytes.Contains(request, []byte("m-000000007")) {
			t.Errorf("request is %q (%v)", request, err)
		}
		return err
	}
	message := func(i int) *[]byte {
		var m a2apb.StreamResponse // has task and message as the answer to a send does
		src, err := []byte(nil), protojson.Unmarshal([]byte(answers[i]), &m)
		if err == nil {
			src, err = proto.Marshal(&m)
		}
		if err != nil {
			t.Error(err)
		}
		return &src
	}
	srv := grpc.NewServer(grpc.ForceServerCodecV2(raw.Codec))
	srv.RegisterService(&grpc.ServiceDesc{
		ServiceName: a2apb.A2AService_ServiceDesc.ServiceName, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "SendMessage", Handler: func(_ any, _ context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return message(0), take(dec)
		}}},
		Streams: []grpc.StreamDesc{{StreamName: "SendStreamingMessage", ServerStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
			err := take(s.RecvMsg)
			for i := range answers {
				if err == nil {
					err = s.SendMsg(message(i))
				}
			}
			return err
		}}},
	}, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(ln)
	defer srv.Stop()
	addr := ln.Addr().String()
	l, err := GRPC.binding.dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	driver := driver{l: l, r: GRPC.newRequest(addr, k, n), check: newChecker(GRPC, k, n, token)}
	return driver.drive(7, 8, 1, nil)
}

func TestAnswersOverGRPCAreChecked(t *testing.T) {
	reply := work.Reply(token)
	message := `{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"` + reply + `"}]}}`
	task := `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"` + reply + `"}]}]}}`
	for name, c := range map[string]struct {
		kind         work.Kind
		answer, want string
	}{
		"a message":                    {work.Message, message, ""},
		"a task":                       {work.Task, task, ""},
		"from another process":         {work.Message, strings.ReplaceAll(message, token, "someone"), "not the answer"},
		"a task in place of a message": {work.Message, task, "wrong kind"},
		"a task that still works":      {work.Task, strings.ReplaceAll(task, "COMPLETED", "WORKING"), "not complete"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, askGRPC(t, c.kind, 0, c.answer), c.want) })
	}
}

func TestStreamsOverGRPCAreChecked(t *testing.T) {
	open := `{"task":{"id":"t","status":{"state":"TASK_STATE_SUBMITTED"}}}`
	chunk := `{"artifactUpdate":{"artifact":{"parts":[{"text":"` + work.Chunk(token, 0) + `"}]}}}`
	done := `{"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED"}}}`
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"complete":              {[]string{open, chunk, done}, ""},
		"with a chunk lost":     {[]string{open, done}, "after 0 of 1"},
		"without the end":       {[]string{open, chunk}, "completed: false"},
		"with a chunk too many": {[]string{open, chunk, chunk, done}, "this came"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, askGRPC(t, work.Stream, 1, c.events...), c.want) })
	}
}
