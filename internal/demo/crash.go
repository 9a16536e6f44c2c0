package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// The demo calls the agent as one who has only its card. The skills are those of examples/routes.
var (
	search = rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "route-optimizer-traffic", In: rpc.PlainInput, Out: rpc.PlainOutput}
	draw   = rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "custom-map-generator", In: rpc.PlainInput, Out: rpc.PlainOutput}
)

const (
	routes = 200 // that the search compares: a second's work
	tasks  = "geo-spatial-route-planner-agent.db"
)

// crash leaves the agent with a task that waits for its client and one in the middle of its work.
func (d *demo) crash(ctx context.Context) (err error) {
	c, err := rpc.New(ctx, a2a.Protocol(), d.process.url)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("\n  > a map without stops")
	_, err = draw.Call(ctx, c, []runtime.Part{runtime.Data(map[string]any{"title": "Before and after"})})
	if !errors.As(err, &d.parked) {
		return fmt.Errorf("expected a question, got %v", err)
	}
	fmt.Printf("  < %s (the task waits for the answer)\n", d.parked.Prompt)

	d.webhook = newWebhook()
	fmt.Printf("\n  > compare %d routes, and tell %s of every event; it answers 503 for now\n", routes, d.webhook.URL)
	input := runtime.Data(map[string]any{
		"origin": "San Francisco", "destination": "San Francisco International Airport", "alternatives": routes,
	})
	for e, err := range search.Stream(ctx, c, []runtime.Part{input}, rpc.WithPush(d.webhook.URL, token)) {
		if err != nil {
			return err
		}
		if e.Progress == fmt.Sprintf("compared %d of %d routes", routes/8, routes) {
			d.search = e.TaskID
			fmt.Printf("  < … %s\n", e.Progress)
			break
		}
	}
	fmt.Printf("\n  $ kill -9 %d\n", d.process.cmd.Process.Pid)
	return d.kill()
}

// recover starts the agent again, hears the webhook to the end, and compares what it heard with what a poll shows.
func (d *demo) recover(ctx context.Context) error {
	at, err := url.Parse(d.process.url)
	if err != nil {
		return err
	}
	if err := d.launch(at.Host); err != nil {
		return err
	}
	fmt.Println("\n  The webhook is up:")
	d.webhook.up.Store(true)
	heard, err := d.webhook.story(ctx)
	if err != nil {
		return err
	}
	shorten(heard)
	c, err := a2aclient.New(ctx, d.process.url)
	if err != nil {
		return err
	}
	defer c.Close()
	task, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: d.search})
	if err != nil {
		return err
	}
	var polled []string
	for _, m := range task.History {
		if m.Role == a2a.RoleAgent {
			polled = append(polled, m.Text())
		}
	}
	if !slices.Equal(heard, polled) || task.Status.State != a2a.TaskStateCompleted {
		return fmt.Errorf("the webhook heard %q, but the task is %s with %q", heard, task.Status.State, polled)
	}
	fmt.Printf("  %d messages, none missing, none twice: as GetTask shows the task, which is %s\n",
		len(heard), task.Status.State)

	stops := []map[string]float64{{"lat": 37.422, "lng": -122.084}, {"lat": 37.7749, "lng": -122.4194}}
	fmt.Printf("\n  > two stops, which answer the question from before the crash\n")
	out, err := draw.Answer(ctx, c.RPC(), d.parked, runtime.Data(map[string]any{"stops": stops}))
	if err != nil {
		return err
	}
	if len(out.Files()) != 1 {
		return fmt.Errorf("expected a map, got %d files", len(out.Files()))
	}
	fmt.Printf("  < file %s\n", out.Files()[0].Name)
	return d.list(ctx)
}

// list looks into the file beside the agent.
func (d *demo) list(ctx context.Context) error {
	return sh(ctx, d.agent, d.tool, "tasks", "list", "--store", tasks, "--limit", "2")
}

// shorten prints the beginnings and ends of what was counted up.
func shorten(heard []string) {
	for i, s := range heard {
		switch {
		case i < 2 || i == len(heard)-1 || first(s) || first(heard[i+1]):
			fmt.Println("  <", s)
		case i == 2 || first(heard[i-1]):
			fmt.Println("  < …")
		}
	}
}

// first reports whether an attempt begins with this.
func first(progress string) bool { return strings.HasPrefix(progress, "compared 1 of") }
