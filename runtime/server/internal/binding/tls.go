package binding

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// TLSConfig is how TLS is spoken with a certificate. A client need not show one of its own, since the card is public;
// one that it shows must be signed by authorities or, where they are nil and ask is true, is looked at later.
func TLSConfig(c *Certificate, ask bool, authorities *x509.CertPool) *tls.Config {
	config := &tls.Config{
		NextProtos:     []string{protoHTTP2, "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil },
	}
	switch {
	case authorities != nil:
		config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, authorities
	case ask:
		config.ClientAuth = tls.RequestClientCert
	}
	return config
}

// protoHTTP2 is the name of HTTP/2 in the handshake of TLS.
const protoHTTP2 = "h2"

// Certificate is a certificate with its key, from two files in PEM, which are read again when they change.
type Certificate struct {
	certFile, keyFile string
	logger            *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	stamp  [2]fileStamp // of the files that were read last
	looked time.Time
}

// ReadCertificate reads the files of a certificate and its key.
func ReadCertificate(certFile, keyFile string, logger *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, logger: logger}
	return c, c.read()
}

// fileStamp tells the versions of a file apart.
type fileStamp struct {
	size    int64
	changed time.Time
}

// lookAgain is how often the files are looked at most, when connections come.
const lookAgain = time.Second

// current returns the certificate. When its files have changed they are read again; while they do not match, because
// they are being written, the former certificate stays in use.
func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookAgain {
		return c.pair
	}
	c.looked = time.Now()
	stamp, err := c.stamps()
	if err == nil && stamp == c.stamp {
		return c.pair
	}
	if err == nil {
		err = c.read()
	}
	if err != nil {
		c.logger.Error("the certificate could not be read again: the former one stays in use", "error", err)
	} else {
		c.logger.Info("the certificate was read again", "file", c.certFile)
	}
	return c.pair
}

// read reads the files. It remembers their stamps also when they do not match: each version of them is tried once.
func (c *Certificate) read() (err error) {
	if c.stamp, err = c.stamps(); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.pair = &pair
	}
	return err
}

func (c *Certificate) stamps() (stamp [2]fileStamp, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return stamp, err
		}
		stamp[i] = fileStamp{info.Size(), info.ModTime()}
	}
	return stamp, nil
}

// tlsConn is a connection over TLS whose first bytes were read: net/http reads it as it would clear text, and requests
// learn of TLS by [withTLSState].
type tlsConn struct {
	net.Conn
	state tls.ConnectionState
}

// CloseWrite lets net/http end an answer while the client still sends.
func (c *tlsConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return errors.ErrUnsupported
}

type stateKey struct{}

// keepTLSState puts the state of a connection into the context of its requests.
func keepTLSState(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*tlsConn); ok {
		return context.WithValue(ctx, stateKey{}, &c.state)
	}
	return ctx
}

// withTLSState sets the TLS state of requests that came over a tlsConn.
type withTLSState struct{ http.Handler }

func (h withTLSState) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil {
		r.TLS, _ = r.Context().Value(stateKey{}).(*tls.ConnectionState)
	}
	h.Handler.ServeHTTP(w, r)
}
