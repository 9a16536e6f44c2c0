package verify

import (
	"encoding/base64"
	"errors"
	"strings"

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

var claimFields = wire.Fields[*claims]{
	{Name: "iss", Required: true, Read: func(r *wire.Reader, c *claims) { c.issuer = r.String() }},
	{Name: "aud", Required: true, Read: func(r *wire.Reader, c *claims) { c.audience = audienceOf(r) }},
	{Name: "iat", Required: true, Read: func(r *wire.Reader, c *claims) { c.issued = r.Integer() }},
	{Name: "exp", Required: true, Read: func(r *wire.Reader, c *claims) { c.expires = r.Integer() }},
	{Name: "jti", Required: true, Read: func(r *wire.Reader, c *claims) { c.id = r.String() }},
	{Name: "taskId", Required: true, Read: func(r *wire.Reader, c *claims) { c.task = r.String() }},
	{Name: "sequence", Required: true, Read: func(r *wire.Reader, c *claims) { c.sequence = r.String() }},
	{Name: "config", Required: true, Read: func(r *wire.Reader, c *claims) { c.config = r.String() }},
	{Name: "request_body_sha256", Required: true, Read: func(r *wire.Reader, c *claims) { c.digest = r.String() }},
}

// readClaims reads the payload of a token strictly: no name twice, numbers as numbers.
func readClaims(payload []byte) (*claims, error) {
	return wire.Decode(payload, func(r *wire.Reader, c *claims) { claimFields.Read(r, c) })
}
