package faultproxy

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/testkit/fault"
)

// Line is a request on one line: what was called, what came, and what went wrong with it.
func Line(e fault.Exchange) string {
	called := e.Operation
	if called == "" {
		called = e.Method + " " + visible(e.Path)
	}
	status, how := "no answer", ""
	if e.Status != 0 {
		status = strconv.Itoa(e.Status)
	}
	if e.Events == 1 {
		status += ", 1 event"
	} else if e.Events > 1 {
		status += fmt.Sprintf(", %d events", e.Events)
	}
	if len(e.Faults) > 0 {
		how = "  " + strings.Join(e.Faults, " ")
	}
	if e.Err != nil && !errors.As(e.Err, new(*fault.Error)) {
		how += "  (" + visible(strings.Join(strings.Fields(e.Err.Error()), " ")) + ")"
	}
	for _, err := range e.Problems {
		how += "  (not applied: " + visible(errors.Unwrap(err).Error()) + ")"
	}
	took := e.Duration.Round(time.Millisecond)
	return fmt.Sprintf("%d %s %s: %s in %v%s", e.Number, called, cmp.Or(e.Binding, "HTTP"), status, took, how)
}

// visible is a text of somebody else's without what a terminal would obey.
func visible(s string) string {
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
