// Package recording makes a recording, as record.Replay reads it, of exchanges that the loop of development has kept.
package recording

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/testkit/fault"
	"github.com/a2agen/a2agen/testkit/record"
)

// CardPath is where clients look for an agent's card.
const CardPath = "/.well-known/agent-card.json"

// Left is an exchange that is not in a recording, and why.
type Left struct {
	Call int64
	Why  string
}

// errNothing is the error of a recording of no exchange.
var errNothing = errors.New("none of these calls can be in a recording")

// Lines returns a recording of exchanges with one agent, whose callers find it at origin ("http://127.0.0.1:8080").
// Clients begin with the card: if none of the exchanges has it, the given one comes first. What cannot be recorded is
// left out; it is an error if that is all.
func Lines(list []traffic.Exchange, origin string, card []byte) ([]byte, []Left, error) {
	var left []Left
	var kept []traffic.Exchange
	for _, x := range list {
		if why := unfit(&x); why != "" {
			left = append(left, Left{x.ID, why})
			continue
		}
		kept = append(kept, x)
	}
	if len(kept) == 0 {
		return nil, left, nothing(left)
	}
	slices.SortStableFunc(kept, func(a, b traffic.Exchange) int { return a.Begun.Compare(b.Begun) })
	if !slices.ContainsFunc(kept, func(x traffic.Exchange) bool { return x.Operation == fault.Card }) && len(card) > 0 {
		kept = slices.Insert(kept, 0, fetched(card, kept[0].Begun))
	}
	next := &played{}
	r := record.NewRecorder(record.Over(next))
	if err := play(r, next, kept, origin); err != nil {
		return nil, left, err
	}
	text, err := r.Lines()
	return text, left, err
}

func nothing(left []Left) error {
	err := errNothing
	for _, l := range left {
		err = fmt.Errorf("%w; #%d: %s", err, l.Call, l.Why)
	}
	return err
}

// fetched is the exchange that fetches a card, just before a time.
func fetched(card []byte, before time.Time) traffic.Exchange {
	return traffic.Exchange{
		Summary:  traffic.Summary{Begun: before, Method: http.MethodGet, Path: CardPath, Operation: fault.Card, State: traffic.Done, Status: http.StatusOK},
		Header:   http.Header{"Content-Type": {"application/json"}},
		Response: traffic.Body{Bytes: card, Size: int64(len(card))},
	}
}

// unfit says why an exchange cannot be in a recording; "" if it can.
func unfit(x *traffic.Exchange) string {
	switch encoding := x.Header.Get("Content-Encoding"); {
	case x.Binding == runtime.BindingGRPC:
		return "a recording has no calls over gRPC"
	case x.State == traffic.Running && x.Status == 0:
		return "it was not answered yet"
	case x.Request.Cut:
		return "its request was not kept whole"
	case x.Response.Cut, slices.ContainsFunc(x.Events, func(e traffic.Event) bool { return e.Cut }), len(x.Events) < x.EventN:
		return "its answer was not kept whole"
	case encoding != "" && encoding != "identity":
		return "its answer is compressed (" + encoding + ")"
	case strings.HasSuffix(x.Path, "…"):
		return "its path is too long"
	}
	return ""
}

// step is something that happened in an exchange.
type step struct {
	at time.Time
	do func() error
}

// play has a recorder see exchanges again, in the order in which everything happened.
func play(r *record.Recorder, next *played, list []traffic.Exchange, origin string) error {
	var steps []step
	for i := range list {
		more, err := stepsOf(r, next, &list[i], origin)
		if err != nil {
			return fmt.Errorf("#%d: %w", list[i].ID, err)
		}
		steps = append(steps, more...)
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	for _, s := range steps {
		if err := s.do(); err != nil {
			return err
		}
	}
	return nil
}

// after is a time so many milliseconds after the beginning of an exchange.
func after(x *traffic.Exchange, ms float64) time.Time {
	return x.Begun.Add(time.Duration(ms * float64(time.Millisecond)))
}

// replayed is an exchange while a recorder sees it again.
type replayed struct {
	*traffic.Exchange
	body *answer
	resp *http.Response
}

// stepsOf are those of an exchange.
func stepsOf(r *record.Recorder, next *played, x *traffic.Exchange, origin string) ([]step, error) {
	ctx, leave := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, x.Method, origin+x.Path, bytes.NewReader(x.Request.Bytes))
	if err != nil {
		leave()
		return nil, err
	}
	for _, name := range []string{"A2A-Version", "Last-Event-ID", "Content-Type"} {
		if v := x.RequestHeader.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	p := &replayed{Exchange: x, body: &answer{}}
	steps := []step{{x.Begun, func() error {
		if next.x = p; x.Status == 0 && x.Problem == traffic.CallerLeft {
			leave()
		}
		p.resp, err = r.RoundTrip(req)
		if x.Status != 0 && err != nil {
			return err
		}
		return nil // without an answer an error is what is to be recorded
	}}}
	for _, e := range x.Events {
		steps = append(steps, step{after(x, e.AtMS), func() error { return p.read(e.Bytes) }})
	}
	if x.State == traffic.Running || x.Status == 0 {
		return steps, nil
	}
	return append(steps, step{after(x, x.TookMS), func() error { return p.end(leave) }}), nil
}

// read has the recorder see bytes of the answer.
func (p *replayed) read(b []byte) error {
	p.body.b = b
	_, err := io.CopyN(io.Discard, p.resp.Body, int64(len(b)))
	return err
}

// end has it see the end.
func (p *replayed) end(leave func()) error {
	if err := p.read(p.Response.Bytes); err != nil {
		return err
	}
	switch {
	case p.State == traffic.Done:
		p.body.end = io.EOF
	case p.Problem == traffic.CallerLeft:
		leave()
		return p.resp.Body.Close()
	default:
		p.body.end = io.ErrUnexpectedEOF
	}
	_, err := p.resp.Body.Read(make([]byte, 1))
	if errors.Is(err, p.body.end) {
		return nil
	}
	return err
}

// answer is the body of an answer: what was put in, then the end.
type answer struct {
	b   []byte
	end error
}

// Read reads what was put in.
func (a *answer) Read(p []byte) (int, error) {
	if len(a.b) == 0 {
		return 0, a.end
	}
	n := copy(p, a.b)
	a.b = a.b[n:]
	return n, nil
}

// Close does nothing.
func (a *answer) Close() error { return nil }

// played answers as the exchange that is played.
type played struct{ x *replayed }

// RoundTrip answers with a head, and a body that is read step by step.
func (p *played) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.x.Status == 0 {
		return nil, cmp.Or(req.Context().Err(), io.ErrUnexpectedEOF)
	}
	h := http.Header{}
	for name, values := range p.x.Header {
		if name != "Set-Cookie" {
			h[name] = values
		}
	}
	return &http.Response{StatusCode: p.x.Status, Header: h, Body: p.x.body, Request: req}, nil
}
