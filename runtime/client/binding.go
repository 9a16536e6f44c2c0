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

// Binding is a protocol binding of a client: it transports requests and answers. Their meaning, the choice of the
// interface, retries and the resumption of streams are the client's, and the same over all bindings.
type Binding interface {
	// Name is the protocolBinding of its interfaces (A2A 1.0 §5.8).
	Name() string
	// Connect prepares calls of an interface, without any request. A URL that it cannot call is an error.
	Connect(Target) (Conn, error)
}

// Target is an interface to call, with the limits of calls.
type Target struct {
	URL string
	// Secure: the card, or another interface of the same host, is at https. It counts for a URL without a scheme.
	Secure bool
	// HTTP is for bindings over HTTP: the user's transport with the client's rules for redirects.
	HTTP *http.Client
	// Certificate is for [tls.Config.GetClientCertificate]; nil without a client certificate. HTTP has it, too.
	Certificate func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
	// Idle is how long nothing may arrive ([IdleTimeout]); zero or less: for ever.
	Idle time.Duration
	// MaxResponse and MaxEvent are the largest answer and the largest event of a stream, in bytes.
	MaxResponse, MaxEvent int
}

// Conn calls one interface. It is safe for concurrent use.
//
// An error is a [*runtime.Error] of the agent, a [*LinkError] when the connection could not be made or
// broke, the cause of the context when that ended, or one of the binding, which may have a method TryLater()
// bool.
type Conn interface {
	// Call makes a request that has one answer. It returns the bytes that the operation decodes; empty for none.
	Call(ctx context.Context, r *Request) ([]byte, error)
	// Open makes a request whose answer is a stream. The caller closes it.
	Open(ctx context.Context, r *Request) (Stream, error)
	// Secure reports whether the connection is encrypted.
	Secure() bool
	// Close closes idle connections. Calls under way go on.
	Close()
}

// Request is one request, encoded for the binding, without its framing.
type Request struct {
	Operation *runtime.Operation
	Body      []byte
	// Header are the service parameters (A2A 1.0 §3.2.6) and the user's headers, under their names in HTTP.
	Header http.Header
	// Query is added to the query of the URL: an API key, encoded; "" for none. It must not be in an error. Bindings without a place for keys in
	// a query (runtime.Binding.Keys) get none.
	Query string
	// LastEventID is the id of the event after which a stream is taken up again, where the binding has ids; "" for none.
	LastEventID string
}

// AtOnce reports whether the answer begins without delay: that of a stream does, but that of a send may take hours of
// work, and operations without a role may take any time.
func (r *Request) AtOnce() bool {
	return r.Operation.Stream || !r.Operation.Role.Info().Waits
}

// Stream is one open stream of events.
type Stream interface {
	// Next returns the next event, whose bytes are valid until the next call; io.EOF when the agent ended the stream; a
	// [*LinkError] when the connection broke; any other error is final.
	Next() (Item, error)
	// Retry is the pause that the agent asks for before the stream is taken up again; 0 for none.
	Retry() time.Duration
	// Drain gives the agent a moment to end the stream after its last event, so that the connection can be used again.
	Drain()
	Close()
}

// Item is one event of a stream.
type Item struct {
	Data []byte // in the encoding of the version
	ID   string // by which the stream can be taken up again; "" without
	// Number is the number of the event in its task: 1 more than that of the event before, or any larger one for a whole task; 0 from
	// an agent that does not number events.
	Number int64
	// Read is the number of bytes that were read for it, heartbeats before it and framing included; 0 for the length of Data.
	Read int
	// Cut: the stream ended with this event, and perhaps within it.
	Cut bool
}

// LinkError is a connection that could not be made or that broke, as opposed to an error of the agent.
type LinkError struct {
	// Unsent: not a byte of the request was sent, so that it may be sent over another interface.
	Unsent bool
	Err    error
}

// Error renders the cause.
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

// unsent reports whether not a byte of the request that failed with err was sent.
func unsent(err error) bool {
	var link *LinkError
	return errors.As(err, &link) && link.Unsent
}
