package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Binding is a protocol binding that a client can speak: how requests and answers travel. What they mean, which
// interface is called, and what is done about a stream that broke, is the client's and the same over each.
type Binding interface {
	// Name is the protocolBinding of the interfaces that it is for (A2A 1.0 §5.8).
	Name() string
	// Connect prepares calls of an interface, without any request. It refuses a URL that it cannot call.
	Connect(Target) (Conn, error)
}

// Target is an interface to call, and within which limits.
type Target struct {
	URL string
	// Secure: the card, or another interface of the same host, is at https. That counts for a URL that does not say
	// whether what is sent is to be encrypted.
	Secure bool
	// HTTP is for bindings over HTTP: the user's transport with the client's rules for redirects.
	HTTP *http.Client
	// Certificate returns the client certificate for a connection, as [tls.Config.GetClientCertificate] has it; nil without. HTTP has it, too.
	Certificate func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
	// Idle is how long nothing may arrive ([IdleTimeout]); zero or less: for ever.
	Idle time.Duration
	// MaxResponse and MaxEvent are the largest answer and the largest event of a stream, in bytes.
	MaxResponse, MaxEvent int
}

// Conn calls one interface. It is safe for concurrent use.
//
// An error is a [*runtime.Error] where the agent gave one, a [*LinkError] when the connection could not be made or
// broke, the cause of the context when that ended, or one of the binding's own, which may have a method TryLater()
// bool.
type Conn interface {
	// Call carries out a request that has one answer. It returns what the operation reads; empty is no answer.
	Call(ctx context.Context, r *Request) ([]byte, error)
	// Open carries out a request whose answer is a stream. The caller closes it.
	Open(ctx context.Context, r *Request) (Stream, error)
	// Secure reports whether what is sent is encrypted.
	Secure() bool
	// Close lets go of idle connections. Calls under way are not touched.
	Close()
}

// Request is one request, encoded for the binding but for its frame.
type Request struct {
	Operation *runtime.Operation
	Body      []byte
	// Header are the service parameters (A2A 1.0 §3.2.6) and the user's headers, under their names in HTTP.
	Header http.Header
	// Query is what the URL must have in its query in addition: an API key, encoded; "" for nothing. Bindings that have no place for keys in
	// a query (runtime.Binding.Keys) get none. It must not be in an error.
	Query string
	// LastEventID is the event after which a stream goes on, where the binding has ids; "" for none.
	LastEventID string
}

// AtOnce reports whether the answer begins without delay: a stream's does, but what a send answers may take hours of
// work, and nothing is known of operations without a role.
func (r *Request) AtOnce() bool {
	return r.Operation.Stream || !r.Operation.Role.Info().Waits
}

// Stream is one open stream of events.
type Stream interface {
	// Next returns the next event, whose bytes are valid until the next call; io.EOF at the end that the agent made; a
	// [*LinkError] when the connection broke; any other error is final.
	Next() (Item, error)
	// Retry is the pause that the agent wishes before the stream is taken up again; 0 for none.
	Retry() time.Duration
	// Drain gives the agent a moment to end the stream after its last event, so that the connection can be used again.
	Drain()
	Close()
}

// Item is one event of a stream.
type Item struct {
	Data []byte // what the version reads
	ID   string // by which the stream can be taken up again; "" without
	// Number is that of the event in its task: 1 more than that of the event before, or any larger one for a whole task. 0 is
	// an agent that does not number events.
	Number int64
	// Read is how many bytes were read for it, heartbeats before it and framing included; 0 is the length of Data.
	Read int
	// Cut: the stream ended with this event, and perhaps within it.
	Cut bool
}

// LinkError is a connection that could not be made or that broke, as opposed to an error of the agent.
type LinkError struct {
	// Unsent: not a byte of the request left, so that it may be sent another way.
	Unsent bool
	Err    error
}

// Error says what broke.
func (e *LinkError) Error() string {
	if e.Unsent {
		return e.Err.Error()
	}
	return fmt.Sprintf("connection broken: %v", e.Err)
}

// Unwrap returns the cause.
func (e *LinkError) Unwrap() error { return e.Err }

// Broken makes the error of a connection that failed: the cause of the context if that ended.
func Broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &LinkError{Err: err}
}

// unsent reports whether a request may be sent another way after err.
func unsent(err error) bool {
	var link *LinkError
	return errors.As(err, &link) && link.Unsent
}
