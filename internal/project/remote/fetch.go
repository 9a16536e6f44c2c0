// Package remote fetches the card of somebody else's agent, for `a2agen client`.
//
// The other side is not trusted: size, time and redirects are bounded, only http and https are spoken, no proxy of
// the environment is used, and private addresses, loopback included, are refused unless allowed. What comes back is
// data that nobody has looked at yet.
package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/a2agen/a2agen/spec"
)

// Limits of a fetch unless the options say otherwise.
const (
	MaxBytes     = 1 << 20
	Timeout      = 20 * time.Second
	maxRedirects = 3
	maxHeader    = 64 << 10 // bytes
)

// Places of a card below an agent's base URL; the second is that of protocols before 0.3 (A2A 1.0 §8.2).
var wellKnown = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// Options configures [Fetch] and [Get]. The zero value is the safe one.
type Options struct {
	AllowPrivate bool          // connect to private and local addresses too
	Timeout      time.Duration // of the whole fetch; 0 means [Timeout]
	MaxBytes     int64         // 0 means [MaxBytes]
}

// Info says where a card came from.
type Info struct {
	URL    string // after redirects; "" for a file
	File   string // "" for a URL
	ETag   string
	SHA256 string // of the bytes, in hex
}

// Fetch reads the card at target: an agent's base URL, below which the card is at /.well-known/agent-card.json; the
// URL of the card itself when its path ends in ".json"; or the path of a file. It checks that a fetched card is a
// JSON object, no more.
func Fetch(ctx context.Context, target string, o Options) ([]byte, Info, error) {
	o = o.filled()
	if !strings.Contains(target, "://") {
		return readFile(target, o.MaxBytes)
	}
	u, err := parse(target)
	if err != nil {
		return nil, Info{}, fmt.Errorf("the agent's URL: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	client := newHTTPClient(o)
	defer client.CloseIdleConnections()
	var first error
	for _, at := range places(u) {
		data, info, err := get(ctx, client, at, o)
		if err == nil {
			return data, info, nil
		}
		if first == nil {
			first = err
		}
		var status *StatusError
		if !errors.As(err, &status) || status.Status != http.StatusNotFound {
			break
		}
	}
	return nil, Info{}, first
}

// Get reads what is at an https URL, whatever it is. An http URL is read only where private addresses are allowed.
func Get(ctx context.Context, target string, o Options) ([]byte, Info, error) {
	o = o.filled()
	u, err := parse(target)
	if err != nil {
		return nil, Info{}, err
	}
	if u.Scheme != "https" && !o.AllowPrivate {
		return nil, Info{}, fmt.Errorf("fetch %s: only https is safe; allow http with --allow-private-network", u)
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	client := newHTTPClient(o)
	defer client.CloseIdleConnections()
	data, info, _, err := download(ctx, client, u.String(), http.Header{"Accept": {"*/*"}}, o)
	return data, info, err
}

// Client returns an HTTP client that connects only where the options allow it. The caller closes its idle connections.
func Client(o Options) *http.Client { return newHTTPClient(o.filled()) }

// filled returns the options with the defaults in place.
func (o Options) filled() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	if o.Timeout <= 0 {
		o.Timeout = Timeout
	}
	return o
}

// StatusError is an answer other than 200.
type StatusError struct {
	URL    string
	Status int
}

// Error renders URL and status.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("fetch %s: HTTP %d %s", e.URL, e.Status, http.StatusText(e.Status))
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		s += "; it is not public: save it to a file, and name the file instead"
	}
	return s
}

func readFile(path string, limit int64) ([]byte, Info, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(path, `/\`) {
		return nil, Info{}, fmt.Errorf("%w; for one on the network write https://%s", err, path)
	}
	if err != nil {
		return nil, Info{}, err
	}
	defer f.Close()
	data, err := readAll(f, limit)
	if err != nil {
		return nil, Info{}, fmt.Errorf("read %s: %w", path, err)
	}
	return data, Info{File: path, SHA256: digest(data)}, nil
}

// parse checks a URL given by the user.
func parse(target string) (*url.URL, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	if err := checkScheme(u); err != nil {
		return nil, err
	}
	switch {
	case u.Hostname() == "":
		return nil, fmt.Errorf("the URL %q names no host", target)
	case u.User != nil:
		return nil, fmt.Errorf("the URL %s holds credentials, which would end up in files; leave them out",
			u.Redacted())
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func checkScheme(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not an http or https URL", u.Redacted())
	}
	return nil
}

// places lists where the card may be.
func places(u *url.URL) []string {
	if strings.HasSuffix(u.Path, ".json") {
		return []string{u.String()}
	}
	var list []string
	for _, p := range wellKnown {
		at := *u
		at.Path, at.RawPath = strings.TrimRight(u.Path, "/")+p, ""
		list = append(list, at.String())
	}
	return list
}

// newHTTPClient makes a client that follows few redirects and connects only where it may.
func newHTTPClient(o Options) *http.Client {
	dialer := &net.Dialer{Timeout: o.Timeout}
	if !o.AllowPrivate {
		dialer.Control = refusePrivate
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would connect for us, past the check
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
				return fmt.Errorf("a redirect leads from https to %s", req.URL.Redacted())
			}
			return checkScheme(req.URL)
		},
	}
}

// get fetches the card at one URL.
func get(ctx context.Context, client *http.Client, at string, o Options) ([]byte, Info, error) {
	// Some agents vary the card on the version.
	data, info, contentType, err := download(ctx, client, at,
		http.Header{"Accept": {"application/json"}, "A2a-Version": {spec.Default}}, o)
	if err != nil {
		return nil, Info{}, err
	}
	if trimmed := strings.TrimLeft(string(data), " \t\r\n"); !strings.HasPrefix(trimmed, "{") || !json.Valid(data) {
		return nil, Info{}, fmt.Errorf("fetch %s: the answer is no JSON object (content type %q); is this an agent?", at, contentType)
	}
	return data, info, nil
}

// download fetches one URL.
func download(ctx context.Context, client *http.Client, at string, header http.Header, o Options) (data []byte, info Info, contentType string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, Info{}, "", err
	}
	req.Header = header
	req.Header.Set("User-Agent", "a2agen")
	resp, err := client.Do(req)
	if err != nil {
		return nil, Info{}, "", explain(ctx, at, o, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, Info{}, "", &StatusError{URL: at, Status: resp.StatusCode}
	}
	if data, err = readAll(resp.Body, o.MaxBytes); err != nil {
		return nil, Info{}, "", explain(ctx, at, o, err)
	}
	return data, Info{URL: resp.Request.URL.String(), ETag: resp.Header.Get("ETag"),
		SHA256: digest(data)}, resp.Header.Get("Content-Type"), nil
}

// explain shortens the errors of net/http to what a user can act on.
func explain(ctx context.Context, at string, o Options, err error) error {
	var private *PrivateAddressError
	var wrapped *url.Error
	switch {
	case errors.As(err, &private):
		err = private
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("no complete answer within %v: %w", o.Timeout, ctx.Err())
	case errors.As(err, &wrapped):
		err = wrapped.Err
	}
	return fmt.Errorf("fetch %s: %w", at, err)
}

// readAll reads at most limit bytes.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("the content is over %d bytes", limit)
	}
	return data, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
