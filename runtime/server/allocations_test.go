//go:build !race

// The race detector empties pools at random, so that there is nothing to count under it.

package server_test

import (
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
)

// Three allocations of each are of the test itself.
func TestARequestTakesFewAllocations(t *testing.T) {
	for name, c := range map[string]struct {
		binding string
		skill   server.Skill
		most    float64
	}{
		"message":                {"JSON-RPC", chat(), 22},
		"task":                   {"JSON-RPC", work(), 39},
		"message over HTTP+JSON": {"HTTP+JSON", chat(), 22},
		"task over HTTP+JSON":    {"HTTP+JSON", work(), 39},
	} {
		t.Run(name, func(t *testing.T) {
			path, body := bound[c.binding](message("hello there, how are you?"))
			do := ask(t, path, body, c.skill)
			least := math.Inf(1)
			for range 5 { // now and then a pool is empty
				least = min(least, testing.AllocsPerRun(100, do))
			}
			if least > c.most {
				t.Errorf("a request takes %v allocations, want %v at most", least, c.most)
			}
		})
	}
}

// TestATaskOfSomebodyElseTakesNoMoreAllocations than one that is not there.
func TestATaskOfSomebodyElseTakesNoMoreAllocations(t *testing.T) {
	a := start(t, authCard, waiting(), guards())
	theirs := str(a.ok("SendMessage", message("run"), as("ann")), "task", "id")
	cost := func(id string) float64 {
		least := math.Inf(1)
		for range 5 {
			least = min(least, testing.AllocsPerRun(100, func() {
				r := httptest.NewRequest("POST", "http://localhost/rpc", strings.NewReader(rpcBody("GetTask", `{"id":"`+id+`"}`)))
				r.Header["A2a-Version"], r.Header["Authorization"] = []string{"1.0"}, []string{"Bearer bob"}
				a.ServeHTTP(httptest.NewRecorder(), r)
			}))
		}
		return least
	}
	if got, want := cost(theirs), cost(strings.Repeat("0", len(theirs))); got != want {
		t.Errorf("%v, of no task %v", got, want)
	}
}
