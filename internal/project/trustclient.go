package project

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/signedcard"
	"github.com/a2agen/a2agen/runtime/wire"
)

// TrustOptions say by which keys the card of a new client is verified: it is not if there are neither Keys nor URLs.
// For a client that exists, a2agen.yaml says it.
type TrustOptions struct {
	Keys   string // file with a JSON Web Key Set, inside the project
	URLs   []string
	Strict bool
	Older  bool // take over a card of an older version than the one that is pinned
}

// seenCard is a card that was fetched for a client.
type seenCard struct {
	card     []byte                // to keep; of a verified one, what the signature covers, with the signatures
	imported *card.Card            // what it says
	verified *runtime.VerifiedCard // nil: nothing was to be verified
	notes    diag.List             // what is otherwise than it was pinned
}

// remember puts into the pins how the card of a client was verified.
func (s *seenCard) remember(pins map[string]output.ClientPin, name string) {
	pin, ok := pins[name]
	if !ok || s.verified == nil {
		return
	}
	pin.Key, pin.Form = s.verified.Thumbprint, s.verified.Form
	pins[name] = pin
}

// trustCard verifies a card that was fetched for a client, if that is asked for, and compares it with the one that is
// pinned. For a new client it adds to c what the command says of keys.
func (p *project) trustCard(ctx context.Context, o ClientOptions, c *config.Client, known bool, src []byte, imported *card.Card) (*seenCard, error) {
	if err := p.addKeys(o.Trust, c, known); err != nil {
		return nil, err
	}
	return p.see(ctx, *c, o.AllowPrivate, o.Trust.Older, src, imported)
}

// see is trustCard for a client whose keys are known.
func (p *project) see(ctx context.Context, c config.Client, allowPrivate, older bool, src []byte, imported *card.Card) (*seenCard, error) {
	seen := &seenCard{card: src, imported: imported}
	if c.Verify != nil {
		var err error
		if seen.verified, err = p.verifyFor(ctx, *c.Verify, allowPrivate, src); err != nil {
			return nil, fmt.Errorf("client %q: %w", c.Name, err)
		}
		if seen.card, err = keptCard(src, seen.verified); err != nil {
			return nil, err
		}
		var list diag.List
		if seen.imported, list = card.Import(config.KeptCard, seen.card); seen.imported == nil || list.HasErrors() {
			return nil, &InvalidError{list}
		}
	}
	old, pinned := p.Lock().Clients[c.Name]
	if !pinned {
		return seen, nil
	}
	return seen, seen.compare(c, old, seen.imported.Version, older)
}

// addKeys puts what the command says of keys into a new client.
func (p *project) addKeys(o TrustOptions, c *config.Client, known bool) error {
	if o.Keys == "" && len(o.URLs) == 0 {
		if o.Strict && c.Verify == nil {
			return badArgument("--strict says how a card is verified: name keys by --jwks")
		}
		return nil
	}
	v := &config.Verify{URLs: o.URLs, Strict: o.Strict}
	if o.Keys != "" {
		if v.Keys = p.inside(o.Keys); v.Keys == "" {
			return badArgument("--jwks %s is outside the project: copy it in, because the client embeds it", o.Keys)
		}
	}
	if known && !sameKeys(c.Verify, v) {
		return badArgument("client %q is verified otherwise by %s: write \"verify: %s\" "+
			"there", c.Name, c.Pos, verifyEntry(v))
	}
	c.Verify = v
	return nil
}

// sameKeys reports whether two entries say the same.
func sameKeys(a, b *config.Verify) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Keys == b.Keys && slices.Equal(a.URLs, b.URLs) && a.Strict == b.Strict
}

// verifyFor verifies a card with the keys of a client.
func (p *project) verifyFor(ctx context.Context, v config.Verify, allowPrivate bool, src []byte) (*runtime.VerifiedCard, error) {
	c := signedcard.Config{URLs: v.URLs, Strict: v.Strict, HTTP: remote.Client(remote.Options{AllowPrivate: allowPrivate})}
	defer c.HTTP.CloseIdleConnections()
	if v.Keys != "" {
		var err error
		if c.Keys, err = p.ReadFile(v.Keys); err != nil {
			return nil, fmt.Errorf("read the keys: %w", err)
		}
	}
	verifier, err := signedcard.NewVerifier(c)
	if err != nil {
		return nil, err
	}
	return trusted(verifier.Verify(ctx, src))
}

// keptCard is what is kept of a verified card: nothing that the signature does not cover, but the signatures, by
// which clients verify it again. A card in raw form is kept as it came, because another spelling of it has other
// bytes.
func keptCard(src []byte, v *runtime.VerifiedCard) ([]byte, error) {
	if v.Form == string(signedcard.Raw) {
		return src, nil
	}
	received, err := wire.ParseObject(src)
	if err != nil {
		return nil, err
	}
	signatures, _ := received.Get("signatures")
	kept := wire.Object(v.Card)
	err = kept.Set("signatures", signatures)
	return kept, err
}

// compare says what is otherwise than it was pinned. A verified card of an older version is refused unless that is
// allowed: signatures do not expire, so that whoever has an old card can serve it again. Of a card that is not
// verified, the version says whatever its server likes.
func (s *seenCard) compare(c config.Client, old output.ClientPin, version string, older bool) error {
	note := func(code, hint, format string, args ...any) {
		s.notes.Warnf(diag.Pos{File: config.File, Line: c.Pos.Line, Col: c.Pos.Col}, code, hint, format, args...)
	}
	if old.Version != "" && old.Version != version {
		if s.verified != nil && isOlder(version, old.Version) && !older {
			return &UntrustedError{fmt.Errorf("client %q: the card is of version %.40q, and the pinned one of "+
				"version %.40q: it went back. Somebody may serve an old card again; if its publisher took the "+
				"newer one back, add --allow-older", c.Name, version, old.Version)}
		}
		note("card-version", "", "client %q: the card's version was %.40q and is %.40q "+
			"now", c.Name, old.Version, version)
	}
	var key, form string
	if s.verified != nil {
		key, form = s.verified.Thumbprint, s.verified.Form
	}
	switch {
	case old.Key != "" && key == "":
		note("card-key", "put verify back", "client %q: the card was verified when it was pinned, and is not "+
			"verified now", c.Name)
	case old.Key != "" && key != old.Key:
		note("card-key", "ask its publisher whether it changed its key", "client %q: the card was signed by the "+
			"key %s, and is signed by %s now", c.Name, old.Key, key)
	case old.Form == string(signedcard.Presence) && form != old.Form:
		note("card-form", "strict: true refuses it", "client %q: the signature covers less of the card than when "+
			"it was pinned: the %s form, not the %s form", c.Name, form, old.Form)
	}
	return nil
}

// isOlder reports whether a version is older than another, as far as both are numbers with dots between them and what
// follows them ("1.2.3-beta") is equal. Of others nothing is known.
func isOlder(version, than string) bool {
	a, restA := numbers(version)
	b, restB := numbers(than)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	for i := range max(len(a), len(b)) {
		if by := cmp.Compare(at(a, i), at(b, i)); by != 0 {
			return by < 0
		}
	}
	return restA != "" && restB == "" // 1.0-beta is before 1.0
}

// numbers are the numbers at the head of a version, and what follows them.
func numbers(version string) (list []uint64, rest string) {
	version = strings.TrimPrefix(version, "v")
	head, _, _ := strings.Cut(version, "+")
	head, rest, _ = strings.Cut(head, "-")
	for part := range strings.SplitSeq(head, ".") {
		n, err := strconv.ParseUint(part, 10, 63)
		if err != nil {
			return nil, version
		}
		list = append(list, n)
	}
	return list, rest
}

// at is the number in a place, 0 behind the last.
func at(list []uint64, i int) uint64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}
