package grpcserver

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"slices"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"
)

type metadataKey struct{}

// keepMetadata lets a call look its metadata up: grpc-go copies what it is asked for, and searches for what is not
// there.
func keepMetadata(ctx context.Context, call *tap.Info) (context.Context, error) {
	return context.WithValue(ctx, metadataKey{}, call.Header), nil
}

// metadataOf returns the metadata of a call, which nobody may change.
func metadataOf(ctx context.Context) metadata.MD {
	if md, ok := ctx.Value(metadataKey{}).(metadata.MD); ok {
		return md
	}
	md, _ := metadata.FromIncomingContext(ctx) // of a call that net/http serves
	return md
}

// values returns the values of a key of the metadata.
func (c *call) values(key string) []string { return c.metadata[key] }

// value returns the first value of a key of the metadata; "" without one.
func (c *call) value(key string) string {
	if all := c.values(key); len(all) > 0 {
		return all[0]
	}
	return ""
}

// request is the call as identity functions and cards see it: as the request of HTTP/2 that it is, without its body.
func (c *call) request() *http.Request {
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: c.full}, RequestURI: c.full,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}, Body: http.NoBody,
	}
	for key, values := range c.metadata {
		switch key {
		case ":authority":
			r.Host = values[0]
		case "cookie": // browsers have them for pages, not for calls
		default:
			r.Header[http.CanonicalHeaderKey(key)] = slices.Clone(values)
		}
	}
	if c.peer != nil {
		if c.peer.Addr != nil {
			r.RemoteAddr = c.peer.Addr.String()
		}
		r.TLS = stateOf(c.peer.AuthInfo)
	}
	return r.WithContext(c.Context)
}

// stateOf is what is known of a connection over TLS; nil for one in clear text.
func stateOf(info credentials.AuthInfo) *tls.ConnectionState {
	switch i := info.(type) {
	case *linkInfo:
		return i.state
	case credentials.TLSInfo: // of net/http
		return &i.State
	}
	return nil
}

// linkOf is the connection of a call; nil for one that net/http serves.
func (c *call) linkOf() *link {
	if c.peer == nil {
		return nil
	}
	if i, ok := c.peer.AuthInfo.(*linkInfo); ok {
		return i.link
	}
	return nil
}
