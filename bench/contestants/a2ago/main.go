// Command a2ago is the contestant built on the official Go SDK, github.com/a2aproject/a2a-go/v2: its handlers of all three bindings
// with its in-memory task store and its defaults, without logging.
package main

import (
	"context"
	"iter"
	"log/slog"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"

	"github.com/a2agen/a2agen/bench/internal/child"
	"github.com/a2agen/a2agen/bench/internal/work"
)

func main() { child.Main(newAgent) }

func newAgent(addr, token string) (child.Served, error) {
	card := &a2a.AgentCard{
		Name: work.CardName(token), Description: "benchmark", Version: "1",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface("http://"+addr+"/", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface("http://"+addr+"/", a2a.TransportProtocolHTTPJSON),
		},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Capabilities:       a2a.AgentCapabilities{Streaming: true},
		Skills:             []a2a.AgentSkill{{ID: "bench", Name: "bench", Description: "answers", Tags: []string{"bench"}}},
	}
	h := a2asrv.NewHandler(&executor{token: token}, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/{$}", a2asrv.NewJSONRPCHandler(h))
	mux.Handle("/", a2asrv.NewRESTHandler(h))
	overGRPC := grpc.NewServer()
	a2agrpc.NewHandler(h).RegisterWith(overGRPC)
	return child.Served{HTTP: mux, GRPC: overGRPC}, nil
}

type executor struct{ token string }

// Execute yields the events of one request.
func (e *executor) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		cmd := work.Parse(ec.Message.Parts[0].Text())
		if cmd.Kind == work.Message {
			yield(a2a.NewMessageForTask(a2a.MessageRoleAgent, a2a.TaskInfo{ContextID: ec.ContextID}, a2a.NewTextPart(work.Reply(e.token))), nil)
			return
		}
		working := a2a.NewMessageForTask(a2a.MessageRoleAgent, ec, a2a.NewTextPart(work.Working))
		if !yield(a2a.NewSubmittedTask(ec, ec.Message), nil) ||
			!yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateWorking, working), nil) {
			return
		}
		if !e.artifact(ctx, ec, cmd, func(ev a2a.Event) bool { return yield(ev, nil) }) {
			return
		}
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCompleted, nil), nil)
	}
}

// artifact sends the artifact in one piece or in chunks and reports whether the server still listens.
func (e *executor) artifact(ctx context.Context, ec *a2asrv.ExecutorContext, cmd work.Command, send func(a2a.Event) bool) bool {
	switch cmd.Kind {
	case work.Task:
		ev := a2a.NewArtifactEvent(ec, a2a.NewTextPart(work.Reply(e.token)))
		ev.Artifact.Name = work.ArtifactName
		return send(ev)
	case work.Hold:
		<-ctx.Done()
		return false
	}
	var id a2a.ArtifactID
	for i := range cmd.N {
		part := a2a.NewTextPart(work.Chunk(e.token, i))
		ev := a2a.NewArtifactUpdateEvent(ec, id, part)
		if i == 0 {
			ev = a2a.NewArtifactEvent(ec, part)
			id = ev.Artifact.ID
		}
		ev.Artifact.Name = work.ArtifactName
		if !send(ev) {
			return false
		}
		cmd.Rest()
	}
	return true
}

// Cancel marks the task as canceled.
func (*executor) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(ec, a2a.TaskStateCanceled, nil), nil)
	}
}
