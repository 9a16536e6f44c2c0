package token

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime/wire"
)

// header is the protected header of a JWT.
type header struct{ alg, kid, typ string }

// mostKid is the size of the longest key id that is looked up, in bytes.
const mostKid = 256

// open splits a JWT and reads its header. It ignores what a header says of where keys are.
func (v *jwt) open(token string) (*header, []byte, error) {
	parts := strings.SplitN(token, ".", 4)
	if len(parts) != 3 {
		return nil, nil, errNoJWT
	}
	b64 := base64.RawURLEncoding.Strict()
	first, err := b64.DecodeString(parts[0])
	if err != nil {
		return nil, nil, errNoJWT
	}
	payload, err := b64.DecodeString(parts[1])
	if err != nil {
		return nil, nil, errNoJWT
	}
	h, err := wire.Decode(first, readHeader)
	switch {
	case err != nil:
		return nil, nil, errors.New("its header is not that of a signed JWT")
	case v.algs[h.alg] == nil:
		return nil, nil, errors.New("its algorithm is not taken")
	case h.kid == "" || len(h.kid) > mostKid:
		return nil, nil, errors.New("it names no key")
	case !slices.ContainsFunc(v.Types, h.is):
		return nil, nil, errors.New("it is of another type")
	}
	return h, payload, nil
}

// is compares types as media types: without case, and with or without "application/".
func (h *header) is(typ string) bool {
	const prefix = "application/"
	got := strings.ToLower(h.typ)
	return strings.TrimPrefix(got, prefix) == strings.TrimPrefix(strings.ToLower(typ), prefix)
}

func readHeader(r *wire.Reader, h *header) {
	var seen wire.Seen
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		bit, to := uint(0), &h.alg
		switch string(key) {
		case "alg":
		case "kid":
			bit, to = 1, &h.kid
		case "typ":
			bit, to = 2, &h.typ
		case "crit", "b64", "enc", "zip":
			r.Fail("not understood")
			return
		default:
			r.Unknown(key)
			continue
		}
		if r.Field(&seen, bit) {
			*to = r.String()
		}
	}
}
