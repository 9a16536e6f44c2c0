package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/internal/dev/page"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/faultproxy"
)

// lookAgain is how long it takes to look for an agent again that was not there.
const lookAgain = 2 * time.Second

// remote is an agent that somebody else runs. Its callers come by the proxy, whose addresses are on its card.
type remote struct {
	to       string
	console  *console
	changed  func()
	recorded http.Handler

	agent atomic.Pointer[http.Handler] // nil: its card was not read yet

	mu  sync.Mutex
	now status.Agent
}

// openRemote takes the address of the proxy before somebody else's agent.
func (s *session) openRemote(ctx context.Context) error {
	u, err := url.Parse(s.To)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return errors.New("--to is no URL of an agent: write one such as https://agent.example.com, without credentials, which callers bring")
	}
	r := &remote{to: s.To, console: &console{Console: s.console, log: func(string) {}}}
	r.changed = func() { s.feed.Publish("agent", r.status()) }
	r.recorded = s.record(0, r)
	at, err := s.serve(ctx, s.Addr, "--addr", r.recorded)
	if err != nil {
		return err
	}
	r.now = status.Agent{Name: u.Host, URL: "http://" + at, To: s.To, Phase: status.Starting, Store: status.Own}
	s.traffic.Define(traffic.Shipped(nil))
	s.agents = append(s.agents, r)
	return nil
}

// ServeHTTP passes a request on, as soon as it is known where to.
func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if h := r.agent.Load(); h != nil {
		(*h).ServeHTTP(w, req)
		return
	}
	text := "a2agen dev: the agent's card was not read yet"
	for _, p := range r.status().Problems {
		text += "\n" + p.String()
	}
	w.Header().Set("Retry-After", "2")
	http.Error(w, text, http.StatusServiceUnavailable)
}

// run reads the card, until that is there, and waits for the end.
func (r *remote) run(ctx context.Context) error {
	for last := ""; ; {
		p, err := faultproxy.New(ctx, r.to, r.console.say)
		if err == nil {
			h := p.Handler()
			r.agent.Store(&h)
			r.set(func(s *status.Agent) {
				s.Name = cmp.Or(p.Name(), s.Name)
				s.Phase, s.Since, s.Problems, s.Step = status.Ready, time.Now(), nil, ""
			})
			r.console.say("the card is read: call " + p.URL(hostOf(r.status().URL)))
			<-ctx.Done()
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		if err.Error() != last {
			last = err.Error()
			text := fmt.Sprintf("%s; it is looked for every %v: start the agent, or start a2agen dev with another --to",
				last, lookAgain)
			r.set(func(s *status.Agent) {
				s.Phase, s.Step, s.Problems = status.Down, status.Starting, []status.Problem{{Text: text}}
			})
			r.console.say(text)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookAgain):
		}
	}
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

func (r *remote) set(change func(*status.Agent)) {
	r.mu.Lock()
	change(&r.now)
	r.mu.Unlock()
	r.changed()
}

func (r *remote) status() status.Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.Clone()
}

func (r *remote) handler() http.Handler { return r.recorded }

// lines are none: what it prints is elsewhere.
func (r *remote) lines() []page.Line { return nil }

// obeys reports false: it is not built here.
func (r *remote) obeys(Command) bool { return false }
