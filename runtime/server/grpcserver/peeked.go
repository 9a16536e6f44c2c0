package grpcserver

import (
	"encoding/binary"
	"net"

	"golang.org/x/net/http2"
)

// replayed is a connection some of which has been read.
type replayed struct {
	net.Conn
	first []byte
}

// Read reads what has been read once more.
func (c *replayed) Read(b []byte) (int, error) {
	if len(c.first) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.first)
	if c.first = c.first[n:]; len(c.first) == 0 {
		c.first = nil
	}
	return n, nil
}

// CloseWrite lets net/http end an answer while the client still sends.
func (c *replayed) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return nil
}

// unacknowledged is a connection of HTTP/2 without the first frame that acknowledges settings, which were ours:
// net/http ends a connection on which more is acknowledged than it has sent. grpc-go takes no notice.
type unacknowledged struct {
	replayed
	head [frameHeader]byte
	have int    // of head: what has been read of a frame's header
	out  []byte // of head: what is to be passed on
	left int    // what is to be passed on before the next header
	done bool   // the frame has come
}

// Read passes everything on but the one frame.
func (c *unacknowledged) Read(b []byte) (int, error) {
	for {
		switch {
		case len(c.out) > 0:
			n := copy(b, c.out)
			c.out = c.out[n:]
			return n, nil
		case c.left > 0:
			n, err := c.replayed.Read(b[:min(len(b), c.left)])
			c.left -= n
			return n, err
		case c.done:
			return c.replayed.Read(b)
		}
		if err := c.header(); err != nil {
			return 0, err
		}
	}
}

// header reads on in a frame's header.
func (c *unacknowledged) header() error {
	n, err := c.replayed.Read(c.head[c.have:])
	switch c.have += n; {
	case err != nil && c.have == 0:
		return err
	case err != nil: // what has been read is passed on, and the error comes again
		c.out, c.done = c.head[:c.have], true
	case c.have < frameHeader:
	case c.acknowledges():
		c.done = true
	default:
		c.out, c.left, c.have = c.head[:], int(binary.BigEndian.Uint32(c.head[:])>>8), 0
	}
	return nil
}

func (c *unacknowledged) acknowledges() bool {
	return http2.FrameType(c.head[3]) == http2.FrameSettings && http2.Flags(c.head[4])&http2.FlagSettingsAck != 0
}
