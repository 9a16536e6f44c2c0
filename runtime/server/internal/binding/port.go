package binding

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// MaxHeader is the most that a request's header may have, in bytes.
const MaxHeader = 64 << 10

// Config says how a listener is served.
type PortConfig struct {
	Handler   http.Handler
	Transport Transport   // beside net/http; nil: there is none
	TLS       *tls.Config // nil: clear text
	ErrorLog  *log.Logger // of net/http

	Header time.Duration // for a request's header, and for a new connection to say what it speaks
	Read   time.Duration // for a whole request; handlers may extend it
	Idle   time.Duration // between requests
	Stall  time.Duration // within which a client must take some of what is written
}

// Port is a listener being served.
type Port struct {
	ln      net.Listener
	web     *http.Server
	beside  Transport // nil: there is none
	mux     *connMux  // nil without a transport
	ended   chan error
	running int // goroutines that will send to ended

	mu       sync.Mutex
	detached map[*detachedConn]struct{}
	returned map[net.Conn]struct{} // which have sent no request since then
	closed   bool                  // no connection detaches or comes back any more
	streams  sync.WaitGroup        // of detached connections
	again    *muxListener          // of connections that come back
}

// Open begins to serve ln.
func OpenPort(ln net.Listener, c PortConfig) *Port {
	p := &Port{
		ln: ln, beside: c.Transport, ended: make(chan error, 4),
		detached: map[*detachedConn]struct{}{}, returned: map[net.Conn]struct{}{}, again: newMuxListener(ln.Addr()),
	}
	p.web = &http.Server{
		Handler:           withTLSState{c.Handler},
		ReadHeaderTimeout: c.Header,
		ReadTimeout:       c.Read,
		IdleTimeout:       c.Idle, // no WriteTimeout: it would cut streams (T58)
		MaxHeaderBytes:    MaxHeader,
		Protocols:         new(http.Protocols),
		ErrorLog:          c.ErrorLog,
		ConnContext:       p.keepPort,
	}
	p.web.Protocols.SetHTTP1(true)
	p.web.Protocols.SetHTTP2(true)
	p.web.Protocols.SetUnencryptedHTTP2(true)
	var conns net.Listener = deadlineListener{ln, c.Stall}
	if c.TLS != nil {
		conns = tls.NewListener(conns, c.TLS)
	}
	p.run(func() error { return p.web.Serve(p.again) })
	if p.beside == nil {
		p.run(func() error { return p.web.Serve(conns) })
		return p
	}
	p.web.Handler = refuseTransport{p.web.Handler, p.beside}
	p.mux = &connMux{
		transport: p.beside, limit: c.Header, web: newMuxListener(ln.Addr()), own: newMuxListener(ln.Addr()),
		undecided: map[net.Conn]bool{},
	}
	p.run(func() error { return p.web.Serve(p.mux.web) })
	p.run(func() error { return p.beside.Serve(p.mux.own) })
	p.run(func() error { return p.mux.run(conns) })
	return p
}

// Serve waits until ctx is done, or until serving fails, and returns that error. Whoever called it goes on with
// Shutdown or Cut.
func (p *Port) Serve(ctx context.Context) error {
	select {
	case err := <-p.ended:
		p.running--
		return err
	case <-ctx.Done():
		return nil
	}
}

// refuseTransport refuses calls of a transport on connections that net/http serves, where the transport has its own:
// they cost more here, and others share the connection. The connection ends, so that the client's next one begins with
// a call (docs/decisions/15).
type refuseTransport struct {
	http.Handler
	beside Transport
}

func (h refuseTransport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.beside.Calls(r) {
		h.Handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Connection", "close") // over HTTP/2: GOAWAY
	http.Error(w, "This connection began with another request than one of gRPC, which has connections of its own.", http.StatusUnsupportedMediaType)
}

func (p *Port) run(serve func() error) {
	p.running++
	go func() { p.ended <- serve() }()
}

// Wait waits until nothing serves any more, after Shutdown.
func (p *Port) Wait() {
	for ; p.running > 0; p.running-- {
		<-p.ended
	}
}

// Shutdown stops accepting and waits until all requests are answered, or ctx is done.
func (p *Port) Shutdown(ctx context.Context) error {
	waited := make(chan error, 2)
	go func() { waited <- p.closeDetached(ctx) }()
	if p.beside == nil {
		return errors.Join(p.web.Shutdown(ctx), <-waited)
	}
	_ = p.ln.Close() // for the first time, unless it has failed
	p.mux.close()
	go func() { waited <- p.beside.Shutdown(ctx) }()
	return errors.Join(p.web.Shutdown(ctx), <-waited, <-waited)
}

// Cut closes all connections and waits until nothing serves any more.
func (p *Port) Cut() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.cutDetached()
	_ = p.Shutdown(ctx)
	err := p.web.Close()
	p.streams.Wait()
	p.Wait()
	return err
}

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
