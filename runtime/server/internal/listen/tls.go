package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
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

// initTLS reads the certificate, if there is to be one.
func (s *Server) initTLS() error {
	if s.cert == "" && s.key == "" {
		s.cert, s.key = os.Getenv(EnvTLSCert), os.Getenv(EnvTLSKey)
	}
	switch {
	case s.cert == "" && s.key == "":
		return nil
	case s.cert == "" || s.key == "":
		return fmt.Errorf("server: TLS needs a certificate and its key: set both %s and %s", EnvTLSCert, EnvTLSKey)
	}
	pair := &keyPair{certFile: s.cert, keyFile: s.key, logger: s.logger}
	if err := pair.read(); err != nil {
		return fmt.Errorf("server: TLS: %w", err)
	}
	s.pair = pair
	return nil
}

// useTLS takes files that flags name in place of others; "" names none.
func (s *Server) useTLS(cert, key string) error {
	if cert == "" && key == "" {
		return nil
	}
	s.cert, s.key = cmp.Or(cert, s.cert), cmp.Or(key, s.key)
	return s.initTLS()
}

// configTLS is how TLS is spoken. A client need not show a certificate, since the card is for everybody; one that it
// shows has to be good.
func (s *Server) configTLS() *tls.Config {
	c := &tls.Config{
		NextProtos:     []string{protoHTTP2, "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.pair.current(), nil },
	}
	switch a := &s.access; {
	case a.authorities != nil:
		c.ClientAuth, c.ClientCAs = tls.VerifyClientCertIfGiven, a.authorities
	case a.asksCertificates: // the scheme's verifier looks at it
		c.ClientAuth = tls.RequestClientCert
	}
	return c
}

// protoHTTP2 is what HTTP/2 is called where a connection over TLS begins.
const protoHTTP2 = "h2"

// keyPair is a certificate with its key, from two files.
type keyPair struct {
	certFile, keyFile string
	logger            *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	stamp  [2]fileStamp // of the files that were read last
	looked time.Time
}

// fileStamp tells a file from a later one of the same name.
type fileStamp struct {
	size    int64
	changed time.Time
}

// lookAgain is how often the files are looked at, when connections come.
const lookAgain = time.Second

// current returns the certificate. When its files have changed they are read again; if they are no pair, which they are
// not while somebody writes them, the former one stays.
func (p *keyPair) current() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) < lookAgain {
		return p.pair
	}
	p.looked = time.Now()
	stamp, err := p.stamps()
	if err == nil && stamp == p.stamp {
		return p.pair
	}
	if err == nil {
		err = p.read()
	}
	if err != nil {
		p.logger.Error("the certificate could not be read again: the former one stays in use", "error", err)
	} else {
		p.logger.Info("the certificate was read again", "file", p.certFile)
	}
	return p.pair
}

// read reads the files. It remembers which ones, also when they are no pair: they are tried once.
func (p *keyPair) read() (err error) {
	if p.stamp, err = p.stamps(); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err == nil {
		p.pair = &pair
	}
	return err
}

func (p *keyPair) stamps() (stamp [2]fileStamp, err error) {
	for i, name := range []string{p.certFile, p.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return stamp, err
		}
		stamp[i] = fileStamp{info.Size(), info.ModTime()}
	}
	return stamp, nil
}

// securedConn is a connection over TLS that has been looked into: net/http reads what comes out of it as it would in
// clear text. What it does not see, requests are told by [secured].
type securedConn struct {
	net.Conn
	state tls.ConnectionState
}

// CloseWrite lets net/http end an answer while the client still sends.
func (c *securedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return errors.ErrUnsupported
}

type stateKey struct{}

// withState keeps the state of a connection for its requests.
func withState(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*securedConn); ok {
		return context.WithValue(ctx, stateKey{}, &c.state)
	}
	return ctx
}

// secured tells requests that they came over TLS.
type secured struct{ http.Handler }

func (h secured) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil {
		r.TLS, _ = r.Context().Value(stateKey{}).(*tls.ConnectionState)
	}
	h.Handler.ServeHTTP(w, r)
}
