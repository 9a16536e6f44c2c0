package signedcard

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
)

// signature is a signature of a card that is well formed (A2A 1.0 §8.4.2).
type signature struct {
	protected, signature string // base64url
	alg, kid, jku        string // of the protected header
}

// signaturesOf returns the signatures of a card as they came.
func signaturesOf(root object) (list, error) {
	switch in := root[signaturesMember].(type) {
	case nil:
		return nil, ErrUnsigned
	case list:
		if len(in) == 0 {
			return nil, ErrUnsigned
		}
		return in, nil
	}
	return nil, invalid(errors.New("its signatures are not a list"))
}

// forbidden are the members of a header that are refused: what changes how a signature is to be read, and keys that
// come with the card.
var forbidden = []string{"crit", "b64", "jwk", "x5c", "x5u"}

// readSignature reads a signature. It is strict, because readers that differ could be told different things.
func readSignature(v any) (*signature, error) {
	in, ok := v.(object)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	s := &signature{}
	s.protected, _ = in["protected"].(string)
	s.signature, _ = in["signature"].(string)
	protected, err := decode(s.protected)
	if err != nil || len(protected) == 0 || len(protected) > maxProtected {
		return nil, errors.New("its protected header is not unpadded base64url")
	}
	if _, err := decode(s.signature); err != nil {
		return nil, errors.New("its signature is not unpadded base64url")
	}
	header, err := parseObject(protected)
	if err != nil {
		return nil, fmt.Errorf("its protected header: %w", err)
	}
	beside, err := unprotected(in, header)
	if err != nil {
		return nil, err
	}
	for _, name := range forbidden {
		if header[name] != nil || beside[name] != nil {
			return nil, fmt.Errorf("its header has %q, which is not followed", name)
		}
	}
	return s, s.read(header)
}

// unprotected is the header that is not signed, of which nothing is used. It has no name that the protected one has
// (RFC 7515 §7.2.1).
func unprotected(in, protected object) (object, error) {
	if in["header"] == nil {
		return nil, nil
	}
	header, ok := in["header"].(object)
	if !ok {
		return nil, errors.New("its header is not an object")
	}
	for name := range header {
		if _, twice := protected[name]; twice {
			return nil, fmt.Errorf("its two headers both have %.40q", name)
		}
	}
	return header, nil
}

// read takes what is used of the protected header.
func (s *signature) read(header object) error {
	for name, to := range map[string]*string{"alg": &s.alg, "kid": &s.kid, "jku": &s.jku} {
		v, there := header[name]
		if *to, _ = v.(string); there && *to == "" {
			return fmt.Errorf("%s of its protected header is no text", name)
		}
	}
	switch {
	case s.alg == "":
		return errors.New("its protected header names no algorithm")
	case s.kid == "":
		return errors.New("its protected header names no key")
	case !slices.Contains(Algorithms(), s.alg):
		return fmt.Errorf("its algorithm %.40q is not taken", s.alg)
	}
	return nil
}

var base64url = base64.RawURLEncoding.Strict()

// decode decodes base64url in the one spelling that RFC 7515 has: no padding, no line breaks, no spare bits.
func decode(s string) ([]byte, error) {
	b, err := base64url.DecodeString(s)
	if err == nil && base64url.EncodeToString(b) != s {
		err = errors.New("not base64url")
	}
	return b, err
}
