package interop

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	peer "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// peerDesk is the same agent as [desk], built with the official SDK.
type peerDesk struct {
	release chan struct{}
}

// startPeerDesk serves the peer's agent and returns its URL. More options are those of push notifications.
func startPeerDesk(t *testing.T, more ...a2asrv.RequestHandlerOption) (*peerDesk, string) {
	t.Helper()
	d := &peerDesk{release: make(chan struct{})}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	card := &peer.AgentCard{
		Name: "Peer Desk", Description: "Answers travellers.", Version: "2.0.0",
		SupportedInterfaces: []*peer.AgentInterface{peer.NewAgentInterface(srv.URL+"/invoke", peer.TransportProtocolJSONRPC)},
		Capabilities:        peer.AgentCapabilities{Streaming: true, PushNotifications: len(more) > 0},
		DefaultInputModes:   []string{"text/plain"},
		DefaultOutputModes:  []string{"text/plain"},
		Skills:              []peer.AgentSkill{{ID: "desk", Name: "Desk", Description: "Answers.", Tags: []string{"travel"}}},
	}
	owner := func(context.Context) (string, error) { return "everybody", nil } // the SDK lists tasks for known callers only
	h := a2asrv.NewHandler(d, append(more, a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{Authenticator: owner})))...)
	mux.Handle("/invoke", a2asrv.NewJSONRPCHandler(h))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	return d, srv.URL
}

// Execute does what the first word of the message says.
func (d *peerDesk) Execute(ctx context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[peer.Event, error] {
	return func(yield func(peer.Event, error) bool) {
		say := func(ev peer.Event) bool { return yield(ev, nil) }
		word := ec.Message.Parts[0].Text()
		if word == "hello" {
			say(peer.NewMessage(peer.MessageRoleAgent, peer.NewTextPart(greeting)))
			return
		}
		if ec.StoredTask != nil {
			_ = say(peer.NewArtifactEvent(ec, peer.NewTextPart("Booked for "+word+"."))) &&
				say(peer.NewStatusUpdateEvent(ec, peer.TaskStateCompleted, nil))
			return
		}
		working := peer.NewMessageForTask(peer.MessageRoleAgent, ec, peer.NewTextPart(progress))
		if !say(peer.NewSubmittedTask(ec, ec.Message)) || !say(peer.NewStatusUpdateEvent(ec, peer.TaskStateWorking, working)) {
			return
		}
		d.work(ctx, ec, word, say)
	}
}

func (d *peerDesk) work(ctx context.Context, ec *a2asrv.ExecutorContext, word string, say func(peer.Event) bool) {
	switch word {
	case "book":
		say(peer.NewStatusUpdateEvent(ec, peer.TaskStateInputRequired, peer.NewMessageForTask(peer.MessageRoleAgent, ec, peer.NewTextPart(question))))
		return
	case "wait":
		select {
		case <-d.release:
		case <-ctx.Done():
			return
		}
	}
	var id peer.ArtifactID
	for i := range chunks {
		ev := peer.NewArtifactUpdateEvent(ec, id, peer.NewTextPart(chunk(i)))
		if i == 0 {
			ev = peer.NewArtifactEvent(ec, peer.NewTextPart(chunk(i)))
			id = ev.Artifact.ID
		}
		if !say(ev) {
			return
		}
	}
	say(peer.NewStatusUpdateEvent(ec, peer.TaskStateCompleted, nil))
}

// Cancel ends the task as canceled.
func (*peerDesk) Cancel(_ context.Context, ec *a2asrv.ExecutorContext) iter.Seq2[peer.Event, error] {
	return func(yield func(peer.Event, error) bool) {
		yield(peer.NewStatusUpdateEvent(ec, peer.TaskStateCanceled, nil), nil)
	}
}
