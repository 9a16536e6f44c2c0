package equivalence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/internal/test/a2amore/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/task"
)

// startDraft serves an agent that speaks the draft, and what is released, and asks again and again. It returns its address.
func startDraft(t *testing.T) string {
	t.Helper()
	p := a2amore.Protocol()
	ask := server.Skill{ID: "ask", Name: "Ask", Run: func(_ context.Context, c *task.Task, _ any) ([]byte, error) {
		if err := c.Progress("thinking"); err != nil {
			return nil, err
		}
		return nil, c.Ask("Which?")
	}}
	cfg := server.Config{Protocol: p, Card: readCard(t, p, draftCard("")), Skills: []server.Skill{ask}}
	s, err := server.New(cfg, grpcserver.Serve(), server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, s)
}

// draftCard is a card with all bindings of the draft and of 1.0 at an address.
func draftCard(addr string) string {
	var list []string
	for _, version := range []string{"1.1-draft", "1.0"} {
		for _, binding := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC} {
			url := "http://" + addr
			if binding == runtime.BindingGRPC {
				url = addr
			}
			list = append(list, fmt.Sprintf(`{"url":%q,"protocolBinding":%q,"protocolVersion":%q}`, url, binding, version))
		}
	}
	return `{"name":"Asks","description":"d","version":"1","supportedInterfaces":[` + strings.Join(list, ",") + `],
		"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`
}

// dialDraft returns a client of the draft over a binding.
func dialDraft(t *testing.T, addr, binding string) *a2aclient.Client {
	t.Helper()
	card := readCard(t, a2amore.Protocol(), draftCard(addr)).Generated().(*a2amore.AgentCard)
	c, err := a2aclient.FromCard(card, client.Use(grpcclient.Binding()), client.Prefer(binding))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if i := c.RPC().Interface(); i.Binding != binding || i.Version != "1.1-draft" {
		t.Fatalf("the client calls %+v", i)
	}
	return c
}

// draftMessage is a message, of a task unless that is "", which must have a generation unless that is 0.
func draftMessage(id string, generation int64) *a2amore.SendMessageRequest {
	r := &a2amore.SendMessageRequest{Message: a2amore.NewMessage(a2amore.RoleUser, a2amore.Text("hello"))}
	r.Message.TaskID = id
	if generation != 0 {
		r.Configuration = &a2amore.SendMessageConfiguration{IfGenerationMatch: &generation}
	}
	return r
}

// What the draft of 1.1 says of generations is the same over every binding.
func TestGenerationsAreTheSameOverEveryBinding(t *testing.T) {
	addr := startDraft(t)
	for _, binding := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC} {
		t.Run(binding, func(t *testing.T) {
			c := dialDraft(t, addr, binding)
			sent, err := c.SendMessage(t.Context(), draftMessage("", 0))
			first, ok := sent.(*a2amore.Task)
			if err != nil || !ok || first.Generation < 2 {
				t.Fatalf("%+v, %v", sent, err)
			}
			id, at := first.ID, first.Generation

			_, err = c.SendMessage(t.Context(), draftMessage(id, at-1))
			if !errors.Is(err, a2amore.ErrTaskGenerationMismatch) {
				t.Errorf("a generation that is over: %v", err)
			}
			var status *client.HTTPError
			var code *grpcclient.StatusError
			switch {
			case binding == runtime.BindingHTTP && (!errors.As(err, &status) || status.Status != http.StatusConflict):
				t.Errorf("over HTTP+JSON: %#v", err)
			case binding == runtime.BindingGRPC && (!errors.As(err, &code) || code.Status.Code() != codes.Aborted):
				t.Errorf("over gRPC: %#v", err)
			}

			polled := make(chan *a2amore.Task, 1)
			go func() {
				task, err := c.GetTask(t.Context(), &a2amore.GetTaskRequest{ID: id, CurrentGeneration: &at})
				if err != nil {
					t.Error(err)
				}
				polled <- task
			}()
			last := int64(0)
			for e, err := range c.SendStreamingMessage(t.Context(), draftMessage(id, at)) {
				if err != nil {
					t.Fatal(err)
				}
				if now := generationOf(e); last == 0 && now <= at || last != 0 && now != last+1 {
					t.Errorf("an event of generation %d comes after that of %d", now, max(at, last))
				}
				last = generationOf(e)
			}
			if task := <-polled; task == nil || task.Generation <= at {
				t.Errorf("the poll returns %+v", task)
			}
			page, err := c.ListTasks(t.Context(), &a2amore.ListTasksRequest{})
			if err != nil || !slices.ContainsFunc(page.Tasks, func(one *a2amore.Task) bool { return one.ID == id && one.Generation == last }) {
				t.Errorf("the page has %+v, %v", page, err)
			}
		})
	}
}

// generationOf is that of an item of a stream; 0 without one.
func generationOf(e a2amore.StreamResponsePayload) int64 {
	switch e := e.(type) {
	case *a2amore.Task:
		return e.Generation
	case *a2amore.TaskStatusUpdateEvent:
		return e.Generation
	case *a2amore.TaskArtifactUpdateEvent:
		return e.Generation
	}
	return 0
}

// Clients of what is released see nothing of the draft, on the same port: neither what it says, nor what it would do.
func TestOtherVersionsHaveNoGenerations(t *testing.T) {
	addr := startDraft(t)
	ask := func(method, params string) string {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || bytes.Contains(answer, []byte("eneration")) || bytes.Contains(answer, []byte(`"error"`)) {
			t.Errorf("%s answers %s, %v", method, answer, err)
		}
		return string(answer)
	}
	const message = `{"message":{"messageId":"m","role":"ROLE_USER",%s"parts":[{"text":"hello"}]}%s}`
	_, id, _ := strings.Cut(ask("SendMessage", fmt.Sprintf(message, "", "")), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	ask("SendMessage", fmt.Sprintf(message, `"taskId":"`+id+`",`, `,"configuration":{"ifGenerationMatch":"1"}`))
	ask("GetTask", `{"id":"`+id+`","currentGeneration":"1000"}`)
	ask("SendStreamingMessage", fmt.Sprintf(message, `"taskId":"`+id+`",`, ""))

	p := a2amore.Protocol()
	for _, e := range []runtime.Event{p.NewTask("t", "c", time.Time{}), p.NewStatus("t", "c", runtime.StateWorking, nil, time.Time{})} {
		for i, v := range p.Versions {
			tables := []*runtime.Table{&v.Table}
			for _, w := range v.Wires {
				tables = append(tables, &w.Table)
			}
			for _, table := range tables {
				with, err1 := table.AppendEvent(nil, runtime.WithGeneration(e, 7))
				without, err2 := table.AppendEvent(nil, e)
				if err := errors.Join(err1, err2); err != nil || bytes.Equal(with, without) != (i > 0) {
					t.Errorf("%s writes %q and %q, %v", v.Name, with, without, err)
				}
			}
		}
	}
}
