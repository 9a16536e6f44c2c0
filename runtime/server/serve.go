package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Environment variables with the files of the agent's certificate and its key, PEM. With both of them the agent speaks
// TLS and nothing else.
const (
	EnvTLSCert = "A2A_TLS_CERT"
	EnvTLSKey  = "A2A_TLS_KEY"
)

// WithTLS has [Server.Serve] speak TLS with the certificate and key in two files, PEM, which are read again when they
// change. Without it the environment's A2A_TLS_CERT and A2A_TLS_KEY count.
func WithTLS(certFile, keyFile string) Option {
	return func(o *options) { o.cert, o.key = certFile, keyFile }
}

// initTLS reads the certificate, if there is one: from the files that flags name or, where those are "", from the
// option's or the environment's.
func (s *Server) initTLS(cert, key string) error {
	if s.cert == "" && s.key == "" {
		s.cert, s.key = os.Getenv(EnvTLSCert), os.Getenv(EnvTLSKey)
	}
	s.cert, s.key = cmp.Or(cert, s.cert), cmp.Or(key, s.key)
	switch {
	case s.cert == "" && s.key == "":
		return nil
	case s.cert == "" || s.key == "":
		return fmt.Errorf("TLS needs a certificate and its key: set both %s and %s", EnvTLSCert, EnvTLSKey)
	}
	var err error
	if s.certificate, err = binding.ReadCertificate(s.cert, s.key, s.logger); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	return nil
}

// Serve serves on ln, over TLS if the server has a certificate, until ctx is done. Then it stops accepting, lets
// handlers finish within the grace time, cancels those that do not, and ends the open streams. It returns nil after
// such a shutdown and closes ln in any case.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	defer s.flushLog() // also when something panics here
	if s.policy.Withholds(ln.Addr()) {
		return errors.Join(binding.ErrOpen(ln.Addr()), ln.Close(), s.Close())
	}
	s.engine.Start()
	p := binding.OpenPort(ln, s.listening())
	if err := p.Serve(ctx); err != nil {
		return errors.Join(fmt.Errorf("serve: %w", err), s.Close(), p.Cut())
	}
	closed := make(chan error, 1)
	grace, cancel := context.WithTimeout(context.Background(), s.limits.Grace+engine.LongestShutdown)
	defer cancel()
	go func() { closed <- p.Shutdown(grace) }() // stops accepting at once, then waits for the requests that Shutdown below ends
	patience, stop := context.WithTimeout(context.Background(), s.limits.Grace)
	defer stop()
	if err := s.Shutdown(patience); err != nil {
		s.logger.Warn("handlers were canceled by the shutdown", "error", err)
	}
	if err := <-closed; err != nil {
		s.logger.Warn("connections were cut by the shutdown", "error", err)
		return p.Cut()
	}
	p.Wait()
	return nil
}

// listening is how a listener of the server is served.
func (s *Server) listening() binding.PortConfig {
	c := binding.PortConfig{
		Handler: s, Transport: s.beside,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
		Header:   s.limits.Header, Read: s.limits.Read, Idle: s.limits.Idle, Stall: s.limits.Stall,
	}
	if s.certificate != nil {
		c.TLS = binding.TLSConfig(s.certificate, s.access.AsksCertificates, s.access.Authorities)
	}
	return c
}
