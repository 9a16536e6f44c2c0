// Package growth helps tests to hold what reads outside data to time linear in the data's size.
package growth

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// Factor is how much larger the second size is, and slack how much more than that the time may grow. Quadratic work grows by Factor*Factor.
const (
	Factor = 8
	slack  = 4
)

// noise is a time that cannot be told from noise: as much for the larger size is linear.
const noise = 3 * time.Millisecond

// Linear runs the work that prepare makes for the sizes n and Factor*n, and fails the test if the second takes much more than Factor times as
// long. n has to be so large that quadratic work would show: more than 3 ms for Factor*n. What counts is the processor time of
// the goroutine that runs the test, so that other programs do not disturb; the best of a few runs, so that little else does.
// The work may be run several times.
func Linear(t testing.TB, n int, prepare func(n int) (work func())) {
	t.Helper()
	one, many := time.Duration(1<<62), time.Duration(1<<62)
	less, more := prepare(n), prepare(Factor*n)
	for range 10 {
		one, many = min(one, measure(less)), min(many, measure(more))
		if many <= max(noise, slack*Factor*one) {
			return
		}
	}
	t.Errorf("work of size %d takes %v, of size %d %v: %.1f times as long", n, one, Factor*n, many, float64(many)/float64(one))
}

// measure is the processor time of work, without collections of garbage that it does not cause.
func measure(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := processorTime()
	work()
	return processorTime() - before
}
