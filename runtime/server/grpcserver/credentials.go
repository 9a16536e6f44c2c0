package grpcserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
)

// handshaken are the credentials of connections whose TLS handshake, if there is one, is over already.
type handshaken struct{}

var errNoClient = errors.New("grpcserver: these credentials are a server's")

// ServerHandshake tells what is known of a connection.
func (handshaken) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	l, ok := c.(*link)
	if !ok {
		return c, nil, nil
	}
	info := &linkInfo{link: l}
	if secure, ok := l.Conn.(*tls.Conn); ok {
		state := secure.ConnectionState()
		info.state = &state
	}
	return c, info, nil
}

// linkInfo is what a call knows of its connection.
type linkInfo struct {
	link  *link
	state *tls.ConnectionState // nil: in clear text
}

// AuthType says whether it is over TLS.
func (i *linkInfo) AuthType() string {
	if i.state != nil {
		return "tls"
	}
	return "none"
}

// ClientHandshake is not for servers.
func (handshaken) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errNoClient
}

// Info says nothing.
func (handshaken) Info() credentials.ProtocolInfo { return credentials.ProtocolInfo{} }

// Clone returns the same.
func (h handshaken) Clone() credentials.TransportCredentials { return h }

// OverrideServerName is not for servers.
func (handshaken) OverrideServerName(string) error { return errNoClient }
