package verify

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/push"
)

// Limits of what an agent may publish, and of what is remembered.
const (
	mostKeys    = 64
	mostBytes   = 256 << 10
	mostUnknown = 1024
	fetchTime   = 5 * time.Second
)

// keySet has the keys that an agent publishes. All who need a key that it does not have wait for the same request, of
// which there is at most one an interval. When the agent cannot be reached, the keys it last had go on being good.
type keySet struct {
	url              string
	plain            bool // http is allowed
	http             *http.Client
	interval, maxAge time.Duration

	mu      sync.Mutex
	keys    map[string]*ecdsa.PublicKey // by id
	fetched time.Time                   // when keys were last had
	tried   time.Time                   // when they were last asked for
	failure error                       // of the last try
	unknown map[string]bool             // ids that the agent did not have when keys were last had
	pending chan struct{}               // closed when the request on its way is over; nil: there is none
}

// prepare checks the URL and makes a client that follows no redirects.
func (k *keySet) prepare() error {
	u, err := url.Parse(k.url)
	switch {
	case err != nil:
		return fmt.Errorf("the URL of the agent's keys: %w", err)
	case u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("the agent's keys are not at an https URL: %s", u.Redacted())
	case u.Scheme == "http" && !k.plain && !loopback(u.Hostname()):
		return fmt.Errorf("the agent's keys would come by http from another host (%s): use https, or AllowHTTP", u.Host)
	}
	client := http.Client{}
	if k.http != nil {
		client = *k.http
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	k.http = &client
	return nil
}

// loopback reports whether a host is this one.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// errUnknownKey: the agent does not have the key.
var errUnknownKey = errors.New("it was made with a key that the agent does not have")

// key returns the key of an id. An error is a [*push.Unavailable] as long as the agent might have it.
func (k *keySet) key(ctx context.Context, kid string) (*ecdsa.PublicKey, error) {
	asked := false
	for {
		k.mu.Lock()
		key, err := k.look(kid, asked)
		if key != nil || err != nil {
			k.mu.Unlock()
			return key, err
		}
		if k.pending == nil {
			k.pending = make(chan struct{})
			k.tried = time.Now()
			go k.refresh(k.pending)
		}
		pending := k.pending
		k.mu.Unlock()
		select {
		case <-pending:
			asked = true
		case <-ctx.Done():
			return nil, &push.Unavailable{After: time.Second, Err: context.Cause(ctx)}
		}
	}
}

// look decides with what there is. Neither key nor error: the keys have to be asked for. asked says that they just
// were. The caller holds mu.
func (k *keySet) look(kid string, asked bool) (*ecdsa.PublicKey, error) {
	key, age := k.keys[kid], time.Since(k.fetched)
	had := !k.fetched.IsZero()
	wait := k.interval - time.Since(k.tried)
	switch {
	case key != nil && age < k.maxAge:
		return key, nil
	case key == nil && had && age < k.maxAge && k.unknown[kid]:
		return nil, errUnknownKey
	case k.pending != nil && !asked:
		return nil, nil
	case wait <= 0 && !asked:
		return nil, nil
	case key != nil && age < keepKeys:
		return key, nil
	case asked && k.failure == nil: // the answer is new enough to say so
		if len(k.unknown) < mostUnknown {
			k.unknown[kid] = true
		}
		return nil, errUnknownKey
	case k.failure != nil:
		return nil, &push.Unavailable{After: wait, Err: k.failure}
	}
	return nil, &push.Unavailable{After: wait, Err: errUnknownKey}
}

// refresh asks for the keys. It does so for all who wait, so that none of them can end it.
func (k *keySet) refresh(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTime)
	defer cancel()
	keys, err := k.fetch(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failure = err; err == nil {
		k.keys, k.fetched, k.unknown = keys, time.Now(), map[string]bool{}
	}
	k.pending = nil
	close(done)
}

func (k *keySet) fetch(ctx context.Context) (map[string]*ecdsa.PublicKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := k.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch the agent's keys: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the agent's keys from %s: HTTP %d", k.url, resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("fetch the agent's keys: %w", err)
	case len(body) > mostBytes:
		return nil, fmt.Errorf("the agent's keys are more than %d bytes", mostBytes)
	}
	return readKeys(body)
}

// readKeys returns the keys of a set that can sign with ES256. Others are for others.
func readKeys(body []byte) (map[string]*ecdsa.PublicKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("read the agent's keys: %w", err)
	}
	if len(set.Keys) > mostKeys {
		return nil, fmt.Errorf("the agent has more than %d keys", mostKeys)
	}
	keys := map[string]*ecdsa.PublicKey{}
	for _, raw := range set.Keys {
		var jwk jose.JSONWebKey
		if json.Unmarshal(raw, &jwk) != nil {
			continue
		}
		key, ok := jwk.Key.(*ecdsa.PublicKey)
		forUs := (jwk.Use == "" || jwk.Use == "sig") && (jwk.Algorithm == "" || jwk.Algorithm == string(jose.ES256))
		if !ok || key.Curve != elliptic.P256() || !forUs || jwk.KeyID == "" {
			continue
		}
		if _, twice := keys[jwk.KeyID]; twice {
			return nil, errors.New("the agent has two keys of one id")
		}
		keys[jwk.KeyID] = key
	}
	return keys, nil
}
