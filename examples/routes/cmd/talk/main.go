// Command talk holds a conversation with a running route planner through its generated client and prints it:
// every skill in one go and as a stream, a question in the middle of a task, a cancel and a re-subscribe.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"

	"example.com/routes/a2a"
	"example.com/routes/client"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: talk URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := talk(ctx, os.Args[1]); err != nil {
		log.Fatal("talk: ", err)
	}
}

func talk(ctx context.Context, url string) error {
	c, err := client.New(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, part := range []func(context.Context, *client.Client) error{
		route, routeStreamed, wrongInput, mapWithQuestion, mapStreamed, cancelTask, resubscribe,
	} {
		if err := part(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func say(format string, args ...any)   { fmt.Printf("  > "+format+"\n", args...) }
func hear(format string, args ...any)  { fmt.Printf("  < "+format+"\n", args...) }
func title(format string, args ...any) { fmt.Printf("\n  "+format+"\n", args...) }

var (
	googleplex = client.PlaceString("1600 Amphitheatre Parkway, Mountain View, CA")
	airport    = client.PlaceString("San Francisco International Airport")
)

func route(ctx context.Context, c *client.Client) error {
	title("A route, asked for and answered in one go.")
	say("from %s to %s, without tolls", googleplex, airport)
	out, err := c.RouteOptimizerTraffic(ctx, &client.RouteOptimizerTrafficInput{
		Origin: googleplex, Destination: airport,
		Preferences:  []client.RouteOptimizerTrafficInputPreferencesItem{client.RouteOptimizerTrafficInputPreferencesItemAvoidTolls},
		Alternatives: 3,
	})
	if err != nil {
		return err
	}
	hear("%d m in %s, tolls: %t, traffic: %s", out.DistanceMeters, out.Duration, out.Tolls, *out.Legs[0].Traffic)
	return nil
}

func routeStreamed(ctx context.Context, c *client.Client) error {
	title("The same as a stream: progress as it is made, the typed output at the end.")
	in := &client.RouteOptimizerTrafficInput{
		Origin:       &client.Coordinates{Lat: 37.422, Lng: -122.084},
		Destination:  &client.Coordinates{Lat: 37.7749, Lng: -122.4194},
		Alternatives: 3,
	}
	say("from %v to %v", in.Origin, in.Destination)
	progress := 0
	for e, err := range c.RouteOptimizerTrafficStream(ctx, in) {
		switch {
		case err != nil:
			return err
		case e.Progress != "":
			progress++
			hear("… %s", e.Progress)
		case e.Done:
			hear("%d m in %s", e.Output.DistanceMeters, e.Output.Duration)
		}
	}
	if progress == 0 {
		return errors.New("the stream told no progress")
	}
	return nil
}

func wrongInput(ctx context.Context, c *client.Client) error {
	title("Input that breaks the contract never leaves the client.")
	say("from latitude 123")
	_, err := c.RouteOptimizerTraffic(ctx, &client.RouteOptimizerTrafficInput{
		Origin: &client.Coordinates{Lat: 123}, Destination: airport, Alternatives: 1,
	})
	if err == nil {
		return errors.New("latitude 123 was accepted")
	}
	hear("refused: %v", err)
	return nil
}

func mapWithQuestion(ctx context.Context, c *client.Client) error {
	title("A map without stops: the agent asks in the middle of the task, and goes on with the answer.")
	say(`a map called "Road trip"`)
	_, err := c.CustomMapGenerator(ctx, &client.CustomMapGeneratorInput{Title: "Road trip", Style: client.CustomMapGeneratorInputStyleNight})
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) {
		return fmt.Errorf("expected a question, got %v", err)
	}
	hear("(%s) %s", runtime.StateInputRequired, ask.Prompt)
	stops := []client.Coordinates{{Lat: 37.422, Lng: -122.084}, {Lat: 37.7749, Lng: -122.4194}}
	say("%v", stops)
	out, err := c.CustomMapGeneratorAnswer(ctx, ask, runtime.Data(map[string]any{"stops": stops}))
	if err != nil {
		return err
	}
	hear("%q with %d stops", out.Title, out.Stops)
	return nil
}

func mapStreamed(ctx context.Context, c *client.Client) error {
	title("A map as a stream: a legend that grows line by line, a drawing, the typed output.")
	in := &client.CustomMapGeneratorInput{Title: "Coffee", Style: client.CustomMapGeneratorInputStyleStreets, Stops: []client.Coordinates{{Lat: 37.77, Lng: -122.41}, {Lat: 37.78, Lng: -122.42}}}
	say("a map called %q with %d stops", in.Title, len(in.Stops))
	chunks := 0
	for e, err := range c.CustomMapGeneratorStream(ctx, in) {
		switch {
		case err != nil:
			return err
		case e.Artifact != nil && e.Text() != "":
			chunks++
			hear("… %q", e.Text())
		case e.Done:
			for _, f := range e.Result.Files() {
				hear("file %s (%s, %d bytes)", f.Name, f.MediaType, len(f.Content))
			}
			hear("%q with %d stops", e.Output.Title, e.Output.Stops)
		}
	}
	if chunks < 2 {
		return fmt.Errorf("the legend came in %d chunks", chunks)
	}
	return nil
}

// start begins a long search and returns its task's id as soon as the agent works on it.
func start(ctx context.Context, c *client.Client) (string, error) {
	in := &client.RouteOptimizerTrafficInput{Origin: googleplex, Destination: airport, Alternatives: 60}
	_, err := c.RouteOptimizerTraffic(ctx, in, rpc.ReturnImmediately())
	var pending *rpc.PendingError
	if !errors.As(err, &pending) {
		return "", fmt.Errorf("expected a task at work, got %v", err)
	}
	return pending.TaskID, nil
}

func cancelTask(ctx context.Context, c *client.Client) error {
	title("A long search, canceled.")
	say("compare 60 routes; return at once")
	id, err := start(ctx, c)
	if err != nil {
		return err
	}
	say("cancel")
	task, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
	if err != nil {
		return err
	}
	hear("%s", task.Status.State)
	_, err = c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
	if !errors.Is(err, a2a.ErrTaskNotCancelable) {
		return fmt.Errorf("canceling twice: %v", err)
	}
	hear("a second time: %v", err)
	return nil
}

func resubscribe(ctx context.Context, c *client.Client) error {
	title("A long search, left alone, then watched by somebody who subscribes to it.")
	say("compare 60 routes; return at once")
	id, err := start(ctx, c)
	if err != nil {
		return err
	}
	say("subscribe")
	events, last := 0, a2a.TaskState("")
	for e, err := range c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id}) {
		if err != nil {
			return err
		}
		events++
		switch e := e.(type) {
		case *a2a.Task:
			hear("the task as it stands: %s", e.Status.State)
		case *a2a.TaskStatusUpdateEvent:
			last = e.Status.State
		}
	}
	hear("%d events later: %s", events-1, last)
	if last != a2a.TaskStateCompleted {
		return fmt.Errorf("the task ended as %q", last)
	}
	return nil
}
