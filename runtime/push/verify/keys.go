package verify

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/internal/keyset"
	"github.com/a2agen/a2agen/runtime/push"
)

// mostKeys that an agent may publish.
const mostKeys = 64

// source is where an agent publishes its keys.
type source struct {
	url   string
	plain bool // http is allowed
	http  *http.Client
}

// prepare checks the URL.
func (s *source) prepare() error {
	s.http = keyset.NoRedirects(s.http)
	if err := keyset.CheckURL(s.url, s.plain); err != nil {
		return fmt.Errorf("the URL of the agent's keys: %w", err)
	}
	return nil
}

// fetch asks the agent for its keys.
func (s *source) fetch(ctx context.Context) (map[string]*ecdsa.PublicKey, error) {
	body, err := keyset.Get(ctx, s.http, s.url, "application/jwk-set+json, application/json")
	if err != nil {
		return nil, fmt.Errorf("the agent's keys: %w", err)
	}
	return readKeys(body)
}

// key returns the key of an id. An error is a [*push.Unavailable] as long as the agent might have it.
func (v *Verifier) key(ctx context.Context, kid string) (*ecdsa.PublicKey, error) {
	key, err := v.keys.Key(ctx, kid)
	if u, ok := errors.AsType[*keyset.Unavailable](err); ok {
		return nil, &push.Unavailable{After: u.After, Err: u.Err}
	}
	return key, err
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
