package grpcclient

import (
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestAStatusSaysWhenToComeAgain(t *testing.T) {
	for said, want := range map[time.Duration]time.Duration{time.Second: time.Second, 0: 0, -time.Hour: 0} {
		s, err := status.New(codes.Unavailable, "busy").WithDetails(&errdetails.ErrorInfo{Reason: "RESOURCE_EXHAUSTED"}, &errdetails.RetryInfo{RetryDelay: durationpb.New(said)})
		if err != nil {
			t.Fatal(err)
		}
		e := &StatusError{Status: s}
		if got := e.TryAfter(); got != want {
			t.Errorf("%s is read as %s", said, got)
		}
		if known := errorOf(s, 0); known != nil && len(known.Details) > 1 {
			t.Errorf("it is among the details %v", known.Details)
		}
	}
	if got := (&StatusError{Status: status.New(codes.Unavailable, "busy")}).TryAfter(); got != 0 {
		t.Errorf("without one it says %s", got)
	}
}
