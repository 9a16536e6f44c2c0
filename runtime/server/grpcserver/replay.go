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

// unacknowledged is a connection of HTTP/2 without the first frame that acknowledges settings, which were ours: net/http
// ends a connection on which more is acknowledged than it has sent. grpc-go takes no notice.
type unacknowledged struct {
	replayed
	head  [frameHeader]byte
	have  int  // of head: what has been read of a frame's header
	shown int  // and of that what has been passed on
	left  int  // what is to be passed on before the next header
	heard bool // the frame has come
}

// Read passes everything on but the one frame.
func (c *unacknowledged) Read(b []byte) (int, error) {
	for !c.heard && c.left == 0 && c.have < frameHeader {
		n, err := c.replayed.Read(c.head[c.have:])
		if c.have += n; err != nil {
			return 0, err
		}
		if c.have < frameHeader {
			continue
		}
		if c.heard = c.acknowledges(); c.heard {
			c.have = 0
		}
	}
	switch {
	case c.have == frameHeader:
		return c.header(b), nil
	case c.left > 0:
		n, err := c.replayed.Read(b[:min(len(b), c.left)])
		c.left -= n
		return n, err
	}
	return c.replayed.Read(b)
}

// header passes a frame's header on.
func (c *unacknowledged) header(b []byte) int {
	n := copy(b, c.head[c.shown:])
	if c.shown += n; c.shown == frameHeader {
		c.left = int(binary.BigEndian.Uint32(c.head[:]) >> 8)
		c.have, c.shown = 0, 0
	}
	return n
}

func (c *unacknowledged) acknowledges() bool {
	return http2.FrameType(c.head[3]) == http2.FrameSettings && http2.Flags(c.head[4])&http2.FlagSettingsAck != 0
}
