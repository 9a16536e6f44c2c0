// Command trpc is the contestant built on trpc.group/trpc-go/trpc-a2a-go: its server with its in-memory task manager.
//
// It speaks A2A 0.2 JSON-RPC. Two defaults are changed in its favour: the subscriber's queue blocks instead of dropping
// events when it is full, and the handler runs in a server without a write timeout (its own cuts a stream after 60 s).
package main

import (
	"context"
	"errors"

	"trpc.group/trpc-go/trpc-a2a-go/log"
	"trpc.group/trpc-go/trpc-a2a-go/protocol"
	"trpc.group/trpc-go/trpc-a2a-go/server"
	"trpc.group/trpc-go/trpc-a2a-go/taskmanager"

	"go.uber.org/zap"

	"github.com/a2agen/a2agen/bench/internal/child"
	"github.com/a2agen/a2agen/bench/internal/work"
)

func main() { child.Main(newAgent) }

func newAgent(addr, token string) (child.Served, error) {
	log.Default = zap.NewNop().Sugar()
	manager, err := taskmanager.NewMemoryTaskManager(&processor{token: token}, taskmanager.WithTaskSubscriberBlockingSend(true))
	if err != nil {
		return child.Served{}, err
	}
	streaming, version := true, "0.2.6"
	card := server.AgentCard{
		Name: work.CardName(token), Description: "benchmark", Version: "1", ProtocolVersion: &version,
		URL:                "http://" + addr + "/",
		Capabilities:       server.AgentCapabilities{Streaming: &streaming},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []server.AgentSkill{{ID: "bench", Name: "bench", Tags: []string{"bench"}}},
	}
	s, err := server.NewA2AServer(card, manager, server.WithCORSEnabled(false))
	if err != nil {
		return child.Served{}, err
	}
	return child.Served{HTTP: s.Handler()}, nil
}

type processor struct{ token string }

// ProcessMessage answers a request at once, or with a subscription to what a goroutine goes on to send.
func (p *processor) ProcessMessage(ctx context.Context, m protocol.Message, opts taskmanager.ProcessOptions, h taskmanager.TaskHandler) (*taskmanager.MessageProcessingResult, error) {
	text, ok := m.Parts[0].(*protocol.TextPart)
	if !ok {
		return nil, errors.New("the message does not begin with a text part")
	}
	cmd := work.Parse(text.Text)
	if cmd.Kind == work.Message {
		answer := protocol.NewMessage(protocol.MessageRoleAgent, []protocol.Part{protocol.NewTextPart(work.Reply(p.token))})
		return &taskmanager.MessageProcessingResult{Result: &answer}, nil
	}
	id, err := h.BuildTask(nil, m.ContextID)
	if err != nil {
		return nil, err
	}
	if !opts.Streaming {
		return p.finish(id, cmd, h)
	}
	sub, err := h.SubscribeTask(&id)
	if err != nil {
		return nil, err
	}
	submitted, err := h.GetTask(&id)
	if err != nil {
		return nil, err
	}
	go func() {
		defer sub.Close()
		if sub.Send(protocol.StreamingMessageEvent{Result: submitted.Task()}) == nil {
			p.run(id, cmd, h)
		}
	}()
	return &taskmanager.MessageProcessingResult{StreamingEvents: sub}, nil
}

// finish runs a task to its end and answers with it.
func (p *processor) finish(id string, cmd work.Command, h taskmanager.TaskHandler) (*taskmanager.MessageProcessingResult, error) {
	if err := p.run(id, cmd, h); err != nil {
		return nil, err
	}
	task, err := h.GetTask(&id)
	if err != nil {
		return nil, err
	}
	return &taskmanager.MessageProcessingResult{Result: task.Task()}, nil
}

// run sends a task's events.
func (p *processor) run(id string, cmd work.Command, h taskmanager.TaskHandler) error {
	working := protocol.NewMessage(protocol.MessageRoleAgent, []protocol.Part{protocol.NewTextPart(work.Working)})
	if err := h.UpdateTaskState(&id, protocol.TaskStateWorking, &working); err != nil {
		return err
	}
	if cmd.Kind == work.Hold {
		select {}
	}
	if err := p.artifact(id, cmd, h); err != nil {
		return err
	}
	return h.UpdateTaskState(&id, protocol.TaskStateCompleted, nil)
}

// artifact sends the artifact in one piece or in chunks.
func (p *processor) artifact(id string, cmd work.Command, h taskmanager.TaskHandler) error {
	name := work.ArtifactName
	artifact := func(text string) protocol.Artifact {
		return protocol.Artifact{ArtifactID: "answer-1", Name: &name, Parts: []protocol.Part{protocol.NewTextPart(text)}}
	}
	if cmd.Kind == work.Task {
		return h.AddArtifact(&id, artifact(work.Reply(p.token)), true, false)
	}
	for i := range cmd.N {
		if err := h.AddArtifact(&id, artifact(work.Chunk(p.token, i)), i == cmd.N-1, i > 0); err != nil {
			return err
		}
		cmd.Rest()
	}
	return nil
}
