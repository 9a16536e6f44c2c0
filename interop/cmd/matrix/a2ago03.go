package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	old "github.com/a2aproject/a2a-go/a2a"
	oldclient "github.com/a2aproject/a2a-go/a2aclient"
	oldcard "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	oldgrpc "github.com/a2aproject/a2a-go/a2agrpc"
	oldsrv "github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	oldpush "github.com/a2aproject/a2a-go/a2asrv/push"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// oldClient is the client of the official Go SDK of 0.3.
type oldClient struct {
	*oldclient.Client
	card    *old.AgentCard
	binding string
}

func newOldClient(ctx context.Context, url string, s spoken) (desk.Client, func(), error) {
	card, err := oldcard.DefaultResolver.Resolve(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	c, err := oldclient.NewFromCard(ctx, card, oldclient.WithDefaultsDisabled(), only(s.binding))
	if err != nil {
		return nil, nil, err
	}
	return &oldClient{c, card, s.binding}, func() { _ = c.Destroy() }, nil
}

// only is the transport of one binding.
func only(binding string) oldclient.FactoryOption {
	if binding == grpcBinding {
		return oldclient.WithGRPCTransport(grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	return oldclient.WithJSONRPCTransport(http.DefaultClient)
}

// Do does what is asked.
func (c *oldClient) Do(ctx context.Context, ask *desk.Ask) *desk.Answer {
	if ask.Op == desk.List {
		return &desk.Answer{None: "0.3 has no list over " + c.binding}
	}
	a, err := c.do(ctx, ask)
	if err != nil {
		return &desk.Answer{Error: oldReason(err)}
	}
	return a
}

func (c *oldClient) do(ctx context.Context, ask *desk.Ask) (*desk.Answer, error) {
	id := &old.TaskIDParams{ID: old.TaskID(ask.Task)}
	switch ask.Op {
	case desk.Card:
		return oldSkills(c.card), nil
	case desk.Extend:
		card, err := c.GetAgentCard(ctx)
		if err != nil {
			return nil, err
		}
		return oldSkills(card), nil
	case desk.Send:
		r, err := c.SendMessage(ctx, oldRequest(ask))
		if m, ok := r.(*old.Message); ok {
			return &desk.Answer{Message: oldParts(m.Parts)}, err
		}
		t, _ := r.(*old.Task)
		return oldTask(t, err)
	case desk.Stream:
		return oldEvents(c.SendStreamingMessage(ctx, oldRequest(ask)))
	case desk.Get:
		return oldTask(c.GetTask(ctx, &old.TaskQueryParams{ID: id.ID}))
	case desk.Cancel:
		return oldTask(c.CancelTask(ctx, id))
	case desk.Subscribe:
		time.AfterFunc(desk.Moment, func() { _, _ = c.CancelTask(ctx, id) })
		return oldEvents(c.ResubscribeToTask(ctx, id))
	}
	return c.hooks(ctx, ask)
}

func (c *oldClient) hooks(ctx context.Context, ask *desk.Ask) (*desk.Answer, error) {
	id := old.TaskID(ask.Task)
	var hooks []*old.TaskPushConfig
	var err error
	switch ask.Op {
	case desk.CreateHook:
		hooks = make([]*old.TaskPushConfig, 1)
		hooks[0], err = c.SetTaskPushConfig(ctx, &old.TaskPushConfig{TaskID: id,
			Config: old.PushConfig{ID: ask.Hook.ID, URL: ask.Hook.URL, Token: ask.Hook.Token}})
	case desk.GetHook:
		hooks = make([]*old.TaskPushConfig, 1)
		hooks[0], err = c.GetTaskPushConfig(ctx, &old.GetTaskPushConfigParams{TaskID: id, ConfigID: ask.Hook.ID})
	case desk.ListHooks:
		hooks, err = c.ListTaskPushConfig(ctx, &old.ListTaskPushConfigParams{TaskID: id})
	case desk.DeleteHook:
		err = c.DeleteTaskPushConfig(ctx, &old.DeleteTaskPushConfigParams{TaskID: id, ConfigID: ask.Hook.ID})
	}
	if err != nil {
		return nil, err
	}
	a := &desk.Answer{}
	for _, h := range hooks {
		a.Hooks = append(a.Hooks, desk.Hook{ID: h.Config.ID, URL: h.Config.URL, Token: h.Config.Token})
	}
	return a, nil
}

func oldRequest(ask *desk.Ask) *old.MessageSendParams {
	blocking := !ask.Now
	m := old.NewMessage(old.MessageRoleUser, oldOwnParts(ask.Parts)...)
	m.TaskID, m.ContextID = old.TaskID(ask.Task), ask.Context
	return &old.MessageSendParams{Message: m, Config: &old.MessageSendConfig{Blocking: &blocking}}
}

func oldOwnParts(parts []desk.Part) []old.Part {
	var own []old.Part
	for _, p := range parts {
		meta := old.FileMeta{Name: p.Name, MimeType: p.Type}
		switch {
		case p.Data != nil:
			var v map[string]any
			_ = json.Unmarshal(p.Data, &v)
			own = append(own, old.DataPart{Data: v})
		case p.Raw != nil:
			own = append(own, old.FilePart{File: old.FileBytes{FileMeta: meta, Bytes: base64.StdEncoding.EncodeToString(p.Raw)}})
		case p.URL != "":
			own = append(own, old.FilePart{File: old.FileURI{FileMeta: meta, URI: p.URL}})
		default:
			own = append(own, old.TextPart{Text: p.Text})
		}
	}
	return own
}

func oldParts(parts []old.Part) []desk.Part {
	var told []desk.Part
	for _, p := range parts {
		var part desk.Part
		switch p := p.(type) {
		case old.TextPart:
			part.Text = p.Text
		case old.DataPart:
			part.Data, _ = json.Marshal(p.Data)
		case old.FilePart:
			switch f := p.File.(type) {
			case old.FileBytes:
				part.Name, part.Type = f.Name, f.MimeType
				part.Raw, _ = base64.StdEncoding.DecodeString(f.Bytes)
			case old.FileURI:
				part.Name, part.Type, part.URL = f.Name, f.MimeType, f.URI
			}
		}
		told = append(told, part)
	}
	return told
}

func oldSkills(card *old.AgentCard) *desk.Answer {
	a := &desk.Answer{}
	for _, s := range card.Skills {
		a.Skills = append(a.Skills, s.ID)
	}
	return a
}

func oldTask(t *old.Task, err error) (*desk.Answer, error) {
	if err != nil || t == nil {
		return &desk.Answer{}, err
	}
	told := &desk.Task{ID: string(t.ID), Context: t.ContextID, State: string(t.Status.State)}
	if m := t.Status.Message; m != nil {
		told.Asks = desk.Text(oldParts(m.Parts))
	}
	for _, a := range t.Artifacts {
		told.Parts = append(told.Parts, oldParts(a.Parts)...)
	}
	return &desk.Answer{Task: told}, nil
}

// oldEvents follows a stream.
func oldEvents(events iter.Seq2[old.Event, error]) (*desk.Answer, error) {
	a := &desk.Answer{}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *old.Task:
			a.Events = append(a.Events, desk.Event{Kind: "task", State: string(e.Status.State)})
		case *old.Message:
			a.Events = append(a.Events, desk.Event{Kind: "message", Text: desk.Text(oldParts(e.Parts))})
		case *old.TaskStatusUpdateEvent:
			a.Events = append(a.Events, desk.Event{Kind: "status", State: string(e.Status.State)})
		case *old.TaskArtifactUpdateEvent:
			a.Events = append(a.Events, desk.Event{Kind: "artifact", Text: desk.Text(oldParts(e.Artifact.Parts))})
		}
	}
	return a, nil
}

// oldReason puts the name of an error before what it says.
func oldReason(err error) string {
	for reason, known := range map[string]error{
		"TASK_NOT_FOUND": old.ErrTaskNotFound, "TASK_NOT_CANCELABLE": old.ErrTaskNotCancelable,
		"UNSUPPORTED_OPERATION": old.ErrUnsupportedOperation, "INVALID_PARAMS": old.ErrInvalidParams,
		"INVALID_REQUEST": old.ErrInvalidRequest, "UNAUTHENTICATED": old.ErrUnauthenticated, "PERMISSION_DENIED": old.ErrUnauthorized,
	} {
		if errors.Is(err, known) {
			return reason + ": " + err.Error()
		}
	}
	return "unknown: " + err.Error() // it may begin with a name that the agent has written
}

// oldDesk is the agent made with the official Go SDK of 0.3.
type oldDesk struct{}

// startOldDesk serves the agent over the bindings that the SDK has.
func startOldDesk(context.Context) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	card := &old.AgentCard{
		Name: desk.Name, Description: "Answers travellers.", Version: "1.0.0", ProtocolVersion: "0.3.0",
		URL: web.URL + "/invoke", PreferredTransport: old.TransportProtocolJSONRPC,
		AdditionalInterfaces: []old.AgentInterface{{Transport: old.TransportProtocolGRPC, URL: listener.Addr().String()}},
		Capabilities:         old.AgentCapabilities{Streaming: true, PushNotifications: true}, SupportsAuthenticatedExtendedCard: true,
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []old.AgentSkill{{ID: desk.Skill, Name: "Desk", Description: "Answers.", Tags: []string{"travel"}}},
	}
	extended := *card
	extended.Skills = append(extended.Skills[:1:1], old.AgentSkill{ID: desk.Extended, Name: "Vip", Description: "Answers more.", Tags: []string{"travel"}})
	h := oldsrv.NewHandler(oldDesk{}, oldsrv.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))),
		oldsrv.WithExtendedAgentCard(&extended),
		oldsrv.WithPushNotifications(oldpush.NewInMemoryStore(), oldpush.NewHTTPPushSender(&oldpush.HTTPSenderConfig{})))
	mux.Handle("/invoke", oldsrv.NewJSONRPCHandler(h))
	mux.Handle(oldsrv.WellKnownAgentCardPath, oldsrv.NewStaticAgentCardHandler(card))
	g := grpc.NewServer()
	oldgrpc.NewHandler(h).RegisterWith(g)
	go g.Serve(listener)
	return web.URL, func() { g.Stop(); web.CloseClientConnections(); web.Close() }, nil
}

// Execute does what the first word of the message says.
func (oldDesk) Execute(ctx context.Context, rc *oldsrv.RequestContext, q eventqueue.Queue) error {
	about := func(text string) *old.Message {
		return old.NewMessageForTask(old.MessageRoleAgent, rc, old.TextPart{Text: text})
	}
	status := func(state old.TaskState, final bool, m *old.Message) old.Event {
		e := old.NewStatusUpdateEvent(rc, state, m)
		e.Final = final
		return e
	}
	say := func(events ...old.Event) error {
		for _, e := range events {
			if err := q.Write(ctx, e); err != nil {
				return err
			}
		}
		return nil
	}
	completed := func(parts ...old.Part) error {
		return say(old.NewArtifactEvent(rc, parts...), status(old.TaskStateCompleted, true, nil))
	}
	word := desk.Text(oldParts(rc.Message.Parts))
	switch {
	case word == "hello":
		return say(old.NewMessage(old.MessageRoleAgent, old.TextPart{Text: desk.Greeting}))
	case rc.StoredTask != nil:
		return completed(old.TextPart{Text: desk.Booked(word)})
	}
	if err := say(old.NewSubmittedTask(rc, rc.Message), status(old.TaskStateWorking, false, about(desk.Progress))); err != nil {
		return err
	}
	switch word {
	case "forecast":
		return completed(old.TextPart{Text: desk.Forecast})
	case "book":
		return say(status(old.TaskStateInputRequired, true, about(desk.Question)))
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	case "echo":
		return completed(rc.Message.Parts...)
	}
	first := old.NewArtifactEvent(rc, old.TextPart{Text: desk.Lines[0]})
	events := []old.Event{first}
	for _, line := range desk.Lines[1:] {
		events = append(events, old.NewArtifactUpdateEvent(rc, first.Artifact.ID, old.TextPart{Text: line}))
	}
	return say(append(events, status(old.TaskStateCompleted, true, nil))...)
}

// Cancel ends the task as canceled.
func (oldDesk) Cancel(ctx context.Context, rc *oldsrv.RequestContext, q eventqueue.Queue) error {
	e := old.NewStatusUpdateEvent(rc, old.TaskStateCanceled, nil)
	e.Final = true
	return q.Write(ctx, e)
}
