package dev

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// maxChoices are kept of an agent.
const maxChoices = 1000

// choice is why an agent had a message go to a skill.
type choice struct {
	Agent  int             `json:"agent"`
	At     time.Time       `json:"at"`
	Choice json.RawMessage `json:"choice"` // as the agent tells it
}

// choiceLog keeps the last choices of an agent, without secrets.
type choiceLog struct {
	agent int
	feed  *live.Feed

	mu   sync.Mutex
	kept []choice
}

// add takes what an agent said. It reports false for what is no JSON object.
func (l *choiceLog) add(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return false
	}
	masked := traffic.Mask([]byte(text))
	if !json.Valid(masked) {
		return false
	}
	c := choice{l.agent, time.Now(), masked}
	l.mu.Lock()
	if len(l.kept) == maxChoices {
		l.kept = slices.Delete(l.kept, 0, maxChoices/10)
	}
	l.kept = append(l.kept, c)
	l.mu.Unlock()
	l.feed.Publish("choice", c)
	return true
}

func (l *choiceLog) all() []choice {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]choice{}, l.kept...)
}

// serveChoices answers with the choices of an agent. One that is not built here tells none.
func (s *session) serveChoices(w http.ResponseWriter, r *http.Request) {
	list := []choice{}
	n, err := strconv.Atoi(r.PathValue("agent"))
	if err != nil || s.of(n) == nil {
		reply.Refuse(w, http.StatusNotFound, "there is no such agent")
		return
	}
	if a, ok := s.of(n).(*agent); ok {
		list = a.choices.all()
	}
	reply.JSON(w, map[string]any{"choices": list})
}
