package signedcard

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	_ "crypto/sha512" // of the larger curves
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Sign returns the card with a signature of the key over its presence form, and a second one over its clean form
// where that differs: the one is the specification's, the other is what its SDKs verify. Signatures of other keys
// stay; those of this key are replaced. Otherwise the card is as it was. It refuses a card without addresses that
// callers can use.
func (k *Key) Sign(card []byte) ([]byte, error) {
	root, err := parseCard(card)
	if err != nil {
		return nil, err
	}
	if err := checkAddresses(root); err != nil {
		return nil, err
	}
	signatures, err := k.others(root)
	if err != nil {
		return nil, err
	}
	var last []byte
	for _, form := range []Form{Presence, Clean} {
		signed, err := payload(root, form)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(signed, last) {
			continue
		}
		one, err := k.sign(signed)
		if err != nil {
			return nil, err
		}
		signatures, last = append(signatures, one), signed
	}
	if len(signatures) > maxSignatures {
		return nil, fmt.Errorf("the card would have %d signatures, and at most %d are tried: take out those of old "+
			"keys", len(signatures), maxSignatures)
	}
	out, err := wire.ParseObject(card)
	if err != nil {
		return nil, err
	}
	err = out.Set(signaturesMember, wire.Value(appendCanonical(nil, signatures)))
	return out, err
}

// sign makes a signature of bytes (A2A 1.0 §8.4.2).
func (k *Key) sign(signed []byte) (object, error) {
	key := jose.SigningKey{Algorithm: jose.SignatureAlgorithm(k.Algorithm())}
	key.Key = jose.JSONWebKey{Key: k.jwk.Key, KeyID: k.ID()}
	if _, ok := k.jwk.Key.(*ecdsa.PrivateKey); ok {
		key.Key = repeatable{k}
	}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JOSE"))
	if err != nil {
		return nil, fmt.Errorf("sign the card: %w", err)
	}
	jws, err := signer.Sign(signed)
	if err != nil {
		return nil, fmt.Errorf("sign the card: %w", err)
	}
	compact, err := jws.DetachedCompactSerialize()
	if err != nil {
		return nil, fmt.Errorf("sign the card: %w", err)
	}
	protected, signature, _ := strings.Cut(compact, "..")
	return object{"protected": protected, "signature": signature}, nil
}

// repeatable signs with an ECDSA key so that equal cards have equal signatures (RFC 6979): those of every replica,
// after every start.
type repeatable struct{ *Key }

// Public returns the key by which signatures are named.
func (r repeatable) Public() *jose.JSONWebKey {
	public := r.jwk.Public()
	return &public
}

// Algs returns the one algorithm of the key.
func (r repeatable) Algs() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.SignatureAlgorithm(r.Algorithm())}
}

// SignPayload returns r and s of a signature, in as many bytes as the curve has (RFC 7518 §3.4).
func (r repeatable) SignPayload(payload []byte, _ jose.SignatureAlgorithm) ([]byte, error) {
	key, _ := r.jwk.Key.(*ecdsa.PrivateKey)
	hash := map[int]crypto.Hash{256: crypto.SHA256, 384: crypto.SHA384, 521: crypto.SHA512}[key.Curve.Params().BitSize]
	digest := hash.New()
	digest.Write(payload)
	der, err := key.Sign(nil, digest.Sum(nil), hash)
	if err != nil {
		return nil, err
	}
	var signature struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &signature); err != nil {
		return nil, err
	}
	size := (key.Curve.Params().BitSize + 7) / 8
	out := make([]byte, 2*size)
	signature.R.FillBytes(out[:size])
	signature.S.FillBytes(out[size:])
	return out, nil
}

// others are the signatures that the card has of other keys.
func (k *Key) others(root object) (list, error) {
	given, err := signaturesOf(root)
	if errors.Is(err, ErrUnsigned) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rest list
	for i, raw := range given {
		s, err := readSignature(raw)
		if err != nil {
			return nil, fmt.Errorf("signature %d of the card: %w: take it out first", i+1, err)
		}
		if s.kid != k.ID() {
			rest = append(rest, raw)
		}
	}
	return rest, nil
}

// checkAddresses refuses a card that does not say where the agent is: a signature would vouch for nothing, or for
// what a server fills in.
func checkAddresses(root object) error {
	v, err := root.get("supportedInterfaces", "")
	if err != nil {
		return invalid(err)
	}
	interfaces, ok := v.(list)
	if !ok || len(interfaces) == 0 {
		return invalid(errors.New("it has no supportedInterfaces, which cards of A2A 1.0 have: those of older " +
			"versions cannot be signed"))
	}
	for i, one := range interfaces {
		o, _ := one.(object)
		address, _ := o["url"].(string)
		if !absolute(address) {
			return invalid(fmt.Errorf("/supportedInterfaces/%d/url %.200q is no address that callers can use: "+
				"write the public one in full", i, address))
		}
	}
	return nil
}

// absolute reports whether an address names a host: https://host/path, or host:port as gRPC has it.
func absolute(address string) bool {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		return err == nil && u.Host != ""
	}
	host, _, ok := strings.Cut(address, ":")
	return ok && host != "" && !strings.Contains(host, "/")
}
