package listen

import (
	"context"
	"net"
	"net/http"
)

// Transport is a binding that reads and writes connections itself, beside net/http and on the same port: gRPC.
type Transport interface {
	// Claim says whether a new connection is the transport's, by its first bytes, and returns a connection that reads
	// them again. It may be called on any goroutine. Time and bytes are limited: the connection has a deadline, and a
	// connection whose first bytes do not tell goes to net/http. An error is that of the connection.
	Claim(c net.Conn) (again net.Conn, mine bool, err error)
	// Serve answers the connections of a listener until the transport is shut down; it returns nil then.
	Serve(ln net.Listener) error
	// Drain is called when the server takes no new work any more.
	Drain()
	// Shutdown takes no more calls and waits for those that are being answered; when ctx is done it cuts them.
	Shutdown(ctx context.Context) error
	// Calls reports whether a request to net/http is a call of the transport's, which ServeHTTP answers then: a client,
	// or a proxy in front of many, may use one connection for all bindings.
	Calls(r *http.Request) bool
	http.Handler
}
