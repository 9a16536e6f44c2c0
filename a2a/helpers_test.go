package a2a_test

import (
	"testing"

	"github.com/a2agen/a2agen/a2a"
)

// TestTextOfNothingIsEmpty: a status without a message, and parts that somebody left out.
func TestTextOfNothingIsEmpty(t *testing.T) {
	task := &a2a.Task{Status: &a2a.TaskStatus{}}
	if got := task.Status.Message.Text() + (*a2a.Artifact)(nil).Text(); got != "" {
		t.Errorf("%q", got)
	}
	m := &a2a.Message{Parts: []*a2a.Part{nil, a2a.Text("a"), {}, a2a.Text("b")}}
	if got := m.Text(); got != "a\nb" {
		t.Errorf("%q", got)
	}
}
