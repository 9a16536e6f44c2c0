package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// fault is what the error of a request says about the request.
type fault uint8

const (
	faultFinal   fault = iota // the agent decided, or the request could not be made
	faultUnsent               // not a byte of it was sent
	faultRefused              // the agent takes on no request for now
	faultBusy                 // the agent cannot go on for now, and may have taken it on
	faultLost                 // there is no answer: whether it was carried out is unknown
)

// passes reports whether the same request may succeed later.
func (f fault) passes() bool { return f != faultFinal }

// faultOf classifies the error of a request that was made under ctx.
func faultOf(ctx context.Context, err error) fault {
	var status interface{ TryLater() bool }
	var agent *runtime.Error
	var stream *StreamError
	switch named := errors.As(err, &agent); {
	case errors.As(err, &stream):
		return faultLost
	case unsent(err):
		return faultUnsent
	case errors.As(err, &status) && !status.TryLater():
		return faultFinal
	case status != nil && refusedForNow(err):
		return faultRefused
	case named && (status != nil || agent.Reason == observe.ReasonBusy):
		return faultBusy
	case named && !errors.Is(err, io.ErrUnexpectedEOF):
		return faultFinal
	case status != nil, ctx.Err() != nil, broke(err):
		return faultLost
	}
	return faultFinal
}

// refusedForNow reports whether an answer says that there were too many requests, so that this one was not carried out.
func refusedForNow(err error) bool {
	var status *HTTPError
	return errors.As(err, &status) && status.Status == http.StatusTooManyRequests
}

// broke reports whether err is of a connection that ended before the answer did. Certificates that do not fit and
// redirects that are not followed are no such.
func broke(err error) bool {
	var link *LinkError
	var at *url.Error
	var redirect *redirectError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var spent *overtime
	switch {
	case errors.As(err, &link), errors.As(err, &spent), errors.Is(err, ErrIdle), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	case errors.As(err, &redirect), errors.As(err, &certificate), errors.As(err, &record):
		return false
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"): // alerts of TLS
		return false
	}
	return errors.As(err, &at)
}

// pauseWished is how long the agent wishes to be left alone before the next attempt; 0 without a wish.
func pauseWished(err error) time.Duration {
	var says interface{ TryAfter() time.Duration }
	if errors.As(err, &says) {
		return says.TryAfter()
	}
	return 0
}
