package check

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for _, test := range []struct {
		s    string
		want time.Duration
		ok   bool
	}{
		{"PT30S", 30 * time.Second, true}, {"P1DT2H30M", 26*time.Hour + 30*time.Minute, true}, {"P2W", 14 * 24 * time.Hour, true}, {"PT0.5S", 500 * time.Millisecond, true},
		{"P1M", 0, false}, {"P1Y", 0, false}, {"PT", 0, false}, {"", 0, false}, {"PT99999999999999999999H", 0, false},
	} {
		if got, err := ParseDuration(test.s); got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: %v, %v", test.s, got, err)
		}
	}
}
