package growth_test

import (
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

// recorder is a test that takes note of its failure.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

var sink int

func TestLinearTellsQuadraticWork(t *testing.T) {
	linear := func(n int) func() {
		return func() {
			for i := range n * 1000 {
				sink += i & sink
			}
		}
	}
	quadratic := func(n int) func() {
		return func() {
			for i := range n {
				for j := range n {
					sink += i & j
				}
			}
		}
	}
	for _, tt := range []struct {
		name   string
		work   func(int) func()
		failed bool
	}{{"linear", linear, false}, {"quadratic", quadratic, true}} {
		r := &recorder{TB: t}
		growth.Linear(r, 500, tt.work)
		if r.failed != tt.failed {
			t.Errorf("%s work: failed is %v", tt.name, r.failed)
		}
	}
}
