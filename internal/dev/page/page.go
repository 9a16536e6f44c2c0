// Package page serves the page of "a2agen dev", and the API that it is built on, on an address of their own.
//
// # Who is answered
//
// Requests under a loopback name of the machine, with the token of this start of the command: in the query of "/", which
// makes it a cookie and redirects, in that cookie (SameSite=Strict, HttpOnly), or in the header A2agen-Dev-Token for
// programs. Requests that a browser sends for a page of another origin are refused, whatever they carry. Without the
// token every path answers 401 and a sentence that says what to open; after a restart of the command that is what an
// old page gets.
//
// # The API
//
// JSON throughout; times are RFC 3339, durations milliseconds, bytes base64. The shapes are those of packages status and
// traffic. Errors are {"error": "…"} with a status of HTTP.
//
//	GET    /api/state                      State: agents, the number of the last change, what this process is
//	GET    /api/live?after=SEQ             server-sent events: what changed after a number, as it changes
//	GET    /api/calls?after=ID&limit=N     {"calls": [traffic.Summary]}: the newest N (1000) after an exchange, oldest first
//	GET    /api/calls/ID                   traffic.Exchange; what is over 64 KiB is cut there, with "more": true;
//	                                       ?brief=1 leaves the bytes of events out
//	GET    /api/calls/ID/request           the very bytes of the request's body, of the answer's, of event N
//	GET    /api/calls/ID/response
//	GET    /api/calls/ID/events/N
//	DELETE /api/calls                      forget all exchanges that have ended
//	GET    /api/agents/N/log               {"lines": [Line]}: the last lines that the agent printed
//	POST   /api/agents/N/rebuild           and pause, clear: as the keys of the terminal
//	GET    /api/agents/N/faults            faults.State, with the kinds and operations that there are
//	PUT    /api/agents/N/faults            {"faults": [faults.Asked]}: those that calls meet from now on; none: as it is
//	GET    /api/agents/N/reports           {"reports": [{"agent", "at", "choice" or "call"}]}: why messages went to their
//	                                       skills, and the messages of handlers to other agents, as A2A_EXPLAIN has them
//	GET    /api/inbox                      the webhook for push notifications: {"url", "token", "answer", "deliveries"}
//	PUT    /api/inbox                      inbox.Answer: what the next deliveries are answered with
//	DELETE /api/inbox                      forget what came
//	GET    /api/inbox/ID                   inbox.Delivery with its body
//	GET    /api/agents/N/card              caller.Known: the card in the form of 1.0, interfaces, schemas of skills
//	POST   /api/agents/N/call              caller.Call, answered {"call": ID} as soon as it is recorded
//	DELETE /api/calls/ID                   have a call of the page break off; its task goes on
//	GET    /api/calls/ID/forms?after=N&limit=M  forms.Exchange: what was said, in the form of 1.0; events after N
//	GET    /api/agents/N/published         the card as callers of a version get it; lint and diff, too: see package cards
//	GET    /api/agents/N/identities        as whom the page may call: see package identity
//	GET    /api/recording?calls=1,2        those calls as tests play them, and /api/calls/ID/copy: see package copies
//	*      /agent/N/PATH                   the agent itself, by the proxy, so that a page of this origin can call it
//
// /api/live has an event for each change; its id is the change's number, by which a reader goes on (Last-Event-ID, or
// after). The kinds:
//
//	agent   status.Agent, whole, whenever something of it changed
//	call    traffic.Summary, whole: when an exchange begins, when its answer does, and when it ends
//	event   {"call": ID, "event": traffic.Event} without its bytes
//	log     Line
//	faults  faults.State
//	report    {"agent", "at", "choice" or "call"}
//	delivery  inbox.Delivery without its body
//	reset   {"seq": SEQ}: changes were missed; load everything anew and go on after SEQ
//
// A call by /agent/N/ is recorded with the caller "page". Authorization and all other headers are passed on, apart from
// cookies and what browsers add; the answer cannot set cookies, and is never shown as a page.
package page

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/internal/dev/live"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
)

//go:embed assets
var assets embed.FS

// Page is the page of one start of the command.
type Page struct {
	Token   string
	Version string // of the tool
	Agents  func() []status.Agent
	Traffic *traffic.Log
	Feed    *live.Feed
	// Command has an agent obey; it reports false for a command, or an agent, that there is not.
	Command func(agent int, command string) bool
	// Handler passes requests on to an agent; nil if there is no such agent.
	Handler func(agent int) http.Handler
	// Lines are the last ones that an agent printed.
	Lines func(agent int) []Line
	// More are further parts of the API, by patterns of [http.ServeMux] below /api/.
	More map[string]http.HandlerFunc
}

// Line is one that an agent printed.
type Line struct {
	Agent int       `json:"agent"`
	At    time.Time `json:"at"`
	Text  string    `json:"text"`
}

// State is what a page begins with.
type State struct {
	Seq     int64          `json:"seq"`     // of the last change
	Version string         `json:"version"` // of the tool
	Agents  []status.Agent `json:"agents"`
	Limits  Limits         `json:"limits"`
}

// Limits are those of what is recorded.
type Limits struct {
	Calls int `json:"calls"`
	Bytes int `json:"bytes"`
	Kept  int `json:"kept"` // bytes that are kept now
}

// Server serves the page and its API.
func (p *Page) Server() http.Handler {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(files))
	mux.HandleFunc("GET /api/state", p.state)
	mux.HandleFunc("GET /api/live", p.live)
	mux.HandleFunc("GET /api/calls", p.calls)
	mux.HandleFunc("DELETE /api/calls", p.clear)
	mux.HandleFunc("GET /api/calls/{id}", p.call)
	mux.HandleFunc("GET /api/calls/{id}/request", p.bytes)
	mux.HandleFunc("GET /api/calls/{id}/response", p.bytes)
	mux.HandleFunc("GET /api/calls/{id}/events/{n}", p.bytes)
	mux.HandleFunc("GET /api/agents/{agent}/log", p.log)
	mux.HandleFunc("POST /api/agents/{agent}/{command}", p.command)
	mux.HandleFunc("/agent/{agent}/", p.pass)
	for pattern, h := range p.More {
		mux.HandleFunc(pattern, h)
	}
	return p.guard(mux)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the reader may be gone
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text}) // the reader may be gone
}

// number reads a number of a request's path; -1 if it is none.
func number(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (p *Page) state(w http.ResponseWriter, _ *http.Request) {
	s := State{Seq: p.Feed.Last(), Version: p.Version, Limits: Limits{traffic.MaxCalls, traffic.MaxBytes, p.Traffic.Bytes()}}
	s.Agents = p.Agents() // after Seq: a change in between is told twice, and none is missed
	answer(w, s)
}

const heartbeat = 15 * time.Second

// live sends what changes.
func (p *Page) live(w http.ResponseWriter, r *http.Request) {
	at := p.Feed.Last()
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			at = n
			break
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	stream := &sender{w: w, control: http.NewResponseController(w)}
	stream.comment()
	for stream.err == nil {
		ctx, cancel := context.WithTimeout(r.Context(), heartbeat)
		items, lost, err := p.Feed.Next(ctx, at)
		cancel()
		switch {
		case r.Context().Err() != nil:
			return
		case lost:
			at = p.Feed.Last()
			stream.send(at, "reset", map[string]int64{"seq": at})
		case err != nil:
			stream.comment()
		}
		for _, i := range items {
			at = i.Seq
			stream.send(i.Seq, i.Kind, i.What)
		}
		stream.flush()
	}
}

const (
	maxList = traffic.MaxCalls
	shown   = 64 << 10 // bytes of one body or event in an exchange
)

func (p *Page) calls(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64) // 0 if it is none
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > maxList {
		limit = maxList
	}
	list := p.Traffic.List(after, limit)
	if list == nil {
		list = []traffic.Summary{}
	}
	answer(w, map[string]any{"calls": list})
}

func (p *Page) clear(w http.ResponseWriter, _ *http.Request) {
	p.Traffic.Clear()
	w.WriteHeader(http.StatusNoContent)
}

const gone = "this exchange is no longer kept"

func (p *Page) call(w http.ResponseWriter, r *http.Request) {
	x, ok := p.Traffic.Get(number(r, "id"))
	if !ok {
		refuse(w, http.StatusNotFound, gone)
		return
	}
	for _, b := range []*traffic.Body{&x.Request, &x.Response} {
		b.More = len(b.Bytes) > shown
		b.Bytes = b.Bytes[:min(len(b.Bytes), shown)]
	}
	brief := r.URL.Query().Has("brief")
	for i := range x.Events {
		e := &x.Events[i]
		if brief {
			e.Bytes, e.JSON = nil, nil
		}
		e.More = len(e.Bytes) > shown
		e.Bytes = e.Bytes[:min(len(e.Bytes), shown)]
		if len(e.JSON) > shown {
			e.JSON = nil
		}
	}
	answer(w, x)
}

// bytes sends the very bytes of something.
func (p *Page) bytes(w http.ResponseWriter, r *http.Request) {
	x, ok := p.Traffic.Get(number(r, "id"))
	if !ok {
		refuse(w, http.StatusNotFound, gone)
		return
	}
	var b []byte
	switch n := number(r, "n"); {
	case n > 0 && n <= int64(len(x.Events)):
		b = x.Events[n-1].Bytes
	case r.PathValue("n") != "":
		refuse(w, http.StatusNotFound, "this event is not kept")
		return
	case r.URL.Path[len(r.URL.Path)-1] == 't': // …/request
		b = x.Request.Bytes
	default:
		b = x.Response.Bytes
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	_, _ = w.Write(b) // the reader may be gone
}

func (p *Page) log(w http.ResponseWriter, r *http.Request) {
	lines := p.Lines(int(number(r, "agent")))
	if lines == nil {
		lines = []Line{}
	}
	answer(w, map[string]any{"lines": lines})
}

func (p *Page) command(w http.ResponseWriter, r *http.Request) {
	if !p.Command(int(number(r, "agent")), r.PathValue("command")) {
		refuse(w, http.StatusNotFound, "there is no such agent or command: rebuild, pause and clear are commands")
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
