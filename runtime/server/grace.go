package server

import (
	"fmt"
	"os"
	"time"
)

// EnvGrace is the environment variable that shortens the time which handlers have to finish at shutdown, Grace of
// [Limits]: "1s". "a2agen dev" sets it.
const EnvGrace = "A2A_GRACE"

// shortenGrace applies the environment's grace to the limits, if that is shorter.
func shortenGrace(l *Limits) error {
	text := os.Getenv(EnvGrace)
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%s must be a duration such as 1s, not %q", EnvGrace, text)
	}
	if l.Grace == 0 || d < l.Grace {
		l.Grace = d
	}
	return nil
}
