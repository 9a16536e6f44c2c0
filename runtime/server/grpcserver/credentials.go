package grpcserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
)

// handshaken are the credentials of connections that are ready: TLS, if it is spoken, has begun before they come here.
type handshaken struct{}

var errNoClient = errors.New("grpcserver: these credentials are a server's")

// ServerHandshake tells what is known of a connection.
func (handshaken) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	level := credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}
	if r, ok := c.(*replayed); ok {
		if secure, ok := r.Conn.(*tls.Conn); ok {
			level.SecurityLevel = credentials.PrivacyAndIntegrity
			return c, credentials.TLSInfo{State: secure.ConnectionState(), CommonAuthInfo: level}, nil
		}
	}
	return c, nil, nil
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
