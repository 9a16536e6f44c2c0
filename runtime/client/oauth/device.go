package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Limits of a login by device code.
const (
	longestDevice = 30 * time.Minute // even if the issuer allows more
	usualPause    = 5 * time.Second  // between two requests; also what slow_down adds (RFC 8628 §3.5)
	longestPause  = time.Minute
	mostCode      = 64 // bytes of a user code
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// byDevice has a person log in on any device, and asks the issuer until that is done (RFC 8628).
func (s *source) byDevice(ctx context.Context, t target) (entry, error) {
	e, err := s.endpoints(ctx)
	if err != nil {
		return entry{}, err
	}
	if e.device == "" {
		return entry{}, s.untrusted("its metadata have no device_authorization_endpoint: it has no logins by device code")
	}
	d, err := s.deviceCode(ctx, e, t)
	if err != nil {
		return entry{}, err
	}
	p, err := devicePrompt(d)
	if err != nil {
		return entry{}, s.untrusted("%v", err)
	}
	ctx, cancel := context.WithDeadline(ctx, p.Expires)
	defer cancel()
	if err := s.Prompt(ctx, p); err != nil {
		return entry{}, &Error{Server: s.server(), Kind: ErrLogin, Err: err}
	}
	pause := usualPause
	if d.Interval > 0 {
		pause = time.Duration(min(d.Interval, int64(longestPause/time.Second))) * time.Second
	}
	return s.poll(ctx, e, s.params(t, url.Values{"grant_type": {deviceGrant}, "device_code": {d.DeviceCode}}), pause)
}

// deviceCode requests the device code and the user code.
func (s *source) deviceCode(ctx context.Context, e *endpoints, t target) (*oauth2.DeviceAuthResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c := oauth2.Config{ClientID: s.ClientID, Endpoint: oauth2.Endpoint{DeviceAuthURL: e.device}, Scopes: strings.Fields(t.scopes)}
	var opts []oauth2.AuthCodeOption
	for name, values := range s.params(t, url.Values{}) {
		opts = append(opts, oauth2.SetAuthURLParam(name, values[0]))
	}
	client := *s.http
	switch {
	case s.Secret == "":
	case s.authStyle(e) == oauth2.AuthStyleInParams:
		opts = append(opts, oauth2.SetAuthURLParam("client_secret", s.Secret))
	default:
		client.Transport = basic{s.ClientID, s.Secret, client.Transport}
	}
	client.Transport = within{ctx, client.Transport}
	d, err := c.DeviceAuth(context.WithValue(ctx, oauth2.HTTPClient, &client), opts...)
	var syntax *oauth2.RetrieveError
	if err != nil && !errors.As(err, &syntax) && strings.HasPrefix(err.Error(), "unmarshal ") {
		return nil, s.untrusted("its answer cannot be read")
	}
	return d, s.failed(err, s.secrets(nil)...)
}

// basic authenticates the client, which the library leaves out of this request.
type basic struct {
	id, secret string
	http.RoundTripper
}

func (b basic) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.SetBasicAuth(url.QueryEscape(b.id), url.QueryEscape(b.secret))
	return b.RoundTripper.RoundTrip(req)
}

// within gives a request a context, which the library leaves out of this request.
type within struct {
	ctx context.Context
	http.RoundTripper
}

func (w within) RoundTrip(req *http.Request) (*http.Response, error) {
	return w.RoundTripper.RoundTrip(req.WithContext(w.ctx))
}

// devicePrompt returns what the person is shown. A code with control characters of a terminal is refused.
func devicePrompt(d *oauth2.DeviceAuthResponse) (p Prompt, err error) {
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	switch {
	case d.DeviceCode == "" || d.UserCode == "" || d.VerificationURI == "":
		return p, errors.New("its answer lacks device_code, user_code or verification_uri")
	case len(d.UserCode) > mostCode || strings.ContainsFunc(d.UserCode, odd):
		return p, errors.New("its user code has characters that are not shown, or is too long")
	}
	p = Prompt{Code: d.UserCode, Expires: time.Now().Add(longestDevice)}
	if !d.Expiry.IsZero() && d.Expiry.Before(p.Expires) {
		p.Expires = d.Expiry
	}
	if p.URL, err = shown(d.VerificationURI); err != nil {
		return p, err
	}
	if d.VerificationURIComplete != "" {
		p.Whole, err = shown(d.VerificationURIComplete)
	}
	return p, err
}

// poll asks until the person has logged in, or the code has expired.
func (s *source) poll(ctx context.Context, e *endpoints, params url.Values, pause time.Duration) (entry, error) {
	ended := errors.New("nobody has entered the code in time")
	for {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			err := context.Cause(ctx)
			if errors.Is(err, context.DeadlineExceeded) { // for what is known of the reason
				err = &Error{Server: s.server(), Kind: ErrLogin, Code: "expired_token", Err: ended, Remedy: remedies["expired_token"]}
			}
			return entry{}, err
		}
		got, err := s.grant(ctx, e, params)
		var failed *Error
		switch {
		case err == nil:
			return got, nil
		case !errors.As(err, &failed):
			return entry{}, err
		case failed.Code == "authorization_pending":
		case failed.Code == "slow_down":
			pause += usualPause
		case failed.Kind == ErrUnavailable:
			pause, ended = min(2*pause, max(pause, longestPause)), failed.Err
		default:
			return entry{}, err
		}
	}
}
