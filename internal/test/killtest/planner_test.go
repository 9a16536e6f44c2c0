//go:build unix

package killtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// plansAtOnce is how many plans are under way at each kill.
const plansAtOnce = 4

var planTrip = rpc.Skill[string, *rpc.Result]{ID: "plan-trip", In: rpc.TextInput, Out: rpc.PlainOutput}

// TestAgentsThatCallAgentsLoseNothingByKills kills the planner, and the two agents that it calls, in turn, while
// plans are under way. Each is started again where it was. Each plan comes to its end, with the whole of what the
// others said, and each of the others has worked on it in one task.
func TestAgentsThatCallAgentsLoseNothingByKills(t *testing.T) {
	rounds, seed := max(6, asked(t)/4), number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d", seed)
	three := startThree(t)
	rnd := rand.New(rand.NewPCG(seed, 7))
	begun := time.Now()
	for n := range rounds {
		plans, group := three.planAll(t, n, rnd)
		killed := []int{n % len(three.agents)}
		if n%4 == 3 { // and the next one at the same time
			killed = append(killed, (n+1)%len(three.agents))
		}
		time.Sleep(time.Duration(rnd.IntN(150)) * time.Millisecond)
		if err := three.kill(killed); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		for _, p := range plans {
			if p.err != nil {
				t.Errorf("kill %d, of the %s: the plan for %s: %v", n, threeNames[killed[0]], p.to, p.err)
			}
		}
		if t.Failed() {
			break
		}
	}
	three.check(t, rounds*plansAtOnce)
	kills := int64(0)
	for _, v := range three.agents {
		kills += v.Agent.Kills.Load()
		if err := v.Terminate(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d plans in %v, with %d kills", rounds*plansAtOnce, time.Since(begun).Round(time.Second), kills)
}

// threeNames are the agents in the order in which they are started: each knows where those before it are.
var threeNames = []string{"weather", "routes", "planner"}

// three are the planner and the two that it calls.
type three struct {
	agents  []*victim
	planner *a2aclient.Client
	notes   string
}

func startThree(t *testing.T) *three {
	t.Helper()
	binary, notes := buildThree(t), filepath.Join(t.TempDir(), "notes")
	a := &three{notes: notes}
	var urls []string
	for _, name := range threeNames {
		v := newVictim(t, binary)
		v.env = append(urls, "AGENT="+name, "NOTES="+notes)
		urls = append(urls, "A2A_AGENT_"+strings.ToUpper(name)+"=http://"+v.address)
		if err := v.Start(); err != nil {
			t.Fatal(err)
		}
		a.agents = append(a.agents, v)
	}
	c, err := a2aclient.New(t.Context(), "http://"+a.agents[2].address, rpc.Policy(rpc.CallPolicy{Attempts: 60}), rpc.Reattach(60))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	a.planner = c
	return a
}

// kill kills agents, and starts them again when all are gone.
func (a *three) kill(killed []int) error {
	var errs []error
	for _, n := range killed {
		errs = append(errs, a.agents[n].Kill())
	}
	for _, n := range killed {
		errs = append(errs, a.agents[n].Start())
	}
	return errors.Join(errs...)
}

// plan is a plan that was asked for, and why it did not come to its end.
type plan struct {
	to, answer string // answer to the question which town is meant; "" where none is asked
	days       int
	err        error
}

// planAll asks for plans of all kinds at the same time.
func (a *three) planAll(t *testing.T, round int, rnd *rand.Rand) (plans []*plan, group *sync.WaitGroup) {
	group = new(sync.WaitGroup)
	for i := range plansAtOnce {
		p := &plan{to: fmt.Sprintf("%s, trip %d.%d", []string{"Paris", "Springfield", "Tokyo", "London"}[i], round, i), days: 1 + rnd.IntN(5)}
		if i == 1 {
			p.answer = "Springfield, Oregon"
		}
		plans = append(plans, p)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		group.Go(func() {
			defer cancel()
			p.err = p.follow(ctx, a.planner.RPC())
		})
	}
	return plans, group
}

// follow asks for the plan, answers the question, and checks the outcome.
func (p *plan) follow(ctx context.Context, c *rpc.Client) error {
	in := runtime.Data(map[string]any{"from": "Oslo", "to": p.to, "days": p.days})
	result, err := planTrip.Call(ctx, c, "", rpc.Attach(in), rpc.IdempotencyKey("plan "+p.to))
	var ask *rpc.InputRequiredError
	if p.answer != "" {
		if !errors.As(err, &ask) || !strings.Contains(ask.Prompt, "Illinois") {
			return fmt.Errorf("got %w, want a question", err)
		}
		result, err = planTrip.Answer(ctx, c, ask.With(rpc.IdempotencyKey("answer "+p.to)), runtime.Text(p.answer))
	}
	if err != nil {
		return err
	}
	return p.isWhole(result)
}

// isWhole checks that a plan has all that the two agents said, once.
func (p *plan) isWhole(result *rpc.Result) error {
	raw, err := result.JSON()
	if err != nil {
		return err
	}
	var out struct {
		To             string
		DistanceMeters int
		Days           []any
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return err
	}
	city, _, _ := strings.Cut(p.to, ",")
	if p.answer != "" {
		city = p.answer
	}
	if out.To != city || out.DistanceMeters == 0 || len(out.Days) != p.days {
		return fmt.Errorf("got %s, want %d days in %s", raw, p.days, city)
	}
	for _, artifact := range result.Artifacts {
		if artifact.Name == "forecast" {
			var text strings.Builder
			for _, part := range artifact.Parts {
				text.WriteString(part.Text)
			}
			if lines := strings.Count(text.String(), "\n"); lines != p.days {
				return fmt.Errorf("%d of %d days were passed on: %q", lines, p.days, text.String())
			}
			return nil
		}
	}
	return errors.New("the forecast was not passed on")
}

// check compares what the agents have in the end: the planner one task for each plan, and each of the others one for
// it, too. What a handler does by its key it does once for each message.
func (a *three) check(t *testing.T, plans int) {
	t.Helper()
	tasks, keys := map[string]map[string]bool{}, map[string]map[string]bool{}
	runs := readNotes(t, a.notes)
	for _, n := range runs {
		for of, value := range map[*map[string]map[string]bool]string{&tasks: n.task, &keys: n.key} {
			if (*of)[n.place] == nil {
				(*of)[n.place] = map[string]bool{}
			}
			(*of)[n.place][value] = true
		}
	}
	const agents = 2 // that are called, for each plan
	for place := range tasks {
		messages := agents
		if strings.HasPrefix(place, "Springfield") {
			messages++ // the answer
		}
		if len(tasks[place]) != agents || len(keys[place]) != messages {
			t.Errorf("%s: %d tasks and %d messages, want %d and %d", place, len(tasks[place]), len(keys[place]), agents, messages)
		}
	}
	if !t.Failed() && len(tasks) != plans {
		t.Errorf("there are %d places, want %d", len(tasks), plans)
	}
	list, err := a.planner.ListTasks(t.Context(), &a2a.ListTasksRequest{PageSize: new(int32(1))})
	if err != nil || !t.Failed() && int(list.TotalSize) != plans {
		t.Errorf("the planner has %v tasks, %v, want %d", list, err, plans)
	}
	t.Logf("%d runs of handlers for %d messages", len(runs), plans*agents+plans/plansAtOnce)
}
