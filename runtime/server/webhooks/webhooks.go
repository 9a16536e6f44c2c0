// Package webhooks sends push notifications over HTTP. It is a package of its own because only agents whose card has
// push notifications link an HTTP client.
package webhooks

import (
	"github.com/a2agen/a2agen/runtime/internal/webhook"
	"github.com/a2agen/a2agen/runtime/server"
)

// Send has the server send push notifications, as a card with the capability promises. Where they may go and who signs
// them is for [server.WithPushTargets] and [server.WithPushSigner] to say.
func Send() server.Option {
	return server.WithPushSender(func(targets []string, signer server.PushSigner) (server.PushSender, error) {
		open, err := webhook.ParseTargets(targets...)
		if err != nil {
			return nil, err
		}
		if signer == nil {
			return webhook.New(open, nil), nil
		}
		return webhook.New(open, signer.Sign), nil
	})
}
