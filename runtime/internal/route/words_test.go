package route

import (
	"strings"
	"testing"
)

func TestWordsOfATextAreComparable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Planning routes for the cities", "plan route city"},
		{"route_planner routePlanner", "route planner route planner"},
		{"天気予報", "天気 気予 予報"},
		{"What is it?", ""},
		{"", ""},
	} {
		if got := strings.Join(words(c.text), " "); got != c.want {
			t.Errorf("words(%q) are %q, want %q", c.text, got, c.want)
		}
	}
}
