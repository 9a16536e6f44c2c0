// Package push has both ends of push notifications: what an agent signs them with ([Signer]), and what receives them
// ([Receiver]), an [http.Handler] for the URL of a webhook. How one is asked for is the client's to say (WithPush of
// runtime/client).
package push
