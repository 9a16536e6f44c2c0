package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Player is an HTTP transport that answers from a recording, and never uses a network. Answers come at once, without
// the pauses of the recording. It is safe for concurrent use.
type Player struct {
	config *config
	file   string
	rec    *recording

	mu       sync.Mutex
	masker   *masker
	bound    map[string]string // names of the recording → ids of this run
	names    map[string]string // the other way round
	used     []bool            // by exchange
	skipped  []bool            // not waited for any more
	first    int               // all exchanges before are used
	changed  chan struct{}     // closed when one is used
	origin   string            // of the agent of this run
	mistakes []*MismatchError
}

// Open reads a recording. A file that cannot be played is a [*FormatError].
func Open(file string, opts ...Option) (*Player, error) {
	c := configure(opts)
	rec, err := load(file, c.maxBytes)
	if err != nil {
		return nil, err
	}
	p := &Player{
		config: c, file: file, rec: rec, masker: newMasker(c), bound: map[string]string{}, names: map[string]string{},
		used: make([]bool, len(rec.exchanges)), skipped: make([]bool, len(rec.exchanges)), changed: make(chan struct{}),
	}
	p.masker.ready()
	return p, nil
}

// RoundTrip answers a request as the first recorded one like it was answered that was not made yet. A request without
// one is a [*MismatchError].
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	if isForTokens(req) {
		return nil, fmt.Errorf("%s: requests for tokens are not recorded: give the client rpc.WithoutCredentials()", p.file)
	}
	sent, err := bodyOf(req)
	if err != nil {
		return nil, fmt.Errorf("%s: read the request: %w", p.file, err)
	}
	ctx := req.Context()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	n, asked, err := p.match(req, sent)
	if err != nil {
		return nil, err
	}
	x := p.rec.exchanges[n]
	body := &playedBody{player: p, exchange: x, n: n, id: asked.id, ctx: ctx, parts: x.parts, closed: make(chan struct{})}
	if x.answer == nil {
		return nil, body.failure()
	}
	if err := body.await(x.parts[0]); err != nil {
		return nil, err
	}
	body.parts = x.parts[1:]
	resp := &http.Response{
		Status:     strconv.Itoa(x.answer.Status) + " " + http.StatusText(x.answer.Status),
		StatusCode: x.answer.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, ContentLength: -1, Request: req, Body: body,
	}
	for name, v := range x.answer.Header {
		resp.Header.Set(name, string(p.played([]byte(v))))
	}
	if !x.stream() { // the body is there at once
		body.text = p.played(withID(x.answer.content, body.id))
		if len(x.parts) == 1 {
			resp.ContentLength = int64(len(body.text))
		}
	}
	return resp, nil
}

// played is a text of the recording with the ids of this run. The names of the agent's ids are their ids.
func (p *Player) played(text []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	text = named.ReplaceAllFunc(text, func(name []byte) []byte {
		if id := p.bound[string(name)]; id != "" {
			return []byte(id)
		}
		return name
	})
	return bytes.ReplaceAll(text, []byte(agentOrigin), []byte(p.origin))
}

// withID is content, with the id of the request if it is a JSON-RPC response without its own.
func withID(c content, id any) []byte {
	members := object(c.Body)
	if _, has := members["id"]; has || id == nil || !isRPC(c.Body) {
		return c.encoded()
	}
	text := []byte(`{"id":`)
	text = append(append(text, encode(id)...), ',')
	return append(text, bytes.TrimPrefix(c.encoded(), []byte("{"))...) // it has a member: "jsonrpc"
}

// playedBody is the body of an answer. Each read returns one event at most.
type playedBody struct {
	player   *Player
	exchange *recorded
	n        int // its number, from 0
	id       any // of the JSON-RPC request; nil: none
	ctx      context.Context
	parts    []part // not read yet
	text     []byte // begun to be read
	closed   chan struct{}
	once     sync.Once
}

// Read reads on.
func (b *playedBody) Read(dst []byte) (int, error) {
	for len(b.text) == 0 {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		if len(b.parts) == 0 {
			return 0, io.EOF
		}
		next := b.parts[0]
		if err := b.await(next); err != nil {
			return 0, err
		}
		if next.Type == typeEnd {
			return 0, b.failure()
		}
		b.parts = b.parts[1:]
		var text bytes.Buffer
		if next.ID != "" {
			fmt.Fprintf(&text, "id: %s\n", b.player.played([]byte(next.ID)))
		}
		if next.Retry != 0 {
			fmt.Fprintf(&text, "retry: %d\n", next.Retry)
		}
		if next.Name != "" {
			fmt.Fprintf(&text, "event: %s\n", next.Name)
		}
		for line := range bytes.SplitSeq(b.player.played(withID(next.content, b.id)), []byte("\n")) {
			fmt.Fprintf(&text, "data: %s\n", line)
		}
		if !next.Unfinished {
			text.WriteByte('\n')
		}
		b.text = text.Bytes()
	}
	n := copy(dst, b.text)
	b.text = b.text[n:]
	return n, nil
}

// failure is the end of an exchange, as recorded.
func (b *playedBody) failure() error {
	switch b.parts[len(b.parts)-1].How {
	case endUnreached:
		err := fmt.Errorf("%s:%d: there was no connection", b.player.file, b.exchange.line)
		return &net.OpError{Op: "dial", Net: "tcp", Err: err}
	case endCut:
		return io.ErrUnexpectedEOF
	case endLeft:
		if a := b.exchange.answer; a != nil && !b.exchange.stream() {
			return fmt.Errorf("%s:%d: the client read no more of this answer when it was recorded",
				b.player.file, b.exchange.line)
		}
		select {
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-b.closed:
			return errClosed
		}
	}
	return io.EOF
}

var errClosed = errors.New("the body is closed")

// await waits until the requests are made that were recorded before a part, and after the exchange began. One that does
// not come in a while is not waited for again.
func (b *playedBody) await(next part) error {
	p := b.player
	var timer *time.Timer
	for {
		missing, changed := p.missing(b.n, next.after, false)
		if !missing {
			return nil
		}
		if timer == nil {
			patience := 5 * time.Second
			if time.Now().Year() < 2020 { // in a bubble of testing/synctest, whose clock begins in the year 2000, a day costs nothing
				patience = 24 * time.Hour
			}
			timer = time.NewTimer(patience)
			defer timer.Stop()
		}
		select {
		case <-changed:
		case <-timer.C:
			p.missing(b.n, next.after, true)
			return nil
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-b.closed:
			return errClosed
		}
	}
}

// missing reports whether a request behind the n-th, and among the first ones, has not been made, and what is closed
// when one is. With skip it is not waited for again.
func (p *Player) missing(n, among int, skip bool) (bool, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := false
	for i := max(n+1, p.first); i < among; i++ {
		missing := !p.used[i] && !p.skipped[i]
		found = found || missing
		p.skipped[i] = p.skipped[i] || missing && skip
	}
	return found, p.changed
}

// Close ends the reading.
func (b *playedBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// Unused is the error of requests of the recording that were never made; nil if all were, or with [Lenient]. That of
// a card may be left out.
func (p *Player) Unused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var left []string
	for i, x := range p.rec.exchanges {
		if !p.used[i] && !x.ofCard() {
			left = append(left, fmt.Sprintf("%s:%d: %s", p.file, x.line, title(&x.request)))
		}
	}
	if p.config.lenient || len(left) == 0 {
		return nil
	}
	text := strings.Join(left[:min(len(left), 10)], "\n\t")
	if len(left) > 10 {
		text += fmt.Sprintf("\n\tand %d more", len(left)-10)
	}
	return fmt.Errorf("%d recorded requests were not made; %s, or allow it by record.Lenient():\n\t%s",
		len(left), p.again(), text)
}

// again is the advice to record again.
func (p *Player) again() string {
	if p.config.command != "" {
		return "record again: " + p.config.command
	}
	return "record again"
}

// Silent reports whether no request but for a card was answered, and of which version of the protocol, and over which
// binding, those of the recording are.
func (p *Player) Silent() (silent bool, version, binding string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.rec.exchanges {
		if p.used[i] && !x.ofCard() {
			return false, "", ""
		}
	}
	return true, p.rec.head.Protocol, p.rec.head.Binding
}

// Mismatches are the requests that the recording does not have, each once.
func (p *Player) Mismatches() []*MismatchError {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*MismatchError(nil), p.mistakes...)
}
