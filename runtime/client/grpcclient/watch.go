package grpcclient

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"

	"github.com/a2agen/a2agen/runtime/client"
)

// traffic counts what is received over the connections to an agent.
type traffic struct {
	data atomic.Int64 // bytes of messages
	// pings are those of the agent: the heartbeats of gRPC. Answers to ours do not count, because grpc-go sends pings whenever
	// data arrive.
	pings atomic.Int64
}

// counting are credentials that count what is received over their connections.
type counting struct {
	credentials.TransportCredentials
	received *traffic
}

// ClientHandshake wraps the connection that was made.
func (l counting) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	c, info, err := l.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		return nil, nil, err
	}
	return &countingConn{Conn: c, received: l.received}, info, nil
}

// Clone keeps the counter.
func (l counting) Clone() credentials.TransportCredentials {
	return counting{l.TransportCredentials.Clone(), l.received}
}

// countingConn follows the frames of HTTP/2 that are read (RFC 9113 §4.1).
type countingConn struct {
	net.Conn
	received *traffic
	head     [9]byte // of the next frame: length, type, flags, stream
	have     int     // bytes of it
	left     int     // bytes of the frame under way
	data     bool    // which is one of data
}

// Types and flags of frames.
const (
	frameData = 0
	framePing = 6
	flagAck   = 1
)

// Read reads and counts.
func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.count(p[:n])
	return n, err
}

func (c *countingConn) count(p []byte) {
	for len(p) > 0 {
		if c.left == 0 {
			n := copy(c.head[c.have:], p)
			p, c.have = p[n:], c.have+n
			if c.have == len(c.head) {
				c.have, c.left = 0, int(c.head[0])<<16|int(c.head[1])<<8|int(c.head[2])
				c.data = c.head[3] == frameData
				if c.head[3] == framePing && c.head[4]&flagAck == 0 {
					c.received.pings.Add(1)
				}
			}
			continue
		}
		n := min(c.left, len(p))
		p, c.left = p[n:], c.left-n
		if c.data {
			c.received.data.Add(int64(n))
		}
	}
}

// progress is the progress of one call.
type progress struct {
	sent     atomic.Bool // its headers: the agent may have got it
	answered atomic.Bool // its status came: it is the agent's and not the transport's
	wanted   string      // the challenges with the status, valid after answered
	watch    *watchdog
}

type progressKey struct{}

// notes records the progress of calls.
type notes struct{}

func (notes) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (notes) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (notes) HandleConn(context.Context, stats.ConnStats)                       {}

// HandleRPC is called with every step of a call.
func (notes) HandleRPC(ctx context.Context, step stats.RPCStats) {
	p, ok := ctx.Value(progressKey{}).(*progress)
	if !ok {
		return
	}
	switch step := step.(type) {
	case *stats.OutHeader:
		p.sent.Store(true)
	case *stats.InHeader:
		p.watch.start()
	case *stats.InTrailer:
		p.wanted = strings.Join(step.Trailer[keyChallenge], ", ")
		p.answered.Store(true)
	}
}

// watchdog cancels a call when nothing arrives on its connection for the idle time, while the call waits.
type watchdog struct {
	idle     time.Duration // ≤ 0: never
	lives    bool          // a ping restarts the idle time; else only data extend it
	received *traffic
	cancel   context.CancelCauseFunc

	mu          sync.Mutex
	timer       *time.Timer
	running     bool
	data, pings int64 // that had been received when the time began
}

// start begins a wait, if none is under way.
func (w *watchdog) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle <= 0 || w.running {
		return
	}
	w.running, w.data, w.pings = true, w.received.data.Load(), w.received.pings.Load()
	if w.timer == nil {
		w.timer = time.AfterFunc(w.idle, w.look)
	} else {
		w.timer.Reset(w.idle)
	}
}

// stop ends it.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	if w.timer != nil {
		w.timer.Stop()
	}
}

// look extends the time by the bytes that were received, or cancels the call.
func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		return
	}
	data, pings := w.received.data.Load(), w.received.pings.Load()
	worth := time.Duration(data-w.data) * client.PerByte
	if w.lives && pings > w.pings {
		worth = w.idle
	}
	w.data, w.pings = data, pings
	if worth <= 0 {
		w.cancel(client.ErrIdle)
		return
	}
	w.timer.Reset(min(worth, w.idle))
}
