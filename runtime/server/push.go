package server

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/deliver"
	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// EnvPushTargets is the environment variable whose networks are added to those of [WithPushTargets], separated by
// commas.
const EnvPushTargets = "A2A_PUSH_TARGETS"

// WithPushTargets opens networks ("10.1.0.0/16") and addresses ("127.0.0.1") for push notifications. Without it they go
// to addresses of the public internet alone, over https; to what is opened they go over http, too, and to any port. The
// environment's A2A_PUSH_TARGETS adds to them. What counts is the address that a name is looked up to when the
// notification is sent.
func WithPushTargets(networks ...string) Option {
	return func(o *options) { o.pushTo = append(o.pushTo, networks...) }
}

// PushSigner signs push notifications; package push has one.
type PushSigner interface {
	// Sign returns the JWT for a notification.
	Sign(n *runtime.Notification) (jwt string, err error)
	// Keys returns the JSON Web Key Set by which receivers verify it.
	Keys() []byte
}

// WithPushSigner signs push notifications, and serves the keys at [runtime.PushKeysPath].
func WithPushSigner(s PushSigner) Option { return func(o *options) { o.signer = s } }

// PushSender sends push notifications; package webhooks has one.
type PushSender = deliver.Sender

// WithPushSender has push notifications sent: an agent whose card has the capability needs it. make gets the networks
// and addresses of [WithPushTargets] and of the environment, and the signer; nil: there is none.
func WithPushSender(make func(targets []string, s PushSigner) (PushSender, error)) Option {
	return func(o *options) { o.newSender, o.pushing = make, engine.Pushing }
}

// initPush makes the sender of push notifications.
func (s *Server) initPush() (err error) {
	if s.newSender == nil {
		return nil
	}
	if s.sender, err = s.newSender(slices.Concat(s.pushTo, strings.Split(os.Getenv(EnvPushTargets), ",")), s.signer); err != nil {
		return fmt.Errorf("push targets, of WithPushTargets and %s: %w", EnvPushTargets, err)
	}
	s.core.Pusher = s.pushing(s.sender)
	return nil
}

// checkPush says what an agent lacks whose card has push notifications.
func (s *Server) checkPush(p *runtime.Protocol) error {
	const promised = "the card says that the agent sends push notifications: "
	switch {
	case s.sender == nil:
		return errors.New(promised + "give the server webhooks.Send()")
	case !p.IsComplete():
		return errors.New(promised + "give the server a2a.Protocol(), not a2a.ServerProtocol()")
	}
	return nil
}

// closePush closes the sender of push notifications.
func (s *Server) closePush() {
	if s.sender != nil {
		s.sender.Close()
	}
}

// serveKeys answers with the keys of a signer.
func serveKeys(w http.ResponseWriter, r *http.Request, signer PushSigner) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header()["Allow"] = []string{"GET, HEAD"}
		http.Error(w, "Only GET and HEAD are served here.", http.StatusMethodNotAllowed)
		return
	}
	w.Header()["Content-Type"] = []string{"application/jwk-set+json"}
	w.Header()["Cache-Control"] = []string{"public, max-age=300"}
	_, _ = w.Write(signer.Keys())
}
