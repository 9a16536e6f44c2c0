package verify

import (
	"encoding/base64"
	"errors"
	"strings"
	"unsafe"

	"github.com/a2agen/a2agen/runtime/wire"
)

// header is the protected header of a JWT.
type header struct{ alg, kid, typ string }

// readHeader returns the id of the key that a token names. Headers that say more, such as where to find a key, are
// refused: nothing of a token is to be followed.
func readHeader(token string) (kid string, err error) {
	first, _, ok := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if !ok || err != nil {
		return "", errors.New("it is no JWT")
	}
	h, err := wire.Decode(raw, readProtected)
	switch {
	case err != nil:
		return "", errors.New("its header is not that of a JWT with a key's id")
	case h.alg != "ES256" || h.typ != "" && h.typ != "JWT":
		return "", errors.New("it is no JWT with ES256")
	case h.kid == "":
		return "", errors.New("it names no key")
	}
	return h.kid, nil
}

func readProtected(r *wire.Reader, h *header) {
	var seen wire.Seen
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		bit, to := uint(0), &h.alg
		switch string(key) {
		case "alg":
		case "kid":
			bit, to = 1, &h.kid
		case "typ":
			bit, to = 2, &h.typ
		default:
			r.Fail("not known")
			return
		}
		if r.Field(&seen, bit) {
			*to = r.String()
		}
	}
}

// claims are what a token says.
type claims struct {
	issuer, audience, digest   string
	id, task, config, sequence string
	issued, expires            int64 // seconds
}

// audienceOf reads an audience: one text, or a list of one.
func audienceOf(r *wire.Reader) string {
	if r.Kind() != wire.KindArray {
		return r.String()
	}
	list := r.Strings()
	if len(list) != 1 {
		r.Fail("more than one audience, or none")
		return ""
	}
	return list[0]
}

// strictly are numbers that are no strings.
var strictly = wire.Hook[int64]{Read: (*wire.Reader).Integer}

var claimCodec = wire.Codec[claims]{Fields: []wire.Field{
	{Name: "iss", At: unsafe.Offsetof(claims{}.issuer), Flags: wire.Required},
	{Name: "aud", At: unsafe.Offsetof(claims{}.audience), Flags: wire.Required, Type: wire.TypeHook, Hook: &wire.Hook[string]{Read: audienceOf}},
	{Name: "iat", At: unsafe.Offsetof(claims{}.issued), Flags: wire.Required, Type: wire.TypeHook, Hook: &strictly},
	{Name: "exp", At: unsafe.Offsetof(claims{}.expires), Flags: wire.Required, Type: wire.TypeHook, Hook: &strictly},
	{Name: "jti", At: unsafe.Offsetof(claims{}.id), Flags: wire.Required},
	{Name: "taskId", At: unsafe.Offsetof(claims{}.task), Flags: wire.Required},
	{Name: "sequence", At: unsafe.Offsetof(claims{}.sequence), Flags: wire.Required},
	{Name: "config", At: unsafe.Offsetof(claims{}.config), Flags: wire.Required},
	{Name: "request_body_sha256", At: unsafe.Offsetof(claims{}.digest), Flags: wire.Required},
}}

// readClaims reads the payload of a token strictly: no name twice, numbers as numbers.
func readClaims(payload []byte) (*claims, error) { return wire.Decode(payload, claimCodec.Read) }
