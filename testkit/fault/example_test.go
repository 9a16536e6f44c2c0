package fault_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/a2agen/a2agen/testkit/fault"
)

// The first answer is lost after the agent's work, and the streams after it end after one event.
func Example() {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("the agent works on", r.URL.Path)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: one\n\ndata: two\n\n")
	}))
	defer agent.Close()
	in, err := fault.New(1, fault.Drop(fault.Reply).Times(1), fault.CutAfter(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer in.Close()
	in.Watch(func(e fault.Exchange) { fmt.Println(e.Operation, "met", e.Faults) })

	client := &http.Client{Transport: in.Wrap(http.DefaultTransport)}
	for range 2 {
		resp, err := client.Post(agent.URL+"/message:stream", "application/json", nil)
		if err != nil {
			fmt.Println("broken:", errors.Is(err, io.ErrUnexpectedEOF))
			continue
		}
		body, err := io.ReadAll(resp.Body)
		fmt.Printf("%q, broken: %v\n", body, errors.Is(err, io.ErrUnexpectedEOF))
		_ = resp.Body.Close()
	}
	// Output:
	// the agent works on /message:stream
	// SendStreamingMessage met [Drop(Reply)]
	// broken: true
	// the agent works on /message:stream
	// SendStreamingMessage met [CutAfter(1)]
	// "data: one\n\n", broken: true
}
