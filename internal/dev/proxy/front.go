// Package proxy holds the address of an agent while its process changes: requests wait when no process takes them,
// running ones are finished or made again, and streams are taken up on the next process after the event that their
// reader has.
package proxy

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Front passes the requests of an agent's callers on to the process that answers now. The zero value is not ready to
// use: see [New].
type Front struct {
	mu   sync.Mutex
	gate chan struct{} // closed while requests may pass
	now  *upstream     // which they go to; nil: none
	down string        // what they are answered with then
}

// upstream is a process.
type upstream struct {
	url      *url.URL
	plain    *http.Transport // HTTP/1
	clear    *http.Transport // HTTP/2 without TLS, for gRPC
	stopping chan struct{}   // closed when it is to end, or has ended

	mu      sync.Mutex
	running int           // requests without an answer; streams that have begun do not count
	idle    chan struct{} // not nil: somebody waits for running to be 0
}

// New returns a front whose requests wait for the first call of Switch or Fail.
func New() *Front { return &Front{gate: make(chan struct{})} }

// Hold has new requests wait, and tells those that run that their process is to end.
func (f *Front) Hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut()
}

// shut closes the gate. Callers must hold mu.
func (f *Front) shut() {
	select {
	case <-f.gate:
		f.gate = make(chan struct{})
	default:
	}
	if f.now != nil {
		f.now.stop()
	}
}

// Drain waits until all requests have their answers, apart from streams, but no longer than d.
func (f *Front) Drain(ctx context.Context, d time.Duration) {
	f.mu.Lock()
	up := f.now
	f.mu.Unlock()
	if up == nil {
		return
	}
	select {
	case <-up.quiet():
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Switch has all requests go to the process that listens at an address.
func (f *Front) Switch(addr string) {
	f.open(newUpstream(addr), "")
}

// Fail has requests answered with a text that says why there is no agent.
func (f *Front) Fail(why string) { f.open(nil, why) }

func (f *Front) open(up *upstream, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shut()
	old := f.now
	f.now, f.down = up, why
	close(f.gate)
	if old != nil {
		old.plain.CloseIdleConnections()
		old.clear.CloseIdleConnections()
	}
}

// enter waits until requests may pass, and returns where to. The upstream is nil if there is none: why says it then.
func (f *Front) enter(ctx context.Context) (up *upstream, why string, err error) {
	for {
		f.mu.Lock()
		gate := f.gate
		f.mu.Unlock()
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
		f.mu.Lock()
		if f.gate != gate { // it was shut again
			f.mu.Unlock()
			continue
		}
		up, why = f.now, f.down
		if up != nil {
			up.begin()
		}
		f.mu.Unlock()
		return up, why, nil
	}
}

const (
	dialTime = 5 * time.Second
	idleTime = time.Minute
)

func newUpstream(addr string) *upstream {
	dialer := &net.Dialer{Timeout: dialTime}
	up := &upstream{
		url: &url.URL{Scheme: "http", Host: addr}, stopping: make(chan struct{}),
		plain: &http.Transport{DialContext: dialer.DialContext, DisableCompression: true, IdleConnTimeout: idleTime, MaxIdleConnsPerHost: 64},
		clear: &http.Transport{DialContext: dialer.DialContext, DisableCompression: true, IdleConnTimeout: idleTime, Protocols: new(http.Protocols)},
	}
	up.clear.Protocols.SetUnencryptedHTTP2(true)
	return up
}

// stop tells those who use the process that it is to end.
func (u *upstream) stop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.stops() {
		close(u.stopping)
	}
}

// stops reports whether the process is to end.
func (u *upstream) stops() bool {
	select {
	case <-u.stopping:
		return true
	default:
		return false
	}
}

func (u *upstream) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.running++
}

func (u *upstream) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running--; u.running == 0 && u.idle != nil {
		close(u.idle)
		u.idle = nil
	}
}

// quiet returns a channel that is closed when nothing runs.
func (u *upstream) quiet() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if u.idle == nil {
		u.idle = make(chan struct{})
	}
	return u.idle
}
