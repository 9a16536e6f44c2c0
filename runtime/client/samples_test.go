package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/internal/test/official"
	"github.com/a2agen/a2agen/runtime"
)

// sample reads a sample of the specification's text.
func sample(t *testing.T, name string) (raw string, events []json.RawMessage) {
	t.Helper()
	b, err := os.ReadFile(official.Folder(t, "samples", "v1.0.1", name))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Raw    string
		Events []json.RawMessage
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s.Raw, s.Events
}

// A2A 1.0 §9.5: the two errors that the specification prints. Their ids, 1 and 2, are those of a client's first two requests.
func TestErrorsOfTheSpecificationAreTyped(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		invalid, _ := sample(t, "9.5-01-rpcerr-error-handling.json")
		missing, _ := sample(t, "9.5-02-rpcerr-error-handling.json")
		f := newFake(t, binding, map[string][]reply{"GetTask": {body(200, "application/json", invalid), body(200, "application/json", missing)}})
		c := f.typed()
		_, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "x"})
		var e *runtime.Error
		if !errors.Is(err, a2a.ErrInvalidParams) || !errors.As(err, &e) || len(e.Violations()) == 0 || e.Violations()[0].Field == "" {
			t.Errorf("got %v, want InvalidParams with the violations of\n%s", err, invalid)
		}
		_, err = c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "x"})
		if !errors.Is(err, a2a.ErrTaskNotFound) || !errors.As(err, &e) || e.Reason != "TASK_NOT_FOUND" || e.Metadata("taskId") == "" {
			t.Errorf("got %v, want TaskNotFound with its metadata", err)
		}
	}, runtime.BindingJSONRPC)
}

// A2A 1.0 §6.2: the printed stream has the printed events.
func TestTheStreamOfTheSpecificationIsRead(t *testing.T) {
	raw, events := sample(t, "6.2-02-sse-streaming-task-execution.json")
	_, stream, ok := strings.Cut(raw, "\n\n")
	if !ok || len(events) == 0 {
		t.Fatalf("the sample has no body: %q", raw)
	}
	r := sse.NewReader(strings.NewReader(stream), 0)
	n := 0
	for ; ; n++ {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(e.Data) {
			t.Errorf("event %d is %q", n, e.Data)
		}
	}
	if n != len(events) {
		t.Errorf("%d events, want %d", n, len(events))
	}
}
