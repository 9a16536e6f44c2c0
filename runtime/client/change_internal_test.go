package client

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

// TestComparingCardsTakesLinearTime, whatever an agent puts there.
func TestComparingCardsTakesLinearTime(t *testing.T) {
	card := func(n int, mark string) *shape {
		s := &shape{skills: map[string]skillShape{}}
		for i := range n {
			s.skills[mark+strconv.Itoa(i)] = skillShape{}
			s.interfaces = append(s.interfaces, fmt.Sprint("JSONRPC 1.0 at https://", mark, i))
		}
		return s
	}
	growth.Linear(t, 500, func(n int) func() {
		old, now := card(n, "a"), card(n, "b")
		return func() {
			w, c := new(cards), &Client{links: linkSet{all: []*link{{}}}}
			w.report(c, old.changes(now), nil)
			w.report(c, old.changes(now), nil)
		}
	})
}
