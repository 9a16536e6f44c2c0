package grpcserver

import (
	"errors"
	"slices"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/gen/proto"
	"github.com/a2agen/a2agen/runtime/internal/errorformat"
)

// status is an error as gRPC answers it: code and message, with the error's details as those of google.rpc (R160).
func (c *call) status(err error) error {
	if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok { // of grpc-go itself: a message cut short, say
		c.Fault(runtime.ErrInvalidRequest)
		return err
	}
	e, denial := c.Told(err)
	s := &spb.Status{Code: int32(c.Status(e).Code), Message: e.Message}
	if c.Version != nil && c.Version.Rules.PlainErrors {
		s.Message = e.TypeName() + ": " + errorformat.PlainText(e)
	}
	if denial != nil {
		c.stream.SetTrailer(metadata.MD{keyChallenge: denial.Challenges})
	}
	if c, ok := errors.AsType[*coded](err); ok {
		s.Code = int32(c.code)
	}
	for _, d := range e.AllDetails() {
		if detail, err := detailOf(d); err == nil {
			s.Details = append(s.Details, detail)
		}
	}
	if codes.Code(s.Code) == codes.Unavailable {
		s.Details = append(s.Details, comeAgain)
	}
	return status.ErrorProto(s)
}

// comeAgain is a google.rpc.RetryInfo: what Retry-After is over HTTP. It says a second.
var comeAgain = &anypb.Any{TypeUrl: "type.googleapis.com/google.rpc.RetryInfo", Value: []byte{tag1, 2, 1 << 3, 1}}

// coded is an error for which gRPC has a better code than the table.
type coded struct {
	cause *runtime.Error
	code  codes.Code
}

func (c *coded) Error() string { return c.cause.Error() }
func (c *coded) Unwrap() error { return c.cause }

// detailOf is a detail as a protobuf message. One of a type that is not known here is an object with its members.
func detailOf(d runtime.Detail) (*anypb.Any, error) {
	var w proto.Writer
	w.Reset(nil)
	url := d.Type
	switch {
	case d.Raw != nil:
		url = typeStruct
		if err := w.Struct(0, d.Raw); err != nil {
			return nil, err
		}
	case d.Type == runtime.TypeErrorInfo:
		writeErrorInfo(&w, d)
	default:
		writeBadRequest(&w, d)
	}
	value, err := w.Done()
	return &anypb.Any{TypeUrl: url, Value: value}, err
}

const typeStruct = "type.googleapis.com/google.protobuf.Struct"

// Tags of fields that are strings or messages, by number.
const (
	tag1 = 1<<3 | 2
	tag2 = 2<<3 | 2
	tag3 = 3<<3 | 2
)

// writeErrorInfo writes a google.rpc.ErrorInfo.
func writeErrorInfo(w *proto.Writer, d runtime.Detail) {
	w.String(tag1, d.Reason)
	w.String(tag2, d.Domain)
	keys := make([]string, 0, len(d.Metadata))
	for k := range d.Metadata {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		entry := w.Begin(tag3)
		w.String(tag1, k)
		w.String(tag2, d.Metadata[k])
		w.End(entry)
	}
}

// writeBadRequest writes a google.rpc.BadRequest.
func writeBadRequest(w *proto.Writer, d runtime.Detail) {
	for _, v := range d.Violations {
		violation := w.Begin(tag1)
		w.String(tag1, v.Field)
		w.String(tag2, v.Description)
		w.End(violation)
	}
}
