package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Limits of a request.
const (
	patience    = 15 * time.Second // from the first packet to the answer (R85)
	dialTimeout = 10 * time.Second
	idle        = 30 * time.Second
	maxHeader   = 16 << 10
	maxAnswer   = 4 << 10 // that is read for the sake of the connection
)

// signer returns the JWT for a notification.
type signer func(n *runtime.Notification) (jwt string, err error)

// sender sends notifications.
type sender struct {
	targets targets
	sign    signer
	plain   *http.Transport
	secure  *http.Transport
	timeout time.Duration
}

// newSender makes a sender. sign is nil for an agent that signs nothing.
func newSender(allowed targets, sign signer) *sender {
	s := &sender{targets: allowed, sign: sign, timeout: patience}
	s.plain, s.secure = s.transport(false), s.transport(true)
	return s
}

// transport makes the connections of one scheme. It ignores the environment's proxy, which would look up names itself,
// and follows no redirects.
func (s *sender) transport(secure bool) *http.Transport {
	return &http.Transport{
		DialContext:     s.dialer(secure).DialContext,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: idle, MaxIdleConns: 256, MaxIdleConnsPerHost: 4,
		MaxResponseHeaderBytes: maxHeader, DisableCompression: true,
	}
}

// dialer makes a dialer that checks every address before it connects.
func (s *sender) dialer(secure bool) *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		return s.checkDialled(address, secure)
	}}
}

// checkDialled refuses an address that is about to be dialled. Every address that a name was looked up to comes here.
func (s *sender) checkDialled(address string, secure bool) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if problem := s.targets.refusal(to.Addr().Unmap(), to.Port(), secure); problem != "" {
		return fmt.Errorf("%s %s", to, problem)
	}
	return nil
}

// Close closes what is kept open for the next notification.
func (s *sender) Close() {
	s.plain.CloseIdleConnections()
	s.secure.CloseIdleConnections()
}

// Push sends a notification, once. Only 2xx means that the receiver has it (R80).
func (s *sender) Push(ctx context.Context, n *runtime.Notification) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, err := s.request(ctx, n)
	if err != nil {
		return &runtime.PushFailure{Reason: err.Error(), Answered: true}
	}
	transport := s.plain
	if r.URL.Scheme == "https" {
		transport = s.secure
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		if ctx.Err() == context.DeadlineExceeded {
			err = fmt.Errorf("no answer within %v", s.timeout)
		}
		return &runtime.PushFailure{Reason: err.Error()}
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode/100 == 2 {
		return nil
	}
	return &runtime.PushFailure{
		Reason: "the receiver answered " + strconv.Itoa(resp.StatusCode), Answered: true,
		After: retryAfter(resp.Header.Get("Retry-After"), time.Now()), Gone: resp.StatusCode == http.StatusGone,
	}
}

// request makes the request of a notification.
func (s *sender) request(ctx context.Context, n *runtime.Notification) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.Config.URL, bytes.NewReader(n.Body))
	if err != nil {
		return nil, err
	}
	signature := ""
	if s.sign != nil {
		if signature, err = s.sign(n); err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
		r.Header.Set(runtime.PushSignatureHeader, signature)
	}
	authorize(r.Header, &n.Config, signature)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "a2agen", "A2A-Version": n.Version,
		runtime.PushIDHeader: n.ID, runtime.PushSequenceHeader: n.Sequence,
		runtime.PushTaskHeader: url.PathEscape(n.TaskID), runtime.PushConfigHeader: url.PathEscape(n.Config.ID),
	} {
		r.Header.Set(name, value)
	}
	if n.TraceParent != "" {
		r.Header.Set("Traceparent", n.TraceParent)
	}
	if n.TraceState != "" {
		r.Header.Set("Tracestate", n.TraceState)
	}
	return r, nil
}

// retryAfter reads a Retry-After header: seconds, or a time.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
