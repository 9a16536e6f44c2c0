// Command bare is the measure of all others: a net/http handler that reads the request and sends a canned answer, or a
// canned stream with a flush after each event. It interprets nothing but the command. With -check it checks the signature of
// the bearer token of each request, with -tls it speaks TLS and has clients show a certificate.
package main

import (
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/a2agen/a2agen/runtime/auth"

	"github.com/a2agen/a2agen/bench/internal/child"
	"github.com/a2agen/a2agen/bench/internal/pass"
	"github.com/a2agen/a2agen/bench/internal/work"
)

var (
	checked = flag.String("check", "", "check the signatures of tokens of this `algorithm`")
	secured = flag.Bool("tls", false, "speak TLS")
	keys    = flag.String("pass", "", "the `folder` with keys and certificates")
)

func main() {
	flag.Parse()
	child.Main(func(_, token string) (child.Served, error) {
		h := newHandler(token)
		if *checked != "" {
			good, err := pass.Checker(*keys, *checked)
			if err != nil {
				return child.Served{}, err
			}
			h = checker{h, good}
		}
		if *secured {
			return child.Served{All: overTLS{h}}, nil
		}
		return child.Served{HTTP: h}, nil
	})
}

// checker refuses calls whose token is not signed; the card is for everybody.
type checker struct {
	http.Handler
	good func(token string) bool
}

func (c checker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if r.Method == http.MethodPost && !c.good(token) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c.Handler.ServeHTTP(w, r)
}

// overTLS serves as net/http does over TLS, to clients with a certificate.
type overTLS struct{ http.Handler }

func (h overTLS) Serve(ln net.Listener) error {
	cas, err := auth.ReadAuthorities(pass.Authority(*keys))
	if err != nil {
		return err
	}
	s := &http.Server{Handler: h, TLSConfig: &tls.Config{
		NextProtos: []string{"http/1.1"}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: cas,
	}}
	cert, key := pass.Pair(*keys)
	return s.ServeTLS(ln, cert, key)
}

// The answers are what an A2A 1.0 server would send. The request's id, 9 digits, is put in their place.
const (
	idMark  = "#########"
	taskRef = `"contextId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01","taskId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c02"`
	at      = `"timestamp":"2026-11-20T10:00:00.000Z"`

	messageAnswer = `{"jsonrpc":"2.0","id":"` + idMark + `","result":{"message":{"messageId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c03",` +
		`"contextId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01","role":"ROLE_AGENT","parts":[{"text":"%s"}]}}}`
	taskAnswer = `{"jsonrpc":"2.0","id":"` + idMark + `","result":{"task":{"id":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c02",` +
		`"contextId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01","status":{"state":"TASK_STATE_COMPLETED",` + at + `},` +
		`"artifacts":[{"artifactId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c04","name":"` + work.ArtifactName + `","parts":[{"text":"%s"}]}],` +
		`"history":[{"messageId":"m-000000001","role":"ROLE_USER","parts":[{"text":"%s"}]},` +
		`{"messageId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c05","role":"ROLE_AGENT","parts":[{"text":"%s"}]}]}}}`
	eventHead   = `data: {"jsonrpc":"2.0","id":"` + idMark + `","result":{`
	submitEvent = eventHead + `"task":{"id":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c02","contextId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c01",` +
		`"status":{"state":"TASK_STATE_SUBMITTED",` + at + `}}}}` + "\n\n"
	workEvent = eventHead + `"statusUpdate":{` + taskRef + `,"status":{"state":"TASK_STATE_WORKING","message":` +
		`{"messageId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c05","role":"ROLE_AGENT","parts":[{"text":"` + work.Working + `"}]},` + at + `}}}}` + "\n\n"
	chunkEvent = eventHead + `"artifactUpdate":{` + taskRef + `,"artifact":{"artifactId":"0199f2b0-5f0e-7d39-9c53-ee2a5b1f2c04",` +
		`"name":"` + work.ArtifactName + `","parts":[{"text":"%s"}]},"append":true}}}` + "\n\n"
	doneEvent = eventHead + `"statusUpdate":{` + taskRef + `,"status":{"state":"TASK_STATE_COMPLETED",` + at + `}}}}` + "\n\n"
)

type handler struct {
	message, task []byte
	card          []byte
	token         string
	chunks        [][]byte
}

func newHandler(token string) http.Handler {
	h := &handler{
		message: fmt.Appendf(nil, messageAnswer, work.Reply(token)),
		task:    fmt.Appendf(nil, taskAnswer, work.Reply(token), work.Text(work.Task, 0), work.Working),
		card:    fmt.Appendf(nil, `{"name":%q}`, work.CardName(token)),
		token:   token,
	}
	const most = 8000
	for i := range most {
		h.chunks = append(h.chunks, fmt.Appendf(nil, chunkEvent, work.Chunk(token, i)))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(h.card)
	})
	mux.Handle("POST /", h)
	return mux
}

// ServeHTTP finds the command and the id by their surroundings instead of decoding the request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "reading request", http.StatusBadRequest)
		return
	}
	id, text := between(body, `"id":"`, `"`), between(body, `"text":"`, `"`)
	cmd := work.Parse(string(text))
	switch cmd.Kind {
	case work.Message:
		answer(w, h.message, id)
	case work.Task:
		answer(w, h.task, id)
	case work.Stream, work.Paced, work.Burst:
		h.stream(w, id, cmd)
	case work.Hold:
		h.stream(w, id, cmd)
		<-r.Context().Done()
	default:
		http.Error(w, "unknown command", http.StatusBadRequest)
	}
}

func between(src []byte, before, after string) []byte {
	_, rest, _ := bytes.Cut(src, []byte(before))
	found, _, _ := bytes.Cut(rest, []byte(after))
	return found
}

func answer(w http.ResponseWriter, canned, id []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(withID(nil, canned, id))
}

// stream sends the chunks between the events that open and close a task; a stream to hold open has only the opening ones.
func (h *handler) stream(w http.ResponseWriter, id []byte, cmd work.Command) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flusher := w.(http.Flusher)
	var buf []byte
	send := func(event []byte) {
		buf = withID(buf[:0], event, id)
		w.Write(buf)
		flusher.Flush()
	}
	send([]byte(submitEvent))
	send([]byte(workEvent))
	if cmd.Kind == work.Hold {
		return
	}
	for _, c := range h.chunks[:cmd.N] {
		send(c)
		cmd.Rest()
	}
	send([]byte(doneEvent))
}

// withID appends a canned answer with the request's id in its place.
func withID(dst, canned, id []byte) []byte {
	before, after, _ := bytes.Cut(canned, []byte(idMark))
	dst = append(dst, before...)
	dst = append(dst, id...)
	return append(dst, after...)
}
