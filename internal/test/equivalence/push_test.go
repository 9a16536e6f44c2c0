package equivalence

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
)

// TestNotificationsAreInTheWordsOfTheirVersion: over whatever binding a push configuration came, what it gets is the JSON of
// its version: events, or before 1.0 the whole task (R18).
func TestNotificationsAreInTheWordsOfTheirVersion(t *testing.T) {
	a := startAgent(t, "")
	p := a2amore.AllVersions()
	for _, sp := range speakers(p) {
		t.Run(sp.String(), func(t *testing.T) {
			s, err := newSession(t.Context(), p.Versions[0], sp, a, newID())
			if err != nil {
				t.Fatal(err)
			}
			defer s.end()
			s.next(t, `s = stream "wait $me"`)
			s.next(t, "s next 2")
			id := `"id":"mine",`
			if sp.version.Rules.ClientIDs {
				id = "" // 0.1 has none
			}
			s.next(t, `push-create {"taskId":"$task",`+id+`"url":"$hook","token":"$me"}`)
			s.next(t, "release")
			s.next(t, "s rest")
			for {
				select {
				case n := <-a.hook.taken:
					if n.token == s.me && ended(t, sp.version, n.body) {
						return
					}
				case <-time.After(10 * time.Second):
					t.Fatal("no notification says that the task has ended")
				}
			}
		})
	}
}

// ended reads a notification as the version has it, and reports whether it says that its task is completed.
func ended(t *testing.T, v *runtime.Version, body []byte) bool {
	t.Helper()
	if !json.Valid(body) {
		t.Fatalf("no JSON: %q", body)
	}
	if !v.Rules.PushTask {
		e, err := v.ReadEvent(body)
		if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		return e.EventInfo().State == runtime.StateCompleted
	}
	for _, op := range v.Operations {
		if op.Role == runtime.RoleGet {
			task, err := op.Read(body)
			if err != nil {
				t.Fatalf("%v in %s", err, body)
			}
			return task.(runtime.Task).TaskInfo().State == runtime.StateCompleted
		}
	}
	return false
}
