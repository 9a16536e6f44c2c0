package grpcserver

import (
	"encoding/binary"
	"net"

	"golang.org/x/net/http2"
)

// peekedConn is a connection whose first bytes were read. It reads them again.
type peekedConn struct {
	net.Conn
	first []byte
}

// Read reads the first bytes again, then the connection.
func (c *peekedConn) Read(b []byte) (int, error) {
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
func (c *peekedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return nil
}

// unacknowledged removes from a connection of HTTP/2 the first frame that acknowledges settings, which are those that
// Claim sent: net/http ends a connection on which more settings are acknowledged than it has sent. grpc-go does not
// mind.
type unacknowledged struct {
	peekedConn
	head [frameHeader]byte
	have int    // of head: what has been read of a frame's header
	out  []byte // of head: what is to be passed on
	left int    // what is to be passed on before the next header
	done bool   // the frame has come
}

// Read reads everything but that frame.
func (c *unacknowledged) Read(b []byte) (int, error) {
	for {
		switch {
		case len(c.out) > 0:
			n := copy(b, c.out)
			c.out = c.out[n:]
			return n, nil
		case c.left > 0:
			n, err := c.peekedConn.Read(b[:min(len(b), c.left)])
			c.left -= n
			return n, err
		case c.done:
			return c.peekedConn.Read(b)
		}
		if err := c.header(); err != nil {
			return 0, err
		}
	}
}

// header reads on in a frame's header.
func (c *unacknowledged) header() error {
	n, err := c.peekedConn.Read(c.head[c.have:])
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
