package server

import (
	"strings"
	"testing"
	"time"
)

// TestTheEnvironmentShortensTheGrace, and never makes it longer.
func TestTheEnvironmentShortensTheGrace(t *testing.T) {
	for _, tt := range []struct {
		env        string
		have, want time.Duration
	}{
		{"", 0, 0}, {"1s", 0, time.Second}, {"1s", 10 * time.Second, time.Second}, {"1m", 10 * time.Second, 10 * time.Second},
	} {
		t.Setenv(EnvGrace, tt.env)
		l := Limits{Grace: tt.have}
		if err := shortenGrace(&l); err != nil || l.Grace != tt.want {
			t.Errorf("%q of %v: %v, %v", tt.env, tt.have, l.Grace, err)
		}
	}
	for _, wrong := range []string{"1", "-1s", "soon"} {
		t.Setenv(EnvGrace, wrong)
		if err := shortenGrace(&Limits{}); err == nil || !strings.Contains(err.Error(), "A2A_GRACE must be a duration such as 1s") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
