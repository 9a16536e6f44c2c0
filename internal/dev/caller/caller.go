// Package caller calls agents for the page: in the version and over the binding that it asks for, by way of the proxy,
// so that the call is recorded as that of any other program.
package caller

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/dev/forms"
	"github.com/a2agen/a2agen/internal/dev/identity"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
)

// Call is what the page asks for.
type Call struct {
	Binding   string `json:"binding"`   // as cards name it
	Version   string `json:"version"`   // "1.0"
	Operation string `json:"operation"` // as 1.0 calls it
	// Request is the request in the form of 1.0, whatever the version is.
	Request     json.RawMessage `json:"request"`
	Header      http.Header     `json:"header"` // beside those of the binding, such as Authorization
	LastEventID string          `json:"lastEventId"`
}

// Caller calls agents. Calls go on until they end, [Caller.Stop] ends them, or Context does.
type Caller struct {
	Context context.Context
	Traffic *traffic.Log
	// Agent returns where the callers of an agent find it, and its card; "" if there is no such agent.
	Agent func(ctx context.Context, number int) (url string, card []byte, err error)
	// As returns how a client calls an agent as somebody, by the value of the header [identity.Header].
	As func(agent int, name string) ([]client.Option, error)

	mu      sync.Mutex
	running map[int64]func()
}

// ErrAgent is the error of an agent that there is not.
var ErrAgent = errors.New("there is no such agent")

// Card returns the card of an agent with addresses of the proxy, and where that is.
func (c *Caller) Card(ctx context.Context, number int) (runtime.Card, string, error) {
	at, src, err := c.Agent(ctx, number)
	switch {
	case err != nil:
		return nil, "", err
	case at == "":
		return nil, "", ErrAgent
	}
	card, err := client.ParseCard(a2awires.Protocol(), src)
	if err != nil {
		return nil, "", fmt.Errorf("read the agent's card: %w", err)
	}
	base, err := url.Parse(at)
	if err != nil {
		return nil, "", err
	}
	return card.At(func(i runtime.Interface) string {
		if u, err := url.Parse(i.URL); err == nil && u.Host == base.Host || i.URL == base.Host {
			return i.URL
		}
		return runtime.Rebase(at, i)
	}), at, nil
}

// Start begins a call, and returns the number under which it is recorded.
func (c *Caller) Start(ctx context.Context, agent int, call Call) (int64, error) {
	key := rand.Text()
	cl, run, err := c.prepare(ctx, agent, call, key)
	if err != nil {
		return 0, err
	}
	after := c.Traffic.Feed.Last()
	running, stop := context.WithCancel(c.Context)
	failed := make(chan error, 1)
	go func() {
		defer cl.Close()
		failed <- run(running)
	}()
	id, err := c.recorded(ctx, after, key, failed)
	if err != nil {
		stop()
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[int64]func(){}
	}
	c.running[id] = stop
	for old := range c.running { // as many as are recorded
		if old <= id-traffic.MaxCalls {
			delete(c.running, old)
		}
	}
	return id, nil
}

// Stop has a call of the page break off: nobody listens any more, while its task goes on. It reports false if it was not
// begun here.
func (c *Caller) Stop(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop, ok := c.running[id]
	if ok {
		stop()
		delete(c.running, id)
	}
	return ok
}

// recorded waits until an exchange with a key is recorded, or the call failed before.
func (c *Caller) recorded(ctx context.Context, after int64, key string, failed <-chan error) (int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case err := <-failed:
			if err == nil {
				err = errors.New("the call was made, and is not recorded: too many are under way")
			}
			cancel(err)
		case <-over:
		}
	}()
	for {
		items, lost, err := c.Traffic.Feed.Next(ctx, after)
		if err != nil { // what was recorded before the call failed counts
			items, lost, _ = c.Traffic.Feed.Next(ctx, after)
		}
		for _, i := range items {
			after = i.Seq
			if s, ok := i.What.(*traffic.Summary); ok && s.Key == key {
				return s.ID, nil
			}
		}
		if lost {
			after = c.Traffic.Feed.Last()
			for _, s := range c.Traffic.List(0, traffic.MaxCalls) {
				if s.Key == key {
					return s.ID, nil
				}
			}
		}
		if err != nil {
			return 0, context.Cause(ctx)
		}
	}
}

// prepare makes a client for one call, and the function that makes that.
func (c *Caller) prepare(ctx context.Context, agent int, call Call, key string) (cl *client.Client, run func(context.Context) error, err error) {
	card, _, err := c.Card(ctx, agent)
	if err != nil {
		return nil, nil, err
	}
	role := runtime.RoleOf(call.Operation)
	newest := a2awires.Protocol().Versions[0]
	of := slices.IndexFunc(newest.Operations, func(op *runtime.Operation) bool { return op.Role == role })
	if role == runtime.RoleOther || of < 0 {
		return nil, nil, fmt.Errorf("there is no operation %.60q", call.Operation)
	}
	op := newest.Operations[of]
	neutral, err := op.Decode(call.Request)
	if err != nil {
		return nil, nil, fmt.Errorf("the request is none of %s: %w", call.Operation, err)
	}
	p, err := speaking(call.Version)
	if err != nil {
		return nil, nil, err
	}
	label, options, err := c.as(agent, call.Header)
	if err != nil {
		return nil, nil, err
	}
	cl, err = client.FromCard(p, card, append(options, client.Use(grpcclient.Binding()), client.Prefer(call.Binding), client.SendAnyway(),
		client.OneHost(), client.Policy(client.CallPolicy{Attempts: 1}), client.Reattach(0), client.IdleTimeout(0), client.QuietTimeout(0),
		client.MaxEvent(traffic.MaxBody), client.MaxResponse(traffic.MaxBody))...)
	if err != nil {
		return nil, nil, err
	}
	opts := []client.CallOption{client.Header(traffic.CallerHeader, label), client.Header(traffic.KeyHeader, key)}
	for name, values := range call.Header {
		if http.CanonicalHeaderKey(name) == identity.Header {
			continue
		}
		for _, v := range values {
			opts = append(opts, client.Header(name, v))
		}
	}
	if call.LastEventID != "" {
		opts = append(opts, client.LastEventID(call.LastEventID))
	}
	m := client.Method{Role: role, RPC: call.Operation}
	request := forms.Source(neutral)
	return cl, func(ctx context.Context) error {
		if !op.Stream {
			_, err := cl.Call(ctx, m, request, opts...)
			return err
		}
		for _, err := range cl.Stream(ctx, m, request, opts...) {
			if err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// as returns as whom headers say that the page calls: what the record calls it, and how a client does it.
func (c *Caller) as(agent int, h http.Header) (label string, options []client.Option, err error) {
	name := ""
	for key, values := range h {
		if http.CanonicalHeaderKey(key) == identity.Header && len(values) > 0 {
			name = values[0]
		}
	}
	if name == "" {
		return "page", nil, nil
	}
	options, err = c.As(agent, name)
	return "page as " + name, slices.Clone(options), err
}

// speaking is the protocol in one version.
func speaking(version string) (*runtime.Protocol, error) {
	p := a2awires.Protocol()
	i := slices.IndexFunc(p.Versions, func(v *runtime.Version) bool { return strings.HasPrefix(version+".", v.Name+".") })
	if i < 0 {
		return nil, fmt.Errorf("this command does not speak version %.20q", version)
	}
	one := *p
	one.Versions = p.Versions[i : i+1]
	return &one, nil
}
