package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/internal/keyset"
)

// mostKeys is the largest number of keys of an issuer.
const mostKeys = 64

// key is a public key of an issuer.
type key struct {
	public any
	alg    string // the only algorithm that it is for; "": any that fits
}

// issuer is an issuer of tokens.
type issuer struct {
	name  string
	about string // where it describes itself; "": where OpenID Connect or RFC 8414 would have it
	keys  string // where its keys are; "": where it says
	http  *http.Client
}

// description is an issuer's metadata (RFC 8414).
type description struct {
	Issuer        string `json:"issuer"`
	Keys          string `json:"jwks_uri"`
	Introspection string `json:"introspection_endpoint"`
}

// describe fetches the metadata of the issuer, which must name the same issuer.
func (i *issuer) describe(ctx context.Context) (d description, err error) {
	places := []string{i.about}
	if i.about == "" {
		u, err := url.Parse(i.name)
		if err != nil {
			return d, err
		}
		places = []string{
			strings.TrimSuffix(i.name, "/") + openIDPath,
			u.Scheme + "://" + u.Host + oauthPath + strings.TrimSuffix(u.EscapedPath(), "/"),
		}
	}
	var body []byte
	for _, at := range places {
		body, err = keyset.Get(ctx, i.http, at, "application/json")
		if status := keyset.Status(0); !errors.As(err, &status) || status != http.StatusNotFound {
			break
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &d)
	}
	switch {
	case err != nil:
		return d, fmt.Errorf("the issuer %s does not describe itself: %w", i.name, err)
	case d.Issuer != i.name:
		return d, fmt.Errorf("what should describe the issuer %s is of %q", i.name, d.Issuer)
	}
	return d, nil
}

// fetchKeys fetches the issuer's keys.
func (i *issuer) fetchKeys(ctx context.Context) (map[string]*key, error) {
	at := i.keys
	if at == "" {
		d, err := i.describe(ctx)
		if err != nil {
			return nil, err
		}
		if at = d.Keys; at == "" {
			return nil, fmt.Errorf("the issuer %s does not say where its keys are", i.name)
		}
		if err := keyset.CheckURL(at, false); err != nil {
			return nil, fmt.Errorf("the keys of the issuer %s: %w", i.name, err)
		}
	}
	body, err := keyset.Get(ctx, i.http, at, "application/jwk-set+json, application/json")
	if err != nil {
		return nil, fmt.Errorf("the keys of the issuer %s: %w", i.name, err)
	}
	return readKeys(body)
}

// readKeys returns the public keys of a set that verify signatures. Of two with one id it returns neither.
func readKeys(body []byte) (map[string]*key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
	}
	if len(set.Keys) > mostKeys {
		return nil, fmt.Errorf("the issuer has more than %d keys", mostKeys)
	}
	keys, twice := map[string]*key{}, map[string]bool{}
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if json.Unmarshal(raw, &k) != nil || k.KeyID == "" || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue // it is for something else
		}
		twice[k.KeyID] = keys[k.KeyID] != nil || twice[k.KeyID]
		keys[k.KeyID] = &key{k.Key, k.Algorithm}
	}
	for id, is := range twice {
		if is {
			delete(keys, id)
		}
	}
	return keys, nil
}
