package grpcclient

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
	"github.com/a2agen/a2agen/runtime/wire"
)

// StatusError is an answer with another status than OK. When it was an A2A error, Err is that error.
type StatusError struct {
	Status    *status.Status
	Challenge string // of the metadata www-authenticate, with Unauthenticated
	Err       error  // *runtime.Error or nil
}

// keyChallenge is the metadata with the challenge of an agent that does not accept a call's credentials.
const keyChallenge = "www-authenticate"

// AuthenticateChallenge returns the challenge.
func (e *StatusError) AuthenticateChallenge() string { return e.Challenge }

// Error renders the code, and the A2A error or the message.
func (e *StatusError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("gRPC %s: %v", e.Status.Code(), e.Err)
	}
	return fmt.Sprintf("gRPC %s: %s", e.Status.Code(), client.Printable(e.Status.Message()))
}

// Unwrap returns the A2A error, if there was one.
func (e *StatusError) Unwrap() error { return e.Err }

// Is matches the codes Unauthenticated and PermissionDenied with their A2A errors, also without details.
func (e *StatusError) Is(target error) bool {
	switch e.Status.Code() {
	case codes.Unauthenticated:
		return runtime.ErrUnauthenticated.Is(target)
	case codes.PermissionDenied:
		return runtime.ErrPermissionDenied.Is(target)
	}
	return false
}

// GRPCStatus returns the status, for status.FromError.
func (e *StatusError) GRPCStatus() *status.Status { return e.Status }

// TryLater reports whether the same request may succeed later. An A2A error is final, unless its code is a temporary one.
func (e *StatusError) TryLater() bool {
	switch e.Status.Code() {
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded:
		return true
	case codes.Internal, codes.Unknown, codes.DataLoss, codes.Aborted:
		return e.Err == nil
	}
	return false
}

// TryAfter is the pause before the next request that the agent asks for by google.rpc.RetryInfo; 0 for none.
func (e *StatusError) TryAfter() time.Duration {
	for _, any := range e.Status.Proto().GetDetails() {
		info := new(errdetails.RetryInfo)
		if any.UnmarshalTo(info) == nil {
			return max(info.GetRetryDelay().AsDuration(), 0)
		}
	}
	return 0
}

// failed is the error of a call that grpc-go ended with err.
func (c *call) failed(err error) error {
	s := status.Convert(err)
	limit := c.conn.target.MaxResponse
	if c.opens {
		limit = c.conn.target.MaxEvent
	}
	switch {
	case c.caller.Err() != nil:
		return context.Cause(c.caller)
	case s.Code() == codes.DeadlineExceeded && past(c.caller):
		return context.DeadlineExceeded
	case c.ctx.Err() != nil && c.opens:
		return &client.LinkError{Err: context.Cause(c.ctx)}
	case c.ctx.Err() != nil:
		return fmt.Errorf("no answer to the request: %w", context.Cause(c.ctx))
	case s.Code() == codes.ResourceExhausted && strings.HasPrefix(s.Message(), tooLarge) && c.opens:
		return fmt.Errorf("%w: event: %w: over %d bytes", runtime.ErrInvalidAgentResponse.AsReceived(),
			client.ErrTooLarge, limit)
	case s.Code() == codes.ResourceExhausted && strings.HasPrefix(s.Message(), tooLarge):
		return fmt.Errorf("%w: over %d bytes", client.ErrTooLarge, limit)
	case c.answered.Load():
		return c.status(s)
	case !c.sent.Load() && s.Code() == codes.Unavailable:
		return &client.LinkError{Unsent: true, Err: err}
	}
	return broken(err)
}

// past reports whether the deadline of a context is over, which grpc-go may notice before the context does.
func past(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Before(deadline)
}

// tooLarge begins grpc-go's error for a message over the limit.
const tooLarge = "grpc: received message"

// broken is the error of a call that ended before its answer did.
func broken(err error) error {
	return &client.LinkError{Err: fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)}
}

// status is the error of an answer with a status. A stream that ends with Unavailable can be taken up again.
func (c *call) status(s *status.Status) error {
	e := &StatusError{Status: s}
	if s.Code() == codes.Unauthenticated {
		e.Challenge = client.Printable(c.wanted)
	}
	if known := errorOf(s, c.role); known != nil {
		e.Err = known
	}
	if c.opens && e.Err == nil && s.Code() == codes.Unavailable {
		return broken(e)
	}
	return e
}

// errorOf reads the A2A error in a status that answers an operation of a role; nil if there is none that is known
// (A2A 1.0 §10.6).
func errorOf(s *status.Status, role runtime.Role) *runtime.Error {
	e := &runtime.Error{Message: s.Message()}
	for _, any := range s.Proto().GetDetails() {
		detail, err := any.UnmarshalNew()
		if err != nil {
			continue // of an unknown type
		}
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			e.Reason = detail.GetReason()
			e.Details = append(e.Details, runtime.Detail{
				Type: runtime.TypeErrorInfo, Reason: detail.GetReason(), Domain: detail.GetDomain(), Metadata: detail.GetMetadata(),
			})
		case *errdetails.BadRequest:
			d := runtime.Detail{Type: runtime.TypeBadRequest}
			for _, v := range detail.GetFieldViolations() {
				d.Violations = append(d.Violations, runtime.Violation{Field: v.GetField(), Description: v.GetDescription()})
			}
			e.Details = append(e.Details, d)
		case *errdetails.RetryInfo: // TryAfter has it
		default:
			if raw := objectOf(any.GetTypeUrl(), detail); raw != nil {
				e.Details = append(e.Details, *raw)
			}
		}
	}
	return errorformat.RecognizeCode(e, errorformat.Code(s.Code()), role)
}

// objectOf is a detail of another type as JSON has it.
func objectOf(typeURL string, detail proto.Message) *runtime.Detail {
	raw, err := protojson.Marshal(detail)
	if err != nil {
		return nil
	}
	object, err := wire.ParseObject(raw)
	if err != nil {
		return nil
	}
	if _, typed := object.Get("@type"); !typed {
		if err := object.Set("@type", typeURL); err != nil {
			return nil
		}
	}
	d := runtime.Detail{Raw: object}
	if name, ok := object.Get("@type"); !ok || name.Decode(&d.Type) != nil {
		return nil
	}
	return &d
}
