// Package copies is the page's API for taking recorded calls elsewhere.
//
//	GET /api/recording?calls=1,2,3   those calls, of one agent, as a file that record.Replay reads; what cannot be in it
//	                                 is named in the headers A2agen-Dev-Left ("#2: a recording has no calls over gRPC")
//	GET /api/calls/ID/copy?as=WORD   {"text": …}: the call as a command of curl (curl), as a Go program with the typed client
//	                                 (go), or as a test of the project's handlers (test); the last two with the calls of the
//	                                 same task that came before
package copies

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/internal/dev/recording"
	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/internal/dev/snippet"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

// leftHeader says which calls are not in a recording, and why.
const leftHeader = "A2agen-Dev-Left"

// Copies makes copies of what a log has.
type Copies struct {
	Traffic *traffic.Log
	Agents  func() []status.Agent
	Card    func(ctx context.Context, agent int) ([]byte, error) // as it is published
	Project func(ctx context.Context, agent int) (*snippet.Project, error)
}

// list returns the exchanges whose numbers are in a text, "1,2,3", of one agent. It answers itself if it cannot.
func (c *Copies) list(w http.ResponseWriter, numbers string) (list []traffic.Exchange, ok bool) {
	for text := range strings.SplitSeq(numbers, ",") {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || len(list) == traffic.MaxCalls {
			reply.Refuse(w, http.StatusBadRequest, "calls are numbers of exchanges, separated by commas")
			return nil, false
		}
		x, ok := c.Traffic.Get(id)
		switch {
		case !ok:
			reply.Refuse(w, http.StatusNotFound, fmt.Sprintf("#%d is no longer kept", id))
			return nil, false
		case len(list) > 0 && x.Agent != list[0].Agent:
			reply.Refuse(w, http.StatusBadRequest, "these calls are of several agents: a recording is of one")
			return nil, false
		}
		list = append(list, x)
	}
	return list, true
}

// Recording sends a recording of calls.
func (c *Copies) Recording(w http.ResponseWriter, r *http.Request) {
	list, ok := c.list(w, r.URL.Query().Get("calls"))
	if !ok {
		return
	}
	a := c.Agents()[list[0].Agent]
	card, err := c.Card(r.Context(), a.Number)
	if err != nil {
		card = nil // the agent is down; if its card was fetched before, that is among the calls
	}
	text, left, err := recording.Lines(list, a.URL, card)
	if err != nil {
		reply.Refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	for _, l := range left {
		w.Header().Add(leftHeader, fmt.Sprintf("#%d: %s", l.Call, l.Why))
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Content-Disposition", `attachment; filename="recording.jsonl"`)
	_, _ = w.Write(text) // the reader may be gone
}
