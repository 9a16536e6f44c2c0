package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/push"
)

// story is what a webhook heard of one task.
type story struct {
	States []string `json:"states"`
	Text   string   `json:"text"`
	mu     sync.Mutex
}

// startHook starts a webhook with our receiver, and returns what it hears.
func startHook() (heard *story, url string, stop func(), err error) {
	heard = &story{}
	r, err := push.NewReceiver(a2awires.Protocol(), push.Token("s3cret"), push.WithLogger(slog.New(slog.DiscardHandler)),
		push.On(func(_ context.Context, e *a2awires.TaskStatusUpdateEvent, _ *push.Notification) error {
			heard.mu.Lock()
			defer heard.mu.Unlock()
			heard.States = append(heard.States, strings.ToLower(strings.TrimPrefix(string(e.Status.State), "TASK_STATE_")))
			return nil
		}),
		push.On(func(_ context.Context, e *a2awires.TaskArtifactUpdateEvent, _ *push.Notification) error {
			heard.mu.Lock()
			defer heard.mu.Unlock()
			if !e.Append {
				heard.Text = ""
			}
			for _, p := range e.Artifact.Parts {
				text, _ := p.Content.(a2awires.PartText)
				heard.Text += string(text)
			}
			return nil
		}),
	)
	if err != nil {
		return nil, "", nil, err
	}
	web := httptest.NewServer(r)
	return heard, web.URL, web.Close, nil
}

// print is the story as a script prints one.
func (s *story) print() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := json.Marshal(s)
	if err != nil {
		panic(err) // it is strings
	}
	return out
}
