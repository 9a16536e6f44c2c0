package skills

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"

	"example.com/planner/a2a"
)

// TestAgent_answersPlainJSONRPC speaks to the agent as any program may, with no client in between: one HTTP request in the JSON of
// each version of the protocol that it speaks. It asks for no skill by name, so that it holds whatever agent.yaml says; what
// the skills answer is for their own tests.
func TestAgent_answersPlainJSONRPC(t *testing.T) {
	p := a2a.Protocol()
	for _, v := range p.Versions {
		t.Run(v.Name, func(t *testing.T) {
			ts := newServer(t)
			status, body := do(t, http.MethodPost, endpoint(t, p, ts.URL, v.Name), v.Name, question(t, p, v))
			var reply struct {
				ID     string          `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  *struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			if err := json.Unmarshal(body, &reply); err != nil || status != http.StatusOK || reply.ID != "1" {
				t.Fatalf("the answer to request 1 has status %d, error %v: %s", status, err, body)
			}
			switch {
			case reply.Error != nil && (reply.Error.Code == 0 || reply.Error.Message == ""):
				t.Errorf("an error that says nothing: %s", body)
			case reply.Error == nil:
				if _, err := sending(t, v).Read(reply.Result); err != nil {
					t.Errorf("the result is neither a task nor a message of A2A %s: %v\n%s", v.Name, err, body)
				}
			}
		})
	}
}

// sending is the operation that sends a message.
func sending(t *testing.T, v *runtime.Version) *runtime.Operation {
	t.Helper()
	for _, op := range v.Operations {
		if op.Role == runtime.RoleSend {
			return op
		}
	}
	t.Fatalf("A2A %s has no operation that sends a message", v.Name)
	return nil
}

// question is a request that says hello.
func question(t *testing.T, p *runtime.Protocol, v *runtime.Version) []byte {
	t.Helper()
	hello := p.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: "m1", User: true},
		Parts:       []runtime.Part{runtime.Text("hello")},
	})
	op := sending(t, v)
	params, err := op.AppendRequest(nil, p.NewSend(runtime.SendRequest{Message: hello}))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "1", "method": op.RPC, "params": json.RawMessage(params)})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// endpoint reads the agent's card and returns the URL that it names for JSON-RPC.
func endpoint(t *testing.T, p *runtime.Protocol, base, version string) string {
	t.Helper()
	status, body := do(t, http.MethodGet, base+"/.well-known/agent-card.json", version, nil)
	card, err := p.DecodeCard(body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("the card has status %d, error %v: %s", status, err, body)
	}
	for _, i := range card.CardInfo().Interfaces {
		if strings.EqualFold(i.Binding, "JSONRPC") {
			return i.URL
		}
	}
	t.Fatalf("the card names no JSON-RPC interface: %s", body)
	return ""
}

// do sends one request.
func do(t *testing.T, method, url, version string, body []byte) (status int, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", version)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer
}
