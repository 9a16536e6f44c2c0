package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// promise is what a client was told of a task, to be held against what it shows later.
type promise struct {
	kind         string // of conversation
	skill, token string
	keyed        bool     // it was sent until there was an answer
	id           string   // of its task; "" when there was no answer
	messages     []string // their ids, acknowledged: they are in the history once
	state        string   // in which it was said to have ended, or ""
	canceled     bool     // a cancel was sent
	parked       bool     // it waits for its client for good
	hooked       bool
	outages      bool  // of the store
	kills, terms int64 // before it was sent
	seen         events
	log          sums
	last         int // number of the last event
}

// client sends messages, and checks what it was promised.
type client struct {
	*Caller
	name     string
	rnd      *rand.Rand // what it does
	hookURL  string
	n        int
	promises []*promise
}

// run works until stop is closed. Promises are checked a while after they were given.
func (c *client) run(ctx context.Context, stop <-chan struct{}) error {
	for checked := 0; ; {
		for range 6 {
			p, err := c.scenario(ctx)
			if err != nil {
				return fmt.Errorf("%s %s, task %s: %w", p.kind, p.token, p.id, err)
			}
			c.promises = append(c.promises, p)
			time.Sleep(c.agent.Rest)
		}
		for ; checked < len(c.promises); checked++ {
			p := c.promises[checked]
			if err := c.check(ctx, p); err != nil {
				return fmt.Errorf("%s %s %s, task %s: %w", p.kind, p.skill, p.token, p.id, err)
			}
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// scenario is one conversation.
func (c *client) scenario(ctx context.Context) (*promise, error) {
	c.n++
	p := &promise{
		token: fmt.Sprint(c.name, "-", c.n), skill: Sturdy, keyed: true, hooked: c.rnd.IntN(2) == 0, seen: events{},
		kills: c.agent.before(), terms: c.agent.Terms.Load(), outages: c.agent.Outages,
	}
	if c.rnd.IntN(3) == 0 {
		p.skill = Fragile
	}
	kind := kinds[c.rnd.IntN(len(kinds))]
	p.kind = kind.name
	return p, kind.run(c, ctx, p)
}

// kinds are the conversations that a client has.
var kinds = []struct {
	name string
	run  func(c *client, ctx context.Context, p *promise) error
}{
	{"send", func(c *client, ctx context.Context, p *promise) error { return c.send(ctx, p, false) }},
	{"send without a key", func(c *client, ctx context.Context, p *promise) error {
		p.keyed = false
		return c.send(ctx, p, c.rnd.IntN(2) == 0)
	}},
	{"send and watch", func(c *client, ctx context.Context, p *promise) error {
		if err := c.send(ctx, p, true); err != nil {
			return err
		}
		return c.watch(ctx, p)
	}},
	{"talk", (*client).talk},
	{"cancel", (*client).cancel},
	{"interject", (*client).interject},
	{"follow", (*client).follow},
	{"send twice", (*client).twice},
}

// params are those of a message to a skill, or to the task of the promise.
func (c *client) params(p *promise, id string, early bool) any {
	m := message{ID: id, Role: "ROLE_USER", Context: "ctx-" + p.token, Task: p.id, Parts: []part{{Text: id}}}
	configuration := map[string]any{"returnImmediately": early}
	if p.id == "" {
		m.Metadata = map[string]string{"skillId": p.skill}
		if p.hooked {
			configuration["taskPushNotificationConfig"] = map[string]string{"url": c.hookURL, "token": secret}
		}
	}
	return map[string]any{"message": m, "configuration": configuration}
}

// send sends the first message: until there is an answer, or once.
func (c *client) send(ctx context.Context, p *promise, early bool) error {
	params := c.params(p, p.token, early)
	var raw json.RawMessage
	var err error
	if p.keyed {
		raw, err = c.Ask(ctx, "SendMessage", params, "Idempotency-Key", "key-"+p.token)
	} else if raw, err = c.once(ctx, "SendMessage", params); err != nil && !isRefusal(err) {
		return nil // nobody knows
	}
	var r *refusal
	if errors.As(err, &r) && r.busy() && !p.keyed {
		return nil
	}
	t, err := taskOf(raw, err)
	if err != nil {
		return err
	}
	p.id, p.messages = t.ID, append(p.messages, p.token)
	if t.ended() {
		p.state = t.Status.State
	}
	if !early && !t.ended() && p.skill != Asking {
		return &wrong{"a call that waits was answered with " + t.Status.State}
	}
	return nil
}

func isRefusal(err error) bool {
	var r *refusal
	return errors.As(err, &r)
}

func taskOf(raw json.RawMessage, err error) (*Task, error) {
	if err != nil {
		return nil, err
	}
	var got struct {
		Task *Task `json:"task"`
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Task == nil {
		return nil, fmt.Errorf("no task: %s (%v)", raw, err)
	}
	return got.Task, nil
}

// watch follows the task to its end, however often the agent dies.
func (c *client) watch(ctx context.Context, p *promise) error {
	return c.resume(ctx, p, &stream{task: p.id, last: -1, got: p.seen})
}

// resume follows a task until it rests, across connections that break. Where there are replicas it leaves one after a
// few events, and goes on at another.
func (c *client) resume(ctx context.Context, p *promise, s *stream) error {
	for {
		events, most := 0, c.rnd.IntN(5)
		over := func(state string) bool {
			events++
			return rests(state) || len(c.agent.Addresses) > 1 && events == most
		}
		done, err := c.subscribe(ctx, s, over)
		switch {
		case done && !rests(s.state):
			continue
		case done:
			p.last, p.state = s.last, s.state
			return nil
		case Refused(err, unsupported) && s.last < 0: // it has ended before
			s.last = 1
		case isWrong(err) || isRefusal(err) && !busy(err):
			return err
		}
		if e := wait(ctx); e != nil {
			return fmt.Errorf("%w: %w", e, err)
		}
	}
}

func rests(state string) bool { return ended(state) || state == waiting }

// follow sends the first message and follows what comes of it, on one connection as long as it lasts.
func (c *client) follow(ctx context.Context, p *promise) error {
	s := &stream{last: -1, got: p.seen}
	for s.last < 0 {
		params := c.params(p, p.token, false)
		done, err := c.stream(ctx, s, rests, "SendStreamingMessage", params, "Idempotency-Key", "key-"+p.token)
		if isWrong(err) || isRefusal(err) && !busy(err) {
			return err
		}
		if done {
			break
		}
		if e := wait(ctx); e != nil {
			return fmt.Errorf("%w: %w", e, err)
		}
	}
	p.id, p.messages = s.task, append(p.messages, p.token)
	if rests(s.state) {
		p.last, p.state = s.last, s.state
		return nil
	}
	return c.resume(ctx, p, s)
}

func busy(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.busy()
}

const waiting = "TASK_STATE_INPUT_REQUIRED"

// talk is asked, and answers some time later, or never.
func (c *client) talk(ctx context.Context, p *promise) error {
	p.skill = Asking
	if err := c.send(ctx, p, false); err != nil {
		return err
	}
	if p.parked = p.state == "" && c.rnd.IntN(4) == 0; p.parked || p.state != "" {
		return nil
	}
	time.Sleep(time.Duration(c.rnd.IntN(300)) * time.Millisecond)
	answer := p.token + "-answer"
	raw, err := c.Ask(ctx, "SendMessage", c.params(p, answer, false), "Idempotency-Key", "key-"+answer)
	t, err := taskOf(raw, err)
	if err != nil {
		return err
	}
	p.messages = append(p.messages, answer)
	if p.state = t.Status.State; !t.ended() || t.ID != p.id {
		return &wrong{"the answer was answered with " + t.Status.State + " of " + t.ID}
	}
	return nil
}

// cancel cancels the task at work.
func (c *client) cancel(ctx context.Context, p *promise) error {
	if err := c.send(ctx, p, true); err != nil {
		return err
	}
	time.Sleep(time.Duration(c.rnd.IntN(20)) * time.Millisecond)
	p.canceled = true
	raw, err := c.Ask(ctx, "CancelTask", map[string]string{"id": p.id})
	if Refused(err, notCancel) {
		return nil // it has ended, or a cancel before was heard
	}
	if err != nil {
		return err
	}
	var t Task
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	if p.state = t.Status.State; p.state != "TASK_STATE_CANCELED" {
		return &wrong{"a canceled task is " + p.state}
	}
	return nil
}

// interject says more while the task is worked on.
func (c *client) interject(ctx context.Context, p *promise) error {
	if err := c.send(ctx, p, true); err != nil {
		return err
	}
	for i := range 3 {
		more := fmt.Sprint(p.token, "-more", i)
		_, err := c.Ask(ctx, "SendMessage", c.params(p, more, true), "Idempotency-Key", "key-"+more)
		if Refused(err, unsupported) {
			return nil // it has ended
		}
		if err != nil {
			return err
		}
		p.messages = append(p.messages, more)
	}
	return nil
}

// twice sends the message twice at the same moment.
func (c *client) twice(ctx context.Context, p *promise) error {
	q := *p
	var other error
	var group sync.WaitGroup
	group.Go(func() { other = c.send(ctx, &q, true) })
	err := c.send(ctx, p, true)
	group.Wait()
	if err = errors.Join(err, other); err == nil && q.id != p.id {
		err = &wrong{"the message that came twice has two tasks: " + p.id + " and " + q.id}
	}
	return err
}
