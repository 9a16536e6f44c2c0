package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/interop/internal/desk"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// served are the versions over bindings that our agent has, called those of our client.
var (
	served = all
	called = all
)

// startOurDesk serves our agent over all that is served, on one port.
func startOurDesk() (base string, stop func(), err error) { return startAgent("http", newOurDesk) }

// startAgent serves an agent at a free port of this machine.
func startAgent(web string, agent func(base string) (*server.Server, error)) (base string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	base = web + "://" + listener.Addr().String()
	s, err := agent(base)
	if err != nil {
		return "", nil, errors.Join(err, listener.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listener) }()
	return base, func() { cancel(); <-done }, nil
}

func newOurDesk(base string) (*server.Server, error) {
	p := a2awires.Protocol()
	card, err := p.DecodeCard(ourCard(base, served, nil, desk.Skill))
	if err != nil {
		return nil, err
	}
	extended, err := p.DecodeCard(ourCard(base, served, nil, desk.Skill, desk.Extended))
	if err != nil {
		return nil, err
	}
	skills := []server.Skill{{ID: desk.Skill, Name: "Desk", Run: runDesk}}
	return server.New(server.Config{Protocol: p, Card: card, Extended: extended, Skills: skills},
		grpcserver.Serve(), webhooks.Send(), server.WithLogger(slog.New(slog.DiscardHandler)), server.WithPushTargets("127.0.0.1"),
		server.WithLimits(server.Limits{Grace: time.Second}),
		server.WithProxyIdentity(func(*http.Request) (string, error) { return "everybody", nil }))
}

// ourCard is our agent's card with interfaces for what is spoken, and what it demands of callers.
func ourCard(base string, speaks []spoken, demands map[string]any, skills ...string) []byte {
	type object map[string]any
	var interfaces, listed []object
	for _, id := range skills {
		listed = append(listed, object{"id": id, "name": id, "description": "Answers.", "tags": []string{"travel"}})
	}
	for _, s := range speaks {
		at := base + "/"
		if s.binding == grpcBinding {
			_, at, _ = strings.Cut(base, "://")
		}
		interfaces = append(interfaces, object{"url": at, "protocolBinding": s.binding, "protocolVersion": s.version})
	}
	card := object{
		"name": desk.Name, "description": "Answers travellers.", "version": "1.0.0", "supportedInterfaces": interfaces,
		"capabilities":      object{"streaming": true, "pushNotifications": true, "extendedAgentCard": demands == nil},
		"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/plain"}, "skills": listed,
	}
	maps.Copy(card, demands)
	text, err := json.Marshal(card)
	if err != nil {
		panic(err) // it is strings
	}
	return text
}

// runDesk does what the first word of the message says.
func runDesk(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	switch {
	case t.Resumed():
		return nil, t.Artifact("booking", runtime.Text(desk.Booked(t.Text())))
	case t.Text() == "hello":
		return nil, t.Reply(runtime.Text(desk.Greeting))
	}
	if err := t.Progress(desk.Progress); err != nil {
		return nil, err
	}
	switch t.Text() {
	case "forecast":
		return nil, t.Artifact("forecast", runtime.Text(desk.Forecast))
	case "book":
		return nil, t.Ask(desk.Question)
	case "echo":
		for _, p := range t.Parts() {
			if p.Kind == runtime.PartRaw && !bytes.Equal(p.Raw, desk.File) {
				return nil, t.Fail(fmt.Sprintf("the content of the file is %q", p.Raw)) // it would come back as it should be
			}
		}
		return nil, t.Artifact("echo", t.Parts()...)
	case "wait":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	w := t.Stream("story")
	for _, line := range desk.Lines {
		if _, err := w.WriteString(line); err != nil {
			return nil, err
		}
	}
	return nil, w.Close()
}

// ourClient is the generated client.
type ourClient struct {
	*a2aclient.Client
	binding string
}

// newOurClient calls an agent over one of the bindings of its card: our own way to speak it, unless options bring another one.
func newOurClient(ctx context.Context, at string, s spoken, opts ...rpc.Option) (desk.Client, func(), error) {
	found, err := a2aclient.New(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	card := *found.Card()
	card.SupportedInterfaces = nil
	for _, i := range found.Card().SupportedInterfaces {
		if i.ProtocolBinding == s.binding && strings.HasPrefix(i.ProtocolVersion, s.version) {
			card.SupportedInterfaces = append(card.SupportedInterfaces, i)
		}
	}
	c, err := a2aclient.FromCard(&card, append([]rpc.Option{rpc.Use(grpcclient.Binding())}, opts...)...)
	if err != nil {
		return nil, nil, err
	}
	return &ourClient{c, s.binding}, c.Close, nil
}

// Do does what is asked.
func (c *ourClient) Do(ctx context.Context, ask *desk.Ask) *desk.Answer {
	a, err := c.do(ctx, ask)
	if err != nil {
		return &desk.Answer{Error: err.Error()}
	}
	return a
}

func (c *ourClient) do(ctx context.Context, ask *desk.Ask) (*desk.Answer, error) {
	cancel := &a2awires.CancelTaskRequest{ID: ask.Task}
	switch ask.Op {
	case desk.Card:
		return ourSkills(c.Card()), nil
	case desk.Extend:
		card, err := c.GetExtendedAgentCard(ctx, &a2awires.GetExtendedAgentCardRequest{})
		if err != nil {
			return nil, err
		}
		return ourSkills(card), nil
	case desk.Send:
		r, err := c.SendMessage(ctx, ourRequest(ask))
		if m, ok := r.(*a2awires.Message); ok {
			return &desk.Answer{Message: ourParts(m.Parts)}, err
		}
		t, _ := r.(*a2awires.Task)
		return ourTask(t, err)
	case desk.Stream:
		return ourEvents(c.SendStreamingMessage(ctx, ourRequest(ask)))
	case desk.Get:
		return ourTask(c.GetTask(ctx, &a2awires.GetTaskRequest{ID: ask.Task}))
	case desk.Cancel:
		return ourTask(c.CancelTask(ctx, cancel))
	case desk.Subscribe:
		time.AfterFunc(desk.Moment, func() { _, _ = c.CancelTask(ctx, cancel) })
		return ourEvents(c.SubscribeToTask(ctx, &a2awires.SubscribeToTaskRequest{ID: ask.Task}))
	case desk.List:
		return ourList(c.ListTasks(ctx, &a2awires.ListTasksRequest{ContextID: ask.Context}))
	}
	return c.hooks(ctx, ask)
}

func (c *ourClient) hooks(ctx context.Context, ask *desk.Ask) (*desk.Answer, error) {
	var hooks []*a2awires.TaskPushNotificationConfig
	var err error
	switch ask.Op {
	case desk.CreateHook:
		hooks = make([]*a2awires.TaskPushNotificationConfig, 1)
		hooks[0], err = c.CreateTaskPushNotificationConfig(ctx, &a2awires.TaskPushNotificationConfig{
			TaskID: ask.Task, ID: ask.Hook.ID, URL: ask.Hook.URL, Token: ask.Hook.Token})
	case desk.GetHook:
		hooks = make([]*a2awires.TaskPushNotificationConfig, 1)
		hooks[0], err = c.GetTaskPushNotificationConfig(ctx, &a2awires.GetTaskPushNotificationConfigRequest{TaskID: ask.Task, ID: ask.Hook.ID})
	case desk.ListHooks:
		r, failed := c.ListTaskPushNotificationConfigs(ctx, &a2awires.ListTaskPushNotificationConfigsRequest{TaskID: ask.Task})
		if failed != nil {
			return nil, failed
		}
		hooks = r.Configs
	case desk.DeleteHook:
		err = c.DeleteTaskPushNotificationConfig(ctx, &a2awires.DeleteTaskPushNotificationConfigRequest{TaskID: ask.Task, ID: ask.Hook.ID})
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

func ourRequest(ask *desk.Ask) *a2awires.SendMessageRequest {
	m := &a2awires.Message{MessageID: rand.Text(), Role: a2awires.RoleUser, TaskID: ask.Task, ContextID: ask.Context}
	for _, p := range ask.Parts {
		own := &a2awires.Part{Filename: p.Name, MediaType: p.Type}
		switch {
		case p.Data != nil:
			data, err := a2awires.Data(p.Data)
			if err != nil {
				panic(err) // a check's own
			}
			own = data
		case p.Raw != nil:
			own.Content = a2awires.PartRaw(p.Raw)
		case p.URL != "":
			own.Content = a2awires.PartURL(p.URL)
		default:
			own.Content = a2awires.PartText(p.Text)
		}
		m.Parts = append(m.Parts, own)
	}
	return &a2awires.SendMessageRequest{Message: m, Configuration: &a2awires.SendMessageConfiguration{ReturnImmediately: ask.Now}}
}

func ourParts(parts []*a2awires.Part) []desk.Part {
	var told []desk.Part
	for _, p := range parts {
		part := desk.Part{Name: p.Filename, Type: p.MediaType}
		switch content := p.Content.(type) {
		case a2awires.PartText:
			part.Text = string(content)
		case a2awires.PartRaw:
			part.Raw = content
		case a2awires.PartURL:
			part.URL = string(content)
		case a2awires.PartData:
			part.Data = json.RawMessage(content)
		}
		told = append(told, part)
	}
	return told
}

func ourSkills(card *a2awires.AgentCard) *desk.Answer {
	a := &desk.Answer{}
	for _, s := range card.Skills {
		a.Skills = append(a.Skills, s.ID)
	}
	return a
}

func ourTask(t *a2awires.Task, err error) (*desk.Answer, error) {
	if err != nil || t == nil {
		return &desk.Answer{}, err
	}
	told := &desk.Task{ID: t.ID, Context: t.ContextID, State: string(t.Status.State)}
	if m := t.Status.Message; m != nil {
		told.Asks = desk.Text(ourParts(m.Parts))
	}
	for _, a := range t.Artifacts {
		told.Parts = append(told.Parts, ourParts(a.Parts)...)
	}
	return &desk.Answer{Task: told}, nil
}

func ourList(r *a2awires.ListTasksResponse, err error) (*desk.Answer, error) {
	if err != nil {
		return nil, err
	}
	a := &desk.Answer{}
	for _, t := range r.Tasks {
		a.Tasks = append(a.Tasks, t.ID)
	}
	return a, nil
}

// ourEvents follows a stream.
func ourEvents(events iter.Seq2[a2awires.StreamResponsePayload, error]) (*desk.Answer, error) {
	a := &desk.Answer{}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *a2awires.Task:
			a.Events = append(a.Events, desk.Event{Kind: "task", State: string(e.Status.State)})
		case *a2awires.Message:
			a.Events = append(a.Events, desk.Event{Kind: "message", Text: desk.Text(ourParts(e.Parts))})
		case *a2awires.TaskStatusUpdateEvent:
			a.Events = append(a.Events, desk.Event{Kind: "status", State: string(e.Status.State)})
		case *a2awires.TaskArtifactUpdateEvent:
			a.Events = append(a.Events, desk.Event{Kind: "artifact", Text: desk.Text(ourParts(e.Artifact.Parts))})
		}
	}
	return a, nil
}
