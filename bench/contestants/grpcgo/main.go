// Command grpcgo is google.golang.org/grpc alone, with its defaults and a codec that leaves messages as they are: it reads the
// request and sends a canned answer, or a canned stream. It is to gRPC what the bare handler is to HTTP.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/a2agen/a2agen/bench/internal/child"
	"github.com/a2agen/a2agen/bench/internal/raw"
	"github.com/a2agen/a2agen/bench/internal/work"
)

func main() { child.Main(newAgent) }

// The answers are what an A2A 1.0 server would send.
const (
	taskRef = `"contextId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01","taskId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c02"`
	task    = `"task":{"id":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c02","contextId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01",`
	at      = `"timestamp":"2026-11-20T10:00:00.000Z"`
	working = `{"messageId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c05","role":"ROLE_AGENT","parts":[{"text":"` + work.Working + `"}]}`

	messageAnswer = `{"message":{"messageId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c03",` +
		`"contextId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01","role":"ROLE_AGENT","parts":[{"text":"%s"}]}}`
	taskAnswer = `{` + task + `"status":{"state":"TASK_STATE_COMPLETED",` + at + `},` +
		`"artifacts":[{"artifactId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c04","name":"` + work.ArtifactName + `","parts":[{"text":"%s"}]}],` +
		`"history":[{"messageId":"m-000000001","role":"ROLE_USER","parts":[{"text":"%s"}]},` + working + `]}}`
	submitEvent = `{` + task + `"status":{"state":"TASK_STATE_SUBMITTED",` + at + `}}}`
	workEvent   = `{"statusUpdate":{` + taskRef + `,"status":{"state":"TASK_STATE_WORKING","message":` + working + `,` + at + `}}}`
	chunkEvent  = `{"artifactUpdate":{` + taskRef + `,"artifact":{"artifactId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c04",` +
		`"name":"` + work.ArtifactName + `","parts":[{"text":"%s"}]},"append":true}}`
	doneEvent = `{"statusUpdate":{` + taskRef + `,"status":{"state":"TASK_STATE_COMPLETED",` + at + `}}}`
)

// agent has its answers as protobuf.
type agent struct {
	message, task                []byte
	submitted, working, finished []byte
	chunks                       [][]byte
}

func newAgent(_, token string) (child.Served, error) {
	a := &agent{
		message:   canned(new(a2apb.SendMessageResponse), messageAnswer, work.Reply(token)),
		task:      canned(new(a2apb.SendMessageResponse), taskAnswer, work.Reply(token), work.Text(work.Task, 0)),
		submitted: canned(new(a2apb.StreamResponse), submitEvent),
		working:   canned(new(a2apb.StreamResponse), workEvent),
		finished:  canned(new(a2apb.StreamResponse), doneEvent),
	}
	const most = 1000
	for i := range most {
		a.chunks = append(a.chunks, canned(new(a2apb.StreamResponse), chunkEvent, work.Chunk(token, i)))
	}
	s := grpc.NewServer(grpc.ForceServerCodecV2(raw.Codec))
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: a2apb.A2AService_ServiceDesc.ServiceName,
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "SendMessage", Handler: send}},
		Streams:     []grpc.StreamDesc{{StreamName: "SendStreamingMessage", Handler: stream, ServerStreams: true}},
	}, a)
	card := fmt.Appendf(nil, `{"name":%q}`, work.CardName(token))
	return child.Served{GRPC: s, HTTP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(card) })}, nil
}

// canned makes protobuf of JSON.
func canned(m proto.Message, format string, args ...any) []byte {
	if err := protojson.Unmarshal(fmt.Appendf(nil, format, args...), m); err != nil {
		panic(err)
	}
	src, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return src
}

// command finds the command by its surroundings instead of decoding the request.
func command(request []byte) work.Command {
	head, _, _ := bytes.Cut(request, []byte(" |"))
	from := len(head)
	for from > 0 && (head[from-1] >= 'a' && head[from-1] <= 'z' || head[from-1] >= '0' && head[from-1] <= '9' || head[from-1] == ' ') {
		from--
	}
	return work.Parse(string(head[from:]) + " |")
}

func send(srv any, _ context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var request []byte
	if err := dec(&request); err != nil {
		return nil, err
	}
	a := srv.(*agent)
	switch command(request).Kind {
	case work.Message:
		return &a.message, nil
	case work.Task:
		return &a.task, nil
	}
	return nil, fmt.Errorf("unknown command in %q", request)
}

// stream sends the chunks between the events that open and close a task; a stream to hold open has only the opening ones.
func stream(srv any, s grpc.ServerStream) error {
	var request []byte
	if err := s.RecvMsg(&request); err != nil {
		return err
	}
	a, cmd := srv.(*agent), command(request)
	for _, event := range [][]byte{a.submitted, a.working} {
		if err := s.SendMsg(&event); err != nil {
			return err
		}
	}
	if cmd.Kind == work.Hold {
		<-s.Context().Done()
		return nil
	}
	for _, chunk := range a.chunks[:cmd.N] {
		if err := s.SendMsg(&chunk); err != nil {
			return err
		}
		cmd.Rest()
	}
	return s.SendMsg(&a.finished)
}
