package main

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	grpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	grpcv1 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// goClient is the client of the official Go SDK of 1.0, which speaks 0.3 as well.
type goClient struct {
	*a2aclient.Client
	card *sdk.AgentCard
}

func newGoClient(ctx context.Context, url string, s spoken) (desk.Client, func(), error) {
	resolver := agentcard.DefaultResolver
	if s.version == "0.3" {
		resolver = &agentcard.Resolver{CardParser: a2av0.NewAgentCardParser()}
	}
	card, err := resolver.Resolve(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	kept := *card
	kept.SupportedInterfaces = nil
	for _, i := range card.SupportedInterfaces {
		if string(i.ProtocolBinding) == s.binding && strings.HasPrefix(string(i.ProtocolVersion), s.version) {
			kept.SupportedInterfaces = append(kept.SupportedInterfaces, i)
		}
	}
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	c, err := a2aclient.NewFromCard(ctx, &kept,
		grpcv1.WithGRPCTransport(plain),
		a2aclient.WithCompatTransport(a2av0.Version, sdk.TransportProtocolGRPC, grpcv0.NewGRPCTransportFactory(plain)),
		a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{}), a2av0.WithRESTTransport(a2av0.RESTTransportConfig{}))
	if err != nil {
		return nil, nil, err
	}
	return &goClient{c, card}, func() { _ = c.Destroy() }, nil
}

// Do does what is asked.
func (c *goClient) Do(ctx context.Context, ask *desk.Ask) *desk.Answer {
	a, err := c.do(ctx, ask)
	if err != nil {
		return &desk.Answer{Error: goReason(err)}
	}
	return a
}

func (c *goClient) do(ctx context.Context, ask *desk.Ask) (*desk.Answer, error) {
	id := sdk.TaskID(ask.Task)
	switch ask.Op {
	case desk.Card:
		return goSkills(c.card), nil
	case desk.Extend:
		card, err := c.GetExtendedAgentCard(ctx, &sdk.GetExtendedAgentCardRequest{})
		if err != nil {
			return nil, err
		}
		return goSkills(card), nil
	case desk.Send:
		r, err := c.SendMessage(ctx, goRequest(ask))
		if m, ok := r.(*sdk.Message); ok {
			return &desk.Answer{Message: goParts(m.Parts)}, err
		}
		t, _ := r.(*sdk.Task)
		return goTask(t, err)
	case desk.Stream:
		return goEvents(c.SendStreamingMessage(ctx, goRequest(ask)))
	case desk.Get:
		return goTask(c.GetTask(ctx, &sdk.GetTaskRequest{ID: id}))
	case desk.Cancel:
		return goTask(c.CancelTask(ctx, &sdk.CancelTaskRequest{ID: id}))
	case desk.Subscribe:
		time.AfterFunc(desk.Moment, func() { _, _ = c.CancelTask(ctx, &sdk.CancelTaskRequest{ID: id}) })
		return goEvents(c.SubscribeToTask(ctx, &sdk.SubscribeToTaskRequest{ID: id}))
	case desk.List:
		return goList(c.ListTasks(ctx, &sdk.ListTasksRequest{ContextID: ask.Context}))
	}
	return c.hooks(ctx, ask)
}

func (c *goClient) hooks(ctx context.Context, ask *desk.Ask) (*desk.Answer, error) {
	id := sdk.TaskID(ask.Task)
	var hooks []*sdk.PushConfig
	var err error
	switch ask.Op {
	case desk.CreateHook:
		hooks = make([]*sdk.PushConfig, 1)
		hooks[0], err = c.CreateTaskPushConfig(ctx, &sdk.PushConfig{TaskID: id, ID: ask.Hook.ID, URL: ask.Hook.URL, Token: ask.Hook.Token})
	case desk.GetHook:
		hooks = make([]*sdk.PushConfig, 1)
		hooks[0], err = c.GetTaskPushConfig(ctx, &sdk.GetTaskPushConfigRequest{TaskID: id, ID: ask.Hook.ID})
	case desk.ListHooks:
		hooks, err = c.ListTaskPushConfigs(ctx, &sdk.ListTaskPushConfigRequest{TaskID: id})
	case desk.DeleteHook:
		err = c.DeleteTaskPushConfig(ctx, &sdk.DeleteTaskPushConfigRequest{TaskID: id, ID: ask.Hook.ID})
	}
	if err != nil {
		return nil, err
	}
	a := &desk.Answer{}
	for _, h := range hooks {
		a.Hooks = append(a.Hooks, desk.Hook{ID: h.ID, URL: h.URL, Token: h.Token})
	}
	return a, nil
}

func goRequest(ask *desk.Ask) *sdk.SendMessageRequest {
	m := sdk.NewMessage(sdk.MessageRoleUser, goOwnParts(ask.Parts)...)
	m.TaskID, m.ContextID = sdk.TaskID(ask.Task), ask.Context
	return &sdk.SendMessageRequest{Message: m, Config: &sdk.SendMessageConfig{ReturnImmediately: ask.Now}}
}

func goOwnParts(parts []desk.Part) []*sdk.Part {
	var own []*sdk.Part
	for _, p := range parts {
		switch {
		case p.Data != nil:
			var v any
			_ = json.Unmarshal(p.Data, &v)
			own = append(own, sdk.NewDataPart(v))
		case p.Raw != nil:
			own = append(own, &sdk.Part{Content: sdk.Raw(p.Raw), Filename: p.Name, MediaType: p.Type})
		case p.URL != "":
			own = append(own, &sdk.Part{Content: sdk.URL(p.URL), Filename: p.Name, MediaType: p.Type})
		default:
			own = append(own, sdk.NewTextPart(p.Text))
		}
	}
	return own
}

func goParts(parts sdk.ContentParts) []desk.Part {
	var told []desk.Part
	for _, p := range parts {
		part := desk.Part{Text: p.Text(), Raw: p.Raw(), URL: string(p.URL()), Name: p.Filename, Type: p.MediaType}
		if data := p.Data(); data != nil {
			part.Data, _ = json.Marshal(data)
		}
		told = append(told, part)
	}
	return told
}

func goSkills(card *sdk.AgentCard) *desk.Answer {
	a := &desk.Answer{}
	for _, s := range card.Skills {
		a.Skills = append(a.Skills, s.ID)
	}
	return a
}

func goTask(t *sdk.Task, err error) (*desk.Answer, error) {
	if err != nil || t == nil {
		return &desk.Answer{}, err
	}
	told := &desk.Task{ID: string(t.ID), Context: t.ContextID, State: string(t.Status.State)}
	if m := t.Status.Message; m != nil {
		told.Asks = desk.Text(goParts(m.Parts))
	}
	for _, a := range t.Artifacts {
		told.Parts = append(told.Parts, goParts(a.Parts)...)
	}
	return &desk.Answer{Task: told}, nil
}

func goList(r *sdk.ListTasksResponse, err error) (*desk.Answer, error) {
	if err != nil {
		return nil, err
	}
	a := &desk.Answer{}
	for _, t := range r.Tasks {
		a.Tasks = append(a.Tasks, string(t.ID))
	}
	return a, nil
}

// goEvents follows a stream.
func goEvents(events iter.Seq2[sdk.Event, error]) (*desk.Answer, error) {
	a := &desk.Answer{}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *sdk.Task:
			a.Events = append(a.Events, desk.Event{Kind: "task", State: string(e.Status.State)})
		case *sdk.Message:
			a.Events = append(a.Events, desk.Event{Kind: "message", Text: desk.Text(goParts(e.Parts))})
		case *sdk.TaskStatusUpdateEvent:
			a.Events = append(a.Events, desk.Event{Kind: "status", State: string(e.Status.State)})
		case *sdk.TaskArtifactUpdateEvent:
			a.Events = append(a.Events, desk.Event{Kind: "artifact", Text: desk.Text(goParts(e.Artifact.Parts))})
		}
	}
	return a, nil
}

// goReason puts the name of an error before what it says.
func goReason(err error) string {
	for reason, known := range map[string]error{
		"TASK_NOT_FOUND": sdk.ErrTaskNotFound, "TASK_NOT_CANCELABLE": sdk.ErrTaskNotCancelable,
		"UNSUPPORTED_OPERATION": sdk.ErrUnsupportedOperation, "INVALID_PARAMS": sdk.ErrInvalidParams,
		"INVALID_REQUEST": sdk.ErrInvalidRequest, "UNAUTHENTICATED": sdk.ErrUnauthenticated, "PERMISSION_DENIED": sdk.ErrUnauthorized,
	} {
		if errors.Is(err, known) {
			return reason + ": " + err.Error()
		}
	}
	return "unknown: " + err.Error() // it may begin with a name that the agent has written
}
