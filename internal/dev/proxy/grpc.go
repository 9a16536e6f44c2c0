package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/a2agen/a2agen/internal/frames"
)

// grpcStream is a stream of gRPC on its way to its reader, over as many processes as it takes. Its events have no
// numbers: the next process sends the task as it stands first, and then what comes.
type grpcStream struct {
	*call
	up *upstream

	begun bool
	task  string // the id of its task; "" if it is not known yet
	ended bool   // the last event is the last of its stream
}

// Numbers of fields that A2A 0.3 and 1.0 have in common, of StreamResponse and of what is in it.
const (
	fieldTask     = 1
	fieldMessage  = 2
	fieldStatus   = 3
	fieldArtifact = 4

	fieldID     = 1 // of the task, in each of them
	fieldState  = 1 // of a status
	workingMost = 2 // the largest number of a state after which a stream goes on
)

// relay passes a stream on, and takes it up on the next process when the one that sends it ends.
func (s *grpcStream) relay(resp *http.Response) {
	for {
		err := s.copyMessages(resp)
		_ = resp.Body.Close()
		switch {
		case s.r.Context().Err() != nil, errors.Is(err, errReader), errors.Is(err, errInEvent):
			panic(http.ErrAbortHandler)
		case s.ended && err == nil, err == nil && !s.up.stops():
			s.trailers(resp)
			return
		case !s.up.ends(s.r.Context()):
			panic(http.ErrAbortHandler) // as the agent did
		}
		if resp, err = s.resume(); err != nil {
			panic(http.ErrAbortHandler)
		}
		if resp == nil {
			s.w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			return
		}
	}
}

func (s *grpcStream) copyMessages(resp *http.Response) error {
	if !s.begun {
		s.begun = true
		s.head(resp)
		_ = http.NewResponseController(s.w).Flush() // the next write fails if this does
	}
	split := frames.Splitter{GRPC: true}
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		if split.Feed(buf[:n]) != nil {
			s.ended = true
			return s.passRest(split.Rest(), buf[:n], resp.Body)
		}
		for frame := split.Next(); frame != nil; frame = split.Next() {
			s.learn(frame)
			if err := s.write(frame); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

func (s *grpcStream) write(frame []byte) error {
	if _, err := s.w.Write(frame); err != nil {
		return errReader
	}
	_ = http.NewResponseController(s.w).Flush() // the next write fails if this does
	return nil
}

// headerOf is how long the header of a message is: a flag, and the length.
const headerOf = 5

// learn takes note of what an event says. One that is compressed says nothing.
func (s *grpcStream) learn(frame []byte) {
	if frame[0] != 0 {
		return
	}
	number, event := field(frame[headerOf:], fieldTask, fieldMessage, fieldStatus, fieldArtifact)
	switch number {
	case fieldMessage:
		s.ended = true
		return
	case fieldTask, fieldStatus:
		_, status := field(event, fieldStatus)
		s.ended = state(status) > workingMost
	}
	if _, id := field(event, fieldID); len(id) > 0 {
		s.task = string(id)
	}
}

// field finds the first of some fields that are bytes, a text or a message. The number is 0 if there is none.
func field(message []byte, numbers ...protowire.Number) (protowire.Number, []byte) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return 0, nil
		}
		message = message[n:]
		for _, want := range numbers {
			if number != want || kind != protowire.BytesType {
				continue
			}
			if value, n := protowire.ConsumeBytes(message); n >= 0 {
				return number, value
			}
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return 0, nil
		}
		message = message[n:]
	}
	return 0, nil
}

// state reads the state of a status.
func state(status []byte) uint64 {
	for len(status) > 0 {
		number, kind, n := protowire.ConsumeTag(status)
		if n < 0 {
			return 0
		}
		status = status[n:]
		if number == fieldState && kind == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(status)
			return v
		}
		if n = protowire.ConsumeFieldValue(number, kind, status); n < 0 {
			return 0
		}
		status = status[n:]
	}
	return 0
}

// resume asks the next process for the rest of the stream. The answer is nil if the task has ended meanwhile: then it
// was passed on as it stands.
func (s *grpcStream) resume() (*http.Response, error) {
	up, why, err := s.front.enter(s.r.Context())
	switch {
	case err != nil:
		return nil, err
	case up == nil:
		return nil, errors.New(why)
	}
	defer up.leave()
	s.up = up
	resp, err := up.roundTrip(s.again(up, false))
	if err != nil || resp.Header.Get("Grpc-Status") == "" || s.task == "" {
		return resp, err
	}
	_ = resp.Body.Close() // nobody subscribes to a task that has ended
	return nil, s.stands(up)
}

// stands passes on the task as it stands.
func (s *grpcStream) stands(up *upstream) error {
	resp, err := up.roundTrip(s.again(up, true))
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	frame, err := io.ReadAll(io.LimitReader(resp.Body, frames.MaxEvent))
	if err != nil || len(frame) < headerOf || frame[0] != 0 {
		return fmt.Errorf("the agent does not know task %s any more: %w", s.task, err)
	}
	event := protowire.AppendBytes(protowire.AppendTag(nil, fieldTask, protowire.BytesType), frame[headerOf:])
	return s.write(message(event))
}

// message puts a header before a message.
func message(m []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}

// again is the request for the rest of the stream, or for its task. Before a task is known it is the caller's own.
func (s *grpcStream) again(up *upstream, get bool) *http.Request {
	r := s.request(s.r.Context(), up)
	if s.task == "" {
		return r
	}
	service, _ := lastSegment(r.URL.Path)
	var m []byte
	method := "GetTask"
	if older := strings.HasPrefix(service, "/a2a.v1."); older { // 0.3
		if !get {
			method = "TaskSubscription"
		}
		m = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "tasks/"+s.task)
	} else {
		if !get {
			method = "SubscribeToTask"
		}
		if len(s.body) > headerOf {
			if _, tenant := field(s.body[headerOf:], 1); len(tenant) > 0 { // of each request of 1.0
				m = protowire.AppendBytes(protowire.AppendTag(m, 1, protowire.BytesType), tenant)
			}
		}
		m = protowire.AppendString(protowire.AppendTag(m, 2, protowire.BytesType), s.task)
	}
	r.URL.Path, r.URL.RawPath = service+method, ""
	s.setBody(r, message(m))
	return r
}
