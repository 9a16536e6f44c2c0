package ledger

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A replica that shows less than another has acknowledged is found at the first look, not when it has caught up.
func TestWhatAReplicaDoesNotShowYetIsSeen(t *testing.T) {
	const user, done = `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"m"}]}`, "TASK_STATE_COMPLETED"
	for name, c := range map[string]struct {
		state, history, wrong string
	}{
		"an older state":      {"TASK_STATE_WORKING", user, "it was " + done + " and is TASK_STATE_WORKING"},
		"a message less":      {done, "", "the message m is lost"},
		"a message too often": {done, user + "," + user, "the message m is there 2 times"},
	} {
		t.Run(name, func(t *testing.T) {
			task := fmt.Sprintf(`{"id":"t","status":{"state":%q},"history":[%s]}`, c.state, c.history)
			replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				result := task
				if body := new(strings.Builder); r.Write(body) == nil && strings.Contains(body.String(), "ListTasks") {
					result = `{"tasks":[` + task + `]}`
				}
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, result)
			}))
			defer replica.Close()
			a := &Agent{Addresses: []string{strings.TrimPrefix(replica.URL, "http://")}}
			who := &client{Caller: NewCaller(a, "", rand.New(rand.NewPCG(1, 1)))}
			err := who.check(t.Context(), &promise{skill: Sturdy, token: "m", id: "t", messages: []string{"m"}, state: done})
			if !isWrong(err) || err.Error() != c.wrong {
				t.Errorf("got %v, want %s", err, c.wrong)
			}
		})
	}
}
