package main

import (
	"context"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	grpcv0 "github.com/a2aproject/a2a-go/v2/a2agrpc/v0"
	grpcv1 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// goDesk is the agent made with the official Go SDK of 1.0.
type goDesk struct{}

// startGoDesk serves the agent over all bindings of both versions, those of 0.3 below /old.
func startGoDesk(context.Context) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	card, extended := goCard(web.URL, listener.Addr().String()), goCard(web.URL, listener.Addr().String())
	extended.Skills = append(extended.Skills, sdk.AgentSkill{ID: desk.Extended, Name: "Vip", Description: "Answers more.", Tags: []string{"travel"}})
	owner := func(context.Context) (string, error) { return "everybody", nil } // the SDK lists tasks for known callers only
	h := a2asrv.NewHandler(goDesk{}, a2asrv.WithLogger(slog.New(slog.DiscardHandler)), a2asrv.WithExtendedAgentCard(extended),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})),
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: owner})))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(h))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(h)))
	mux.Handle("/old/rpc", a2av0.NewJSONRPCHandler(h))
	mux.Handle("/old/rest/", http.StripPrefix("/old/rest", a2av0.NewRESTHandler(h)))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
	g := grpc.NewServer()
	grpcv1.NewHandler(h).RegisterWith(g)
	grpcv0.NewHandler(h).RegisterWith(g)
	go g.Serve(listener)
	return web.URL, func() { g.Stop(); web.CloseClientConnections(); web.Close() }, nil
}

func goCard(base, address string) *sdk.AgentCard {
	old := func(url string, binding sdk.TransportProtocol) *sdk.AgentInterface {
		return &sdk.AgentInterface{URL: url, ProtocolBinding: binding, ProtocolVersion: a2av0.Version}
	}
	return &sdk.AgentCard{
		Name: desk.Name, Description: "Answers travellers.", Version: "2.0.0",
		SupportedInterfaces: []*sdk.AgentInterface{
			sdk.NewAgentInterface(base+"/rpc", sdk.TransportProtocolJSONRPC),
			sdk.NewAgentInterface(base+"/rest", sdk.TransportProtocolHTTPJSON),
			sdk.NewAgentInterface(address, sdk.TransportProtocolGRPC),
			old(base+"/old/rpc", sdk.TransportProtocolJSONRPC),
			old(base+"/old/rest", sdk.TransportProtocolHTTPJSON),
			old(address, sdk.TransportProtocolGRPC),
		},
		Capabilities:      sdk.AgentCapabilities{Streaming: true, PushNotifications: true, ExtendedAgentCard: true},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []sdk.AgentSkill{{ID: desk.Skill, Name: "Desk", Description: "Answers.", Tags: []string{"travel"}}},
	}
}

// Execute does what the first word of the message says.
func (goDesk) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		say := func(events ...sdk.Event) bool {
			for _, e := range events {
				if !yield(e, nil) {
					return false
				}
			}
			return true
		}
		completed := func(parts ...*sdk.Part) {
			say(sdk.NewArtifactEvent(ec, parts...), sdk.NewStatusUpdateEvent(ec, sdk.TaskStateCompleted, nil))
		}
		word := ec.Message.Parts[0].Text()
		about := func(text string) *sdk.Message {
			return sdk.NewMessageForTask(sdk.MessageRoleAgent, ec, sdk.NewTextPart(text))
		}
		switch {
		case word == "hello":
			greeting := sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart(desk.Greeting))
			greeting.ContextID = ec.ContextID
			say(greeting)
			return
		case ec.StoredTask != nil:
			completed(sdk.NewTextPart(desk.Booked(word)))
			return
		}
		if !say(sdk.NewSubmittedTask(ec, ec.Message), sdk.NewStatusUpdateEvent(ec, sdk.TaskStateWorking, about(desk.Progress))) {
			return
		}
		switch word {
		case "forecast":
			completed(sdk.NewTextPart(desk.Forecast))
		case "book":
			say(sdk.NewStatusUpdateEvent(ec, sdk.TaskStateInputRequired, about(desk.Question)))
		case "wait":
			<-ctx.Done()
		case "tell":
			first := sdk.NewArtifactEvent(ec, sdk.NewTextPart(desk.Lines[0]))
			say(first)
			for _, line := range desk.Lines[1:] {
				say(sdk.NewArtifactUpdateEvent(ec, first.Artifact.ID, sdk.NewTextPart(line)))
			}
			say(sdk.NewStatusUpdateEvent(ec, sdk.TaskStateCompleted, nil))
		default: // echo
			completed(ec.Message.Parts...)
		}
	}
}

// Cancel ends the task as canceled.
func (goDesk) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		yield(sdk.NewStatusUpdateEvent(ec, sdk.TaskStateCanceled, nil), nil)
	}
}
