package grpcserver_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is a client that writes its frames itself, so that it can do what no library does.
type peer struct {
	t testing.TB
	net.Conn
	*http2.Framer
	headers bytes.Buffer
	enc     *hpack.Encoder
	dec     *hpack.Decoder
	stream  uint32
	coding  string // of messages, "gzip"
}

// connect opens a connection with settings.
func (a *agent) connect(settings ...http2.Setting) *peer {
	a.t.Helper()
	c, err := net.Dial("tcp", a.addr)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = c.Close() })
	p := &peer{t: a.t, Conn: c, Framer: http2.NewFramer(c, c), coding: "gzip"}
	p.enc, p.dec = hpack.NewEncoder(&p.headers), hpack.NewDecoder(4096, nil)
	_, err = io.WriteString(c, http2.ClientPreface)
	p.must(err)
	p.must(p.WriteSettings(settings...))
	return p
}

func (p *peer) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// call begins a call, with a message of which it sends so much.
func (p *peer) call(method string, message []byte, cut int) {
	p.t.Helper()
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	p.send(method, frame[:len(frame)-cut], cut == 0)
}

// request sends headers, with which a request may end.
func (p *peer) request(path, contentType string, whole bool) {
	p.t.Helper()
	p.headers.Reset()
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", path}, {":authority", "localhost"},
		{"content-type", contentType}, {"grpc-encoding", p.coding}, {"te", "trailers"},
	} {
		p.must(p.enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}))
	}
	p.stream += 1 + p.stream%2
	p.must(p.WriteHeaders(http2.HeadersFrameParam{
		StreamID: p.stream, BlockFragment: p.headers.Bytes(), EndHeaders: true, EndStream: whole,
	}))
}

// send begins a call, with data.
func (p *peer) send(method string, data []byte, whole bool) {
	p.t.Helper()
	p.request(method, "application/grpc", false)
	for {
		n := min(len(data), 16<<10)
		p.must(p.WriteData(p.stream, whole && n == len(data), data[:n]))
		if data = data[n:]; len(data) == 0 {
			break
		}
	}
}

// part is call with the beginning of a message.
func (p *peer) part(method string, message []byte, length int) {
	p.t.Helper()
	p.call(method, message, 5+len(message)-length)
}

// status reads up to the end of a call, and returns its status; "" when it does not end in time.
func (p *peer) status(within time.Duration) string {
	p.t.Helper()
	return p.statusOf(p.stream, within)
}

// statusOf is status of one of several calls, by its stream; 0 is the call that ends next.
func (p *peer) statusOf(stream uint32, within time.Duration) string {
	p.t.Helper()
	p.must(p.SetReadDeadline(time.Now().Add(within)))
	for {
		f, err := p.ReadFrame()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return ""
		}
		p.must(err)
		switch f := f.(type) {
		case *http2.HeadersFrame:
			fields, err := p.dec.DecodeFull(f.HeaderBlockFragment())
			p.must(err)
			for _, h := range fields {
				if h.Name == "grpc-status" && (stream == 0 || f.StreamID == stream) {
					return h.Value
				}
			}
		case *http2.RSTStreamFrame:
			if stream == 0 || f.StreamID == stream {
				return f.ErrCode.String()
			}
		}
	}
}

// closed waits until the agent closes the connection.
func (p *peer) closed() bool {
	_ = p.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, err := io.Copy(io.Discard, p.Conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}
