//go:build !linux

package growth

import "time"

var started = time.Now()

// processorTime is the time that has passed, where the system does not say how much of it a thread had.
func processorTime() time.Duration { return time.Since(started) }
