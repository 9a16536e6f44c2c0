package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
)

// attempt is one request under way. It passes through steps, as a request does through the round trippers of net/http.
type attempt struct {
	client  *Client
	call    *call
	method  Method
	request any // the generated one

	link *link              // that it goes over
	op   *runtime.Operation // the method as the link has it
	seen *observed
	sent *Request // as the link gets it

	result any   // the end of a request that has one answer
	conn   *conn // the end of one whose answer is a stream
}

// step does its part of an attempt before and after it passes the attempt to the rest.
type step func(ctx context.Context, a *attempt, rest []step) error

// The steps of a request, the first one around all others. Around them the client for the newest card is chosen: see byNewest.
var (
	once    = []step{reach, limit, watch, renew, encode, authorize, answer}
	patient = append([]step{again}, once...)

	openOnce    = []step{reach, watch, renew, encode, authorize, open}
	openPatient = append([]step{again}, openOnce...)
)

// pass takes the attempt through steps.
func (a *attempt) pass(ctx context.Context, steps []step) error {
	return steps[0](ctx, a, steps[1:])
}

// ask makes a request that has one answer, by the steps once or patient.
func (c *Client) ask(ctx context.Context, steps []step, m Method, request any, cl *call) (any, error) {
	a := &attempt{client: c, call: cl, method: m, request: request}
	if err := a.pass(ctx, steps); err != nil {
		return nil, fmt.Errorf("%s: %w", c.links.name(m), err)
	}
	return a.result, nil
}

// open makes a request whose answer is a stream, by the steps openOnce or openPatient.
func (c *Client) open(ctx context.Context, steps []step, m Method, request any, cl *call) (*conn, error) {
	a := &attempt{client: c, call: cl, method: m, request: request}
	err := a.pass(ctx, steps)
	return a.conn, err
}

// again makes the request again where that is safe, by the policy of the call.
func again(ctx context.Context, a *attempt, rest []step) error {
	role, cl := a.method.Role, a.call
	subscribes := role == runtime.RoleSubscribe
	safe := subscribes || role.Info().Reads || cl.safe && role.Sends()
	for failed := 1; ; failed++ {
		cl.begun = time.Now()
		err := a.pass(ctx, rest)
		if err == nil {
			return nil
		}
		f := faultOf(ctx, err)
		if subscribes || role.Sends() {
			cl.note(f)
		}
		if f != faultUnsent && !(safe && f.passes()) || !cl.policy.again(ctx, failed, err) {
			return err
		}
		if f == faultLost {
			a.link.avoid()
		}
	}
}

// reach tries the links that have the operation, one after the other, until one can be reached.
func reach(ctx context.Context, a *attempt, rest []step) error {
	links := &a.client.links
	var unreached []error
	for _, l := range links.inOrder() {
		op := l.operation(a.method)
		if op == nil {
			continue
		}
		a.link, a.op = l, op
		err := a.pass(ctx, rest)
		if !unsent(err) {
			return err
		}
		l.avoid()
		unreached = append(unreached, err)
	}
	if len(unreached) > 0 {
		return errors.Join(unreached...)
	}
	return runtime.ErrUnsupportedOperation.AsReceived().
		With("protocol version %s has no operation %s here", links.version.Name, a.method.RPC)
}

// limit ends an attempt that takes longer than the policy of the call allows. A stream has limits of its own.
func limit(ctx context.Context, a *attempt, rest []step) error {
	const what = "one attempt of the call"
	most := a.call.policy.AttemptTimeout
	limited, done := within(ctx, most, what)
	defer done()
	err := a.pass(limited, rest)
	if most > 0 && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &LinkError{Err: &overtime{what, most}}
	}
	return err
}

// watch notifies observers when the attempt begins and when it has its answer or fails. The end of a stream is reported by its reader.
func watch(ctx context.Context, a *attempt, rest []step) error {
	if c := a.client; len(c.observers.List) > 0 {
		o := &observed{observers: &c.observers}
		o.Kind, o.Begun, o.Carrier = observe.Call, time.Now(), &o.sent
		o.Operation, o.Stream = c.protocol.NameOf(a.op), a.op.Stream
		o.Binding, o.Version, o.Peer = a.link.iface.Binding, c.links.version.Name, peerOf(a.link.iface.URL)
		o.Skill, o.Task, o.Context, o.Tenant = a.call.skill, a.call.message.TaskID, a.call.message.ContextID, c.Tenant()
		o.ctx = c.observers.Begin(ctx, &o.Activity)
		ctx, a.seen = o.ctx, o
	}
	err := a.pass(ctx, rest)
	if err != nil || a.conn == nil {
		a.seen.got(a.result)
		a.seen.end(err)
	}
	return err
}

// encode makes the request for the link, in its version, with its headers.
func encode(ctx context.Context, a *attempt, rest []step) error {
	c, cl := a.client, a.call
	uris := c.urisOf(a.op, cl)
	if err := c.checkRequired(uris); err != nil {
		return err
	}
	request := a.request
	if a.seen != nil {
		request = observing.Mark(request, &a.seen.sent)
	}
	body, err := a.op.AppendRequest(nil, request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	r := &Request{Operation: a.op, Body: body, Header: cl.header.Clone()}
	r.Header.Set("A2A-Version", c.links.version.Name) // R150
	if len(uris) > 0 {
		r.Header.Set("A2A-Extensions", strings.Join(uris, ", "))
		if c.links.version.Rules.PlainErrors { // what 0.2 and 0.3 call it
			r.Header.Set("X-A2A-Extensions", strings.Join(uris, ", "))
		}
	}
	if cl.key != "" && a.op.Role.Sends() {
		r.Header.Del(headerKey)
		r.Header[headerKey] = []string{cl.key}
		if !cl.first.IsZero() { // the message may have been sent before
			age := max(0, time.Since(cl.first)) + 2*time.Second - 1 // rounded up, and a second for the way
			r.Header[headerAge] = []string{strconv.FormatInt(int64(age/time.Second), 10)}
		}
	}
	if cl.lastLink == nil || cl.lastLink == a.link {
		r.LastEventID = cl.lastEventID
	}
	if a.seen != nil {
		for _, key := range []string{observe.TraceParent, observe.TraceState} {
			if value := a.seen.sent.Get(key); value != "" {
				r.Header.Set(key, value)
			}
		}
	}
	a.sent = r
	return a.pass(ctx, rest)
}

// answer sends the request and reads its answer.
func answer(ctx context.Context, a *attempt, _ []step) error {
	body, err := a.link.conn.Call(ctx, a.sent)
	if err != nil {
		return err
	}
	a.result, err = a.client.agent.readResult(ctx, a.client.links.version, a.op, body)
	var untrusted *CardError
	switch {
	case err == nil || errors.As(err, &untrusted):
		return err
	case ctx.Err() != nil: // the answer may be cut off, which is no fault of the agent
		return context.Cause(ctx)
	}
	return invalid("result", err)
}

// open sends the request and begins to read the stream that is its answer.
func open(ctx context.Context, a *attempt, _ []step) error {
	c, cl := a.client, a.call
	ctx, cancel := context.WithCancelCause(ctx)
	stream, err := a.link.conn.Open(ctx, a.sent)
	if err != nil {
		cancel(nil)
		return err
	}
	a.conn = &conn{
		Stream: stream, link: a.link, op: a.op, opened: time.Now(), seen: a.seen, limit: between(c.maxEvent),
		numbers: !c.links.version.Rules.UpdatesOnly, // there a task that skips numbers looks like any update
		quiet:   c.quiet, ctx: ctx, cancel: cancel,
	}
	if cl.lastLink == nil || cl.lastLink == a.link {
		a.conn.last = eventNumber(cl.lastEventID)
	}
	return nil
}
