// Package grpcclient lets a client call agents over gRPC (A2A 1.0 §10). Programs link it by choice:
//
//	client.New(ctx, url, rpc.Use(grpcclient.Binding()))
//
// It uses grpc-go's own transport with the codecs of the protocol package: frames, metadata and statuses. The meaning of calls, the choice of the
// interface and the resumption of streams are package client's, as over any binding. gRPC has no ids of events: a broken stream is taken up again
// with the task as it is now.
package grpcclient

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip" // agents may compress
	"google.golang.org/grpc/keepalive"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
)

const (
	// defaultKeepAlive is the interval of pings on a silent connection. Servers of grpc-go close connections with more pings than one in five
	// minutes, unless they are configured otherwise.
	defaultKeepAlive = 6 * time.Minute
	answersWithin    = 20 * time.Second
	maxHeader        = 1 << 20 // bytes
)

// reconnect tries a connection that could not be made about as often as package client tries a call.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 10 * time.Second},
	MinConnectTimeout: 20 * time.Second,
}

// Option changes how agents are called.
type Option func(*binding)

// TLS sets the configuration of encrypted connections, and encrypts those of an address without a scheme.
func TLS(config *tls.Config) Option { return func(b *binding) { b.tls = config } }

// ClearText does not encrypt connections of an address without a scheme: "host:port". Without it they are encrypted when the card, or
// another interface of the host, is at https.
func ClearText() Option { return func(b *binding) { b.clear = true } }

// Gzip compresses requests. Answers may be compressed in any case.
func Gzip() Option {
	return func(b *binding) { b.calls = append(b.calls, grpc.UseCompressor(gzip.Name)) }
}

// KeepAlive sets the interval of pings on a silent connection with calls: at least ten seconds, 0 for no pings.
func KeepAlive(interval time.Duration) Option { return func(b *binding) { b.keepAlive = interval } }

// DialOptions are options of grpc-go for every connection, after those of this package.
func DialOptions(opts ...grpc.DialOption) Option {
	return func(b *binding) { b.dial = append(b.dial, opts...) }
}

// Dialer makes connections by dial, which gets "tcp" and the host and port of an address, instead of over the network.
// They are not encrypted, unless dial does that. Package a2atest has one.
func Dialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(b *binding) { b.dialer = dial }
}

// Binding is the binding GRPC, for [client.Use].
func Binding(opts ...Option) client.Binding {
	b := &binding{keepAlive: defaultKeepAlive}
	for _, o := range opts {
		o(b)
	}
	return b
}

type binding struct {
	tls       *tls.Config
	clear     bool
	keepAlive time.Duration
	calls     []grpc.CallOption
	dial      []grpc.DialOption
	dialer    func(ctx context.Context, network, address string) (net.Conn, error) // nil: over the network
}

// Name is GRPC.
func (*binding) Name() string { return runtime.BindingGRPC }

// Connect reads the address of an interface. The first call makes the connection.
func (b *binding) Connect(t client.Target) (client.Conn, error) {
	at, err := b.address(t)
	if err != nil {
		return nil, err
	}
	received := new(traffic)
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(counting{b.credentials(at, t), received}),
		grpc.WithDefaultCallOptions(append([]grpc.CallOption{grpc.ForceCodecV2(codec{})}, b.calls...)...),
		grpc.WithStatsHandler(notes{}),
		grpc.WithMaxHeaderListSize(maxHeader),
		grpc.WithConnectParams(reconnect),
		// Package client alone sends a request again.
		grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(),
	}
	if b.keepAlive > 0 {
		opts = append(opts, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: b.keepAlive, Timeout: answersWithin}))
	}
	if b.dialer != nil {
		at.target = "passthrough:///" + strings.TrimPrefix(at.target, "dns:///")
		opts = append(opts, grpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) {
			return b.dialer(ctx, "tcp", to)
		}))
	}
	cc, err := grpc.NewClient(at.target, append(opts, b.dial...)...)
	if err != nil {
		return nil, err
	}
	return &conn{cc: cc, target: t, binding: b, secure: at.secure, received: received}, nil
}

// credentials are those of connections. The client's certificate replaces those of [TLS].
func (b *binding) credentials(at address, t client.Target) credentials.TransportCredentials {
	if !at.secure || b.dialer != nil {
		return insecure.NewCredentials()
	}
	config := b.tls
	if t.Certificate != nil {
		if config = config.Clone(); config == nil {
			config = &tls.Config{}
		}
		config.GetClientCertificate = t.Certificate
	}
	return credentials.NewTLS(config)
}
