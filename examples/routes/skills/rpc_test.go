package skills

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestAgent_answersPlainJSONRPC speaks to the agent as any client may, with nothing of ours in between: one HTTP request
// with the JSON of A2A 1.0.
func TestAgent_answersPlainJSONRPC(t *testing.T) {
	const body = `{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"data":{"origin":{"lat":0,"lng":0},"destination":{"lat":0,"lng":0}},"mediaType":"application/json"}],"extensions":["https://a2agen.dev/extensions/skills/v1"],"metadata":{"https://a2agen.dev/extensions/skills/v1":{"skill":"route-optimizer-traffic"}}}}}`
	ts := newServer(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint(t, ts.URL), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	req.Header.Set("A2A-Extensions", "https://a2agen.dev/extensions/skills/v1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	var reply struct {
		ID     string `json:"id"`
		Error  any    `json:"error"`
		Result struct {
			Task struct {
				Status struct {
					State string `json:"state"`
				} `json:"status"`
				Artifacts []struct {
					Parts []map[string]any `json:"parts"`
				} `json:"artifacts"`
			} `json:"task"`
		} `json:"result"`
	}
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	if reply.ID != "1" || reply.Error != nil {
		t.Fatalf("reply to request 1: %+v", reply)
	}
	task := reply.Result.Task
	if task.Status.State != "TASK_STATE_COMPLETED" || len(task.Artifacts) == 0 {
		t.Errorf("the task is in state %q with %d artifacts, want a completed one with a result", task.Status.State, len(task.Artifacts))
	}
}

// endpoint reads the agent's card and returns the URL that it names for JSON-RPC.
func endpoint(t *testing.T, base string) string {
	t.Helper()
	res, err := http.Get(base + "/.well-known/agent-card.json")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var card struct {
		SupportedInterfaces []struct {
			URL     string `json:"url"`
			Binding string `json:"protocolBinding"`
		} `json:"supportedInterfaces"`
	}
	if err := json.NewDecoder(res.Body).Decode(&card); err != nil {
		t.Fatal(err)
	}
	for _, i := range card.SupportedInterfaces {
		if i.Binding == "JSONRPC" {
			return i.URL
		}
	}
	t.Fatalf("the card names no JSON-RPC interface: %+v", card)
	return ""
}
