package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What tasks say that a crash has ended, or a store that could not be reached for so long that an update of the handler
// failed.
const (
	failed    = "The skill failed unexpectedly."
	restarted = "The agent was restarted while it worked on this. Please send the message again."
	tooOften  = "The agent was interrupted each time it worked on this, and does not try it again."
)

// check holds a promise against what the agent shows now.
func (c *client) check(ctx context.Context, p *promise) error {
	n, err := c.count(ctx, p)
	if err != nil || n == 0 && p.id == "" && !p.keyed {
		return err // a message without an answer may be lost, but it is not there twice
	}
	if n != 1 {
		return &wrong{fmt.Sprintf("%d tasks in its context", n)}
	}
	now, err := c.Get(ctx, p.id)
	if err != nil {
		return err
	}
	if p.state != "" && now.Status.State != p.state {
		return &wrong{fmt.Sprintf("it was %s and is %s", p.state, now.Status.State)}
	}
	if fault := p.history(now); fault != "" {
		return &wrong{fault}
	}
	t, err := c.rested(ctx, p)
	if err != nil {
		return err
	}
	for _, fault := range []string{p.outcome(t, c.agent.Kills.Load()-p.kills, c.agent.Terms.Load()-p.terms), p.history(t)} {
		if fault != "" {
			return &wrong{fault}
		}
	}
	p.state = t.Status.State
	return c.replay(ctx, p)
}

// count returns how many tasks the message has made, and learns the id of one that was not acknowledged.
func (c *client) count(ctx context.Context, p *promise) (int, error) {
	raw, err := c.Ask(ctx, "ListTasks", map[string]string{"contextId": "ctx-" + p.token})
	if err != nil {
		return 0, err
	}
	var list struct {
		Tasks []Task `json:"tasks"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return 0, err
	}
	if len(list.Tasks) == 1 && p.id == "" {
		p.id = list.Tasks[0].ID
	}
	return len(list.Tasks), nil
}

// rested waits until the task has ended, or waits for its client.
func (c *client) rested(ctx context.Context, p *promise) (*Task, error) {
	for {
		t, err := c.Get(ctx, p.id)
		if err != nil || t.ended() || t.Status.State == waiting {
			return t, err
		}
		if err := wait(ctx); err != nil {
			return nil, fmt.Errorf("%w: the task is still %s", err, t.Status.State)
		}
	}
}

// outcome says what is wrong with how a task has ended, or is waiting, after the agent was killed and stopped so often.
func (p *promise) outcome(t *Task, kills, terms int64) string {
	said, state := t.words(), t.Status.State
	switch {
	case p.state != "" && state != p.state:
		return fmt.Sprintf("it was %s and is %s", p.state, state)
	case p.parked && state == waiting, state == "TASK_STATE_CANCELED" && p.canceled:
		return ""
	case state == "TASK_STATE_COMPLETED" && p.skill != Asking && t.said("log") != "01234":
		return fmt.Sprintf("its log is %q", t.said("log"))
	case state == "TASK_STATE_COMPLETED" && !p.parked:
		want := "done " + p.token
		if p.skill == Asking {
			want += "-answer"
		}
		if t.said("result") != want && said != want {
			return fmt.Sprintf("its result is %q, %q", t.said("result"), said)
		}
		return ""
	case state == "TASK_STATE_FAILED" && said == restarted && p.skill == Fragile && kills+terms > 0:
		return ""
	case state == "TASK_STATE_FAILED" && said == failed && p.skill == Fragile && kills > 0 && p.outages:
		return ""
	case state == "TASK_STATE_FAILED" && said == tooOften && p.skill != Fragile && kills >= 3:
		return ""
	}
	return fmt.Sprintf("it is %s after %d kills: %q", state, kills, said)
}

// history says what is wrong with a task's messages: those acknowledged are there once.
func (p *promise) history(t *Task) string {
	times := map[string]int{}
	for _, m := range t.History {
		times[m.ID]++
	}
	if m := t.Status.Message; m != nil {
		times[m.ID]++
	}
	for _, id := range p.messages {
		if times[id] == 0 {
			return fmt.Sprintf("the message %s is lost", id)
		}
	}
	for id, n := range times {
		if n > 1 {
			return fmt.Sprintf("the message %s is there %d times", id, n)
		}
	}
	return ""
}

// replay reads the task's log from the beginning: it holds what streams have told, under the same numbers.
func (c *client) replay(ctx context.Context, p *promise) error {
	s, err := c.reread(ctx, p)
	if err != nil {
		return err
	}
	if p.last > 0 && p.last != s.last {
		return &wrong{fmt.Sprintf("its last event was %d and is %d", p.last, s.last)}
	}
	if s.state != "" && s.state != p.state {
		return &wrong{fmt.Sprintf("its log ends as %s, it is %s", s.state, p.state)}
	}
	for n, e := range p.seen {
		if s.got[n] != e {
			return &wrong{fmt.Sprintf("event %d was %s and is %s", n, e, s.got[n])}
		}
	}
	p.last, p.log, p.seen = s.last, s.got.sums(), nil
	return nil
}

// reread follows the log from its first event. A task whose first event was its last has nothing more.
func (c *client) reread(ctx context.Context, p *promise) (*stream, error) {
	over := func(s string) bool { return ended(s) || s == waiting && p.parked }
	for {
		s := &stream{task: p.id, last: 1, got: events{}}
		done, err := c.subscribe(ctx, s, over)
		if done || Refused(err, unsupported) {
			return s, nil
		}
		if isWrong(err) || isRefusal(err) && !busy(err) {
			return s, err
		}
		if e := wait(ctx); e != nil {
			return s, fmt.Errorf("%w: %w", e, err)
		}
	}
}

// delivered waits until the webhook has everything, and says what is wrong.
func delivered(h *Hook, p *promise, until time.Time) string {
	for {
		taken := slices.Clone(h.of(p.id))
		fault, missing := complain(taken, p.log, p.last)
		if fault != "" {
			return fault
		}
		if !missing {
			return ""
		}
		if time.Now().After(until) {
			var numbers []string
			for _, n := range taken {
				numbers = append(numbers, fmt.Sprint(n.first, "-", n.last))
			}
			return fmt.Sprintf("the webhook has the events %s of %d", strings.Join(numbers, " "), p.last)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func isWrong(err error) bool {
	var w *wrong
	return errors.As(err, &w)
}
