// Package webhooks sends push notifications over HTTP. It refuses addresses that are not public: a client could name one
// in the agent's own network. It is a package of its own because only agents whose card has push notifications link an
// HTTP client.
package webhooks

import "github.com/a2agen/a2agen/runtime/server"

// Send has the server send push notifications, as a card with the capability promises. Where they may go and who signs
// them is for [server.WithPushTargets] and [server.WithPushSigner] to say.
func Send() server.Option {
	return server.WithPushSender(func(networks []string, s server.PushSigner) (server.PushSender, error) {
		open, err := parseTargets(networks...)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return newSender(open, nil), nil
		}
		return newSender(open, s.Sign), nil
	})
}
