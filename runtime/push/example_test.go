package push_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// weather starts an agent that sends push notifications to this machine, too. Of a project, main.go does this.
func weather(forecast func(ctx context.Context, t *server.Task) error) (url string, stop func()) {
	card, err := a2a.Protocol().DecodeCard([]byte(`{"name":"weather","description":"Knows the weather.","version":"1.0.0",
		"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"forecast","name":"Forecast","description":"Says what the weather will be.","tags":["weather"]}]}`))
	if err != nil {
		log.Fatal(err)
	}
	agent, err := server.New(server.Config{
		Protocol: a2a.Protocol(), Card: card,
		Skills: []server.Skill{{ID: "forecast", Name: "Forecast", Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
			return nil, forecast(ctx, t)
		}}},
	}, webhooks.Send(), server.WithPushTargets("127.0.0.1"), quietAgent)
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(agent)
	return web.URL, func() { agent.Close(); web.Close() }
}

// A webhook hears of everything that happens in a task, in order, while the call waits for the end without a connection.
func Example() {
	url, stop := weather(func(_ context.Context, t *server.Task) error {
		if err := t.Progress("Looking at the map."); err != nil {
			return err
		}
		return t.Artifact("forecast", runtime.Text("Dry until ten."))
	})
	defer stop()

	done := make(chan struct{})
	hook, err := push.NewReceiver(a2a.Protocol(), push.Token("s3cret"),
		push.On(func(_ context.Context, e *a2a.TaskStatusUpdateEvent, _ *push.Notification) error {
			fmt.Println("status", e.Status.State)
			if m := e.Status.Message; m != nil {
				fmt.Println(" ", m.Text())
			}
			if e.Status.State == a2a.TaskStateCompleted {
				close(done)
			}
			return nil
		}),
		push.On(func(_ context.Context, e *a2a.TaskArtifactUpdateEvent, _ *push.Notification) error {
			fmt.Println("artifact", e.Artifact.Name)
			return nil
		}),
	)
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(hook)
	defer web.Close()

	c, err := client.New(context.Background(), a2a.Protocol(), url)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	forecast := client.Skill[[]runtime.Part, *client.Result]{ID: "forecast", In: client.PlainInput, Out: client.PlainOutput}
	out, err := forecast.Call(context.Background(), c, client.Say("Rome?"), client.WithPush(web.URL, "s3cret"), client.ByPush(hook))
	if err != nil {
		log.Fatal(err)
	}
	<-done
	fmt.Println("output:", out.Text())
	// Output:
	// status TASK_STATE_WORKING
	//   Looking at the map.
	// artifact forecast
	// status TASK_STATE_COMPLETED
	// output: Dry until ten.
}
