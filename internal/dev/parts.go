package dev

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/dev/caller"
	"github.com/a2agen/a2agen/internal/dev/cards"
	"github.com/a2agen/a2agen/internal/dev/copies"
	"github.com/a2agen/a2agen/internal/dev/faults"
	"github.com/a2agen/a2agen/internal/dev/forms"
	"github.com/a2agen/a2agen/internal/dev/identity"
	"github.com/a2agen/a2agen/internal/dev/inbox"
	"github.com/a2agen/a2agen/internal/dev/quiet"
	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/internal/dev/traffic"
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
func (s *session) parts(ctx context.Context) map[string]http.HandlerFunc {
	calls := &caller.Caller{Context: ctx, Traffic: s.traffic, Agent: s.published}
	who := &identity.Set{Card: func(ctx context.Context, agent int) ([]byte, error) {
		card, _, err := calls.Card(ctx, agent)
		if err != nil {
			return nil, err
		}
		return a2awires.Protocol().Versions[0].AppendCard(nil, card)
	}}
	calls.As = who.Options
	k := &cards.Cards{Tool: s.Tool, Agents: s.statuses, Get: func(ctx context.Context, agent int, path string, header http.Header) (*quiet.Answer, error) {
		return quiet.Get(ctx, s.quiet[agent], s.agents[agent].status().URL, path, header)
	}}
	c := &copies.Copies{Traffic: s.traffic, Agents: s.statuses, Card: s.card, Project: s.snippetProject}
	return map[string]http.HandlerFunc{
		"GET /api/agents/{agent}/faults":  s.serveFaults,
		"PUT /api/agents/{agent}/faults":  s.serveFaults,
		"GET /api/agents/{agent}/reports": s.serveReports,
		"GET /api/agents/{agent}/card":    calls.Serve,
		"POST /api/agents/{agent}/call":   calls.ServeCall,
		"DELETE /api/calls/{id}":          calls.ServeStop,
		"GET /api/calls/{id}/forms":       s.serveForms,
		"GET /api/inbox":                  s.inbox.Serve,
		"PUT /api/inbox":                  s.inbox.Serve,
		"DELETE /api/inbox":               s.inbox.Serve,
		"GET /api/inbox/{id}":             s.inbox.ServeOne,
		"GET /api/recording":              c.Recording,

		"GET /api/agents/{agent}/published":            k.Published,
		"GET /api/agents/{agent}/lint":                 k.Lint,
		"POST /api/agents/{agent}/diff":                k.Diff,
		"GET /api/agents/{agent}/identities":           who.Serve,
		"PUT /api/agents/{agent}/identities/{name}":    who.Change,
		"DELETE /api/agents/{agent}/identities/{name}": who.Change,
		"GET /api/calls/{id}/copy":                     c.Copy,
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

// published returns where an agent is called, and the card that it publishes.
func (s *session) published(ctx context.Context, agent int) (url string, card []byte, err error) {
	if s.of(agent) == nil {
		return "", nil, nil
	}
	card, err = s.card(ctx, agent)
	return s.agents[agent].status().URL, card, err
}

// serveForms answers with an exchange in the form of 1.0: of its events those after a number.
func (s *session) serveForms(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // 0 is no exchange
	x, ok := s.traffic.Get(id)
	if !ok {
		reply.Refuse(w, http.StatusNotFound, "this exchange is no longer kept")
		return
	}
	after, _ := strconv.Atoi(r.URL.Query().Get("after")) // 0 if it is none
	most, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || most < 1 {
		most = traffic.MaxEvents
	}
	reply.JSON(w, forms.Of(&x, after, most))
}

// card returns the card that an agent publishes.
func (s *session) card(ctx context.Context, agent int) ([]byte, error) {
	return quiet.Card(ctx, s.quiet[agent], s.agents[agent].status().URL)
}
