package run

import (
	"errors"
	"testing"
)

// A shutdown that waits no longer gives back what has not begun. What gets its turn at that very moment must not begin,
// or whoever takes it over would run it a second time.
func TestWhatWasGivenBackDoesNotBegin(t *testing.T) {
	c := &call{skill: &skill{}, state: ending}
	c.handle = &handle{}
	c.ctx.cancel(ErrShutdown)
	if err := c.turn(); !errors.Is(err, ErrShutdown) || c.began || c.state != ending {
		t.Errorf("it began: %v, %v, %v", err, c.began, c.state)
	}
}
