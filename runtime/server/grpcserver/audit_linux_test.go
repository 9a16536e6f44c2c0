package grpcserver_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// TestWhatCannotBeWrittenDownIsNotDone: as over any binding.
func TestWhatCannotBeWrittenDownIsNotDone(t *testing.T) {
	c := start(t, []server.Skill{echo()}, server.WithAudit("/dev/full")).dial()
	op := operation(t, "1.0", runtime.RoleSend)
	if _, err := send(t.Context(), c, op, message("hello")); err != nil {
		t.Fatal(err) // the first one finds out
	}
	if _, err := send(t.Context(), c, op, message("hello")); status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
}
