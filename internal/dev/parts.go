package dev

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"

	"github.com/a2agen/a2agen/internal/dev/copies"
	"github.com/a2agen/a2agen/internal/dev/faults"
	"github.com/a2agen/a2agen/internal/dev/inbox"
	"github.com/a2agen/a2agen/internal/dev/quiet"
	"github.com/a2agen/a2agen/internal/dev/reply"
)

// record returns the way to an agent: with the faults of the page, and recorded as its callers see it.
func (s *session) record(agent int, next http.Handler) http.Handler {
	way := faults.New(agent, next, func(st faults.State) { s.feed.Publish("faults", st) })
	s.faults = append(s.faults, way)
	s.quiet = append(s.quiet, next)
	return s.traffic.Record(agent, way)
}

// inboxHost is where the webhook is, which agents may send push notifications to.
const inboxHost = "127.0.0.1"

// openInbox serves the webhook of the page, if there is one, at an address of its own: agents have no token.
func (s *session) openInbox(ctx context.Context) error {
	if s.Page == "" {
		return nil
	}
	s.inbox = &inbox.Inbox{Token: rand.Text(), Feed: s.feed, Agents: func() (urls []string) {
		for _, a := range s.statuses() {
			urls = append(urls, a.URL)
		}
		return urls
	}}
	at, err := s.serve(ctx, inboxHost+":0", "--page", s.inbox)
	s.inbox.URL = "http://" + at + "/" + rand.Text()
	return err
}

// parts are the page's API of what is not the page's own.
func (s *session) parts() map[string]http.HandlerFunc {
	c := &copies.Copies{Traffic: s.traffic, Agents: s.statuses, Card: s.card}
	return map[string]http.HandlerFunc{
		"GET /api/agents/{agent}/faults":  s.serveFaults,
		"PUT /api/agents/{agent}/faults":  s.serveFaults,
		"GET /api/agents/{agent}/reports": s.serveReports,
		"GET /api/inbox":                  s.inbox.Serve,
		"PUT /api/inbox":                  s.inbox.Serve,
		"DELETE /api/inbox":               s.inbox.Serve,
		"GET /api/inbox/{id}":             s.inbox.ServeOne,
		"GET /api/recording":              c.Recording,
	}
}

func (s *session) serveFaults(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("agent"))
	if err != nil || n < 0 || n >= len(s.faults) {
		reply.Refuse(w, http.StatusNotFound, "there is no such agent")
		return
	}
	s.faults[n].Serve(w, r)
}

// card returns the card that an agent publishes.
func (s *session) card(ctx context.Context, agent int) ([]byte, error) {
	return quiet.Card(ctx, s.quiet[agent], s.agents[agent].status().URL)
}
