package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/a2agen/a2agen/runtime/internal/engine"
)

// Serve serves on ln, over TLS if the server has a certificate, until ctx is done. Then it stops accepting, lets handlers finish within the grace time, cancels
// those that do not, and ends the open streams. It returns nil after such a shutdown and closes ln in any case.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	if s.withheld(ln.Addr()) {
		return errors.Join(errOpen(ln.Addr()), ln.Close(), s.Close())
	}
	s.engine.Start()
	p := s.open(ln)
	select {
	case err := <-p.ended:
		p.running--
		return errors.Join(fmt.Errorf("serve: %w", err), s.Close(), p.cut())
	case <-ctx.Done():
	}
	closed := make(chan error, 1)
	grace, cancel := context.WithTimeout(context.Background(), s.limits.Grace+engine.LongestShutdown)
	defer cancel()
	go func() { closed <- p.shutdown(grace) }() // stops accepting at once, then waits for the requests that Shutdown below ends
	patience, stop := context.WithTimeout(context.Background(), s.limits.Grace)
	defer stop()
	if err := s.Shutdown(patience); err != nil {
		s.logger.Warn("handlers were canceled by the shutdown", "error", err)
	}
	if err := <-closed; err != nil {
		s.logger.Warn("connections were cut by the shutdown", "error", err)
		return p.cut()
	}
	p.wait()
	return nil
}

// port is a listener being served: by net/http, and by the transport beside it if there is one.
type port struct {
	ln      net.Listener
	web     *http.Server
	beside  Transport // nil: there is none
	split   *splitter // nil without it
	ended   chan error
	running int // goroutines that will say so in ended
}

// open begins to serve on ln.
func (s *Server) open(ln net.Listener) *port {
	p := &port{ln: ln, beside: s.beside, ended: make(chan error, 3), web: &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.Header,
		ReadTimeout:       s.limits.Read,
		IdleTimeout:       s.limits.Idle, // no WriteTimeout: it would cut streams (T58)
		MaxHeaderBytes:    MaxHeader,
		Protocols:         new(http.Protocols),
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}}
	p.web.Protocols.SetHTTP1(true)
	p.web.Protocols.SetHTTP2(true)
	p.web.Protocols.SetUnencryptedHTTP2(true)
	var conns net.Listener = pacedListener{ln, s.limits.Stall}
	if s.pair != nil {
		conns = tls.NewListener(conns, s.configTLS())
	}
	if p.beside == nil {
		p.run(func() error { return p.web.Serve(conns) })
		return p
	}
	p.web.Handler, p.web.ConnContext = apart{secured{s}, p.beside}, withState
	p.split = newSplitter(ln.Addr(), p.beside, s.limits.Header)
	p.run(func() error { return p.web.Serve(p.split.web) })
	p.run(func() error { return p.beside.Serve(p.split.own) })
	p.run(func() error { return p.split.run(conns) })
	return p
}

// apart refuses calls of a transport on connections that net/http has, where the transport has its own: they cost more
// here, and others share the connection. The connection ends, so that the client's next one begins with a call
// (decision 037).
type apart struct {
	http.Handler
	beside Transport
}

func (h apart) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.beside.Calls(r) {
		h.Handler.ServeHTTP(w, r)
		return
	}
	w.Header()["Connection"] = closing // over HTTP/2: GOAWAY
	http.Error(w, "This connection began with another request than one of gRPC, which has connections of its own.", http.StatusUnsupportedMediaType)
}

// MaxHeader is the most that a request's header may have, in bytes.
const MaxHeader = 64 << 10

func (p *port) run(serve func() error) {
	p.running++
	go func() { p.ended <- serve() }()
}

// wait waits until nobody serves any more.
func (p *port) wait() {
	for ; p.running > 0; p.running-- {
		<-p.ended
	}
}

// shutdown stops accepting and waits until everything that was asked is answered, or ctx is done.
func (p *port) shutdown(ctx context.Context) error {
	if p.beside == nil {
		return p.web.Shutdown(ctx)
	}
	_ = p.ln.Close() // for the first time, unless it has failed
	p.split.close()
	waited := make(chan error, 1)
	go func() { waited <- p.beside.Shutdown(ctx) }()
	return errors.Join(p.web.Shutdown(ctx), <-waited)
}

// cut closes all connections.
func (p *port) cut() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p.beside != nil {
		_ = p.shutdown(ctx)
	}
	err := p.web.Close()
	p.wait()
	return err
}
