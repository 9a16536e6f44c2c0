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
	"github.com/a2agen/a2agen/runtime/server"
)

// maxReports are kept of an agent.
const maxReports = 1000

// report is what an agent tells for the page alone: one of its members.
type report struct {
	Agent  int             `json:"agent"`
	At     time.Time       `json:"at"`
	Choice json.RawMessage `json:"choice,omitempty"` // why a message went to a skill
	Call   json.RawMessage `json:"call,omitempty"`   // a message that a handler sends to another agent
}

// reportLog keeps the last reports of an agent, without secrets.
type reportLog struct {
	agent int
	feed  *live.Feed

	mu   sync.Mutex
	kept []report
}

// add takes a line of the agent. It reports false for one that is no report.
func (l *reportLog) add(line string) bool {
	r := report{Agent: l.agent, At: time.Now()}
	if text, ok := strings.CutPrefix(line, server.ChoiceLine); ok {
		r.Choice = objectIn(text)
	} else if text, ok := strings.CutPrefix(line, server.CallLine); ok {
		r.Call = objectIn(text)
	}
	if r.Choice == nil && r.Call == nil {
		return false
	}
	l.mu.Lock()
	if len(l.kept) == maxReports {
		l.kept = slices.Delete(l.kept, 0, maxReports/10)
	}
	l.kept = append(l.kept, r)
	l.mu.Unlock()
	l.feed.Publish("report", r)
	return true
}

// objectIn returns a text that is a JSON object, without secrets; nil for any other.
func objectIn(text string) json.RawMessage {
	masked := traffic.Mask([]byte(strings.TrimSpace(text)))
	if len(masked) == 0 || masked[0] != '{' || !json.Valid(masked) {
		return nil
	}
	return masked
}

func (l *reportLog) all() []report {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]report{}, l.kept...)
}

// serveReports answers with the reports of an agent. One that is not built here makes none.
func (s *session) serveReports(w http.ResponseWriter, r *http.Request) {
	list := []report{}
	n, err := strconv.Atoi(r.PathValue("agent"))
	if err != nil || s.of(n) == nil {
		reply.Refuse(w, http.StatusNotFound, "there is no such agent")
		return
	}
	if a, ok := s.of(n).(*agent); ok {
		list = a.reports.all()
	}
	reply.JSON(w, map[string]any{"reports": list})
}
