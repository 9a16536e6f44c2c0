package grpcserver

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// A connection of HTTP/2 is ours if the first call on it is one of gRPC: its content type says so. Some clients send
// nothing but the preface until they have heard the server's settings, so that an empty frame of them goes out where
// nothing else has come. What the server behind says of settings comes later, which HTTP/2 allows. Who acknowledges
// them and has no call yet keeps a connection ready for one, as clients of gRPC do.

// mostPeeked is how much of a connection is read to decide, in bytes: the preface, settings, and the headers of a first
// call.
const mostPeeked = 4<<10 + binding.MaxHeader

// Claim reports whether a connection is one of gRPC.
func (t *transport) Claim(c net.Conn) (net.Conn, bool, error) {
	o := opening{conn: c}
	mine, err := o.isGRPC()
	if err != nil {
		return nil, false, err
	}
	again := peekedConn{Conn: c, first: o.read}
	switch {
	case mine:
		return &link{peekedConn: again}, true, nil
	case o.prompted:
		return &unacknowledged{peekedConn: again, left: len(http2.ClientPreface)}, false, nil
	}
	return &again, false, nil
}

// opening reads the first frames of a connection.
type opening struct {
	conn     io.ReadWriter
	read     []byte // so far
	prompted bool   // the settings have been sent
	answered bool   // and acknowledged
}

// more reads until there are n bytes. It is false beyond mostPeeked.
func (o *opening) more(n int) (bool, error) {
	if n > mostPeeked {
		return false, nil
	}
	for len(o.read) < n {
		if len(o.read) == cap(o.read) {
			o.read = append(make([]byte, 0, max(firstRead, 2*cap(o.read))), o.read...)
		}
		m, err := o.conn.Read(o.read[len(o.read):cap(o.read)])
		if o.read = o.read[:len(o.read)+m]; err != nil && len(o.read) < n {
			return false, err
		}
	}
	return true, nil
}

// firstRead is how much room the first bytes get.
const firstRead = 256

// isGRPC reads as much as it takes.
func (o *opening) isGRPC() (bool, error) {
	for i := 1; i <= len(http2.ClientPreface); i++ { // any other first bytes are HTTP/1
		if ok, err := o.more(i); !ok {
			return false, err
		}
		if o.read[i-1] != http2.ClientPreface[i-1] {
			return false, nil
		}
	}
	at := len(http2.ClientPreface)
	var headers []byte
	for {
		f, ok, err := o.frame(at)
		if o.answered && len(o.read) == at && errors.Is(err, os.ErrDeadlineExceeded) {
			return true, nil
		}
		if !ok {
			return false, err
		}
		at += frameHeader + len(f.payload)
		switch f.kind {
		case http2.FrameSettings:
			o.answered = o.answered || o.prompted && f.flags&http2.FlagSettingsAck != 0
		case http2.FrameWindowUpdate, http2.FramePriority, http2.FramePing:
		case http2.FrameHeaders, http2.FrameContinuation:
			headers = append(headers, f.fragment()...)
			if f.flags&http2.FlagHeadersEndHeaders != 0 {
				return callsGRPC(headers), nil
			}
		default:
			return false, nil
		}
	}
}

// frame is a frame of HTTP/2.
type frame struct {
	kind    http2.FrameType
	flags   http2.Flags
	payload []byte
}

// frameHeader is how long the header of a frame is, in bytes.
const frameHeader = 9

// frame reads the frame that begins at a place. A client that sends no more than its settings is sent ours.
func (o *opening) frame(at int) (f frame, ok bool, err error) {
	if at > len(http2.ClientPreface) && len(o.read) == at && !o.prompted {
		o.prompted = true
		if _, err := o.conn.Write(emptySettings); err != nil {
			return f, false, err
		}
	}
	if ok, err := o.more(at + frameHeader); !ok {
		return f, false, err
	}
	h := o.read[at:]
	length := int(binary.BigEndian.Uint32(h) >> 8)
	if ok, err := o.more(at + frameHeader + length); !ok {
		return f, false, err
	}
	h = o.read[at:]
	return frame{http2.FrameType(h[3]), http2.Flags(h[4]), h[frameHeader : frameHeader+length]}, true, nil
}

var emptySettings = []byte{0, 0, 0, byte(http2.FrameSettings), 0, 0, 0, 0, 0}

// fragment is the part of a frame of headers that holds headers.
func (f frame) fragment() []byte {
	b := f.payload
	if f.kind == http2.FrameContinuation {
		return b
	}
	if f.flags&http2.FlagHeadersPadded != 0 && len(b) > 0 {
		pad := int(b[0])
		b = b[1:]
		b = b[:max(0, len(b)-pad)]
	}
	if f.flags&http2.FlagHeadersPriority != 0 {
		b = b[min(len(b), 5):]
	}
	return b
}

// callsGRPC reports whether headers are those of a call of gRPC. They are the first ones of their connection.
func callsGRPC(headers []byte) bool {
	found := false
	d := hpack.NewDecoder(4<<10, func(f hpack.HeaderField) { // the size that clients begin with (RFC 9113 §6.5.2)
		found = found || f.Name == "content-type" && isGRPC(f.Value)
	})
	d.SetMaxStringLength(mostPeeked)
	_, _ = d.Write(headers)
	return found
}
