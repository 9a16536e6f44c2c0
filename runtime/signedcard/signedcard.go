// Package signedcard signs agent cards, and verifies the signatures of cards before they are used (A2A 1.0 §8.4). It
// is a package of its own because only those who sign or verify link its library.
//
// A signature covers bytes that are made of a card, in one of three forms. The specification's is the presence form,
// which no SDK of today makes: those for Python and JavaScript drop what is empty. [Key.Sign] signs both, and
// [Verifier.Verify] tries them, so that either side can be of any maker. A card that was verified is the one that the
// signed bytes say, not the one that came: what a signature does not cover is not in it.
package signedcard

import "errors"

// Form is how the bytes that a signature covers are made of a card. All are written as RFC 8785 has it.
type Form string

// The forms, in the order in which they are tried.
const (
	// Presence has the members that A2A 1.0 knows: required ones always, optional ones where they are set, others
	// unless they have their default (A2A 1.0 §8.4.1).
	Presence Form = "presence"
	// Clean is Presence without empty strings, lists and objects at any depth: what the SDKs sign. It does not cover a
	// security scheme or requirement that says nothing beyond its name.
	Clean Form = "clean"
	// Raw has the members as they came, those that A2A does not know among them.
	Raw Form = "raw"
)

// forms in the order in which they are tried.
var forms = []Form{Presence, Clean, Raw}

// Limits of what is read.
const (
	MaxCard       = 1 << 20 // bytes
	maxSignatures = 8       // of a card; further ones are not tried
	maxKeys       = 64      // of a set
	maxProtected  = 4 << 10 // bytes of a protected header, decoded
	maxKeyFile    = 256 << 10
)

// What is wrong with a card, for errors.Is.
var (
	// ErrUnsigned: the card has no signatures at all.
	ErrUnsigned = errors.New("the card is not signed")
	// ErrNotVerified: the card has signatures, and none of them was made over it with a key that is trusted.
	ErrNotVerified = errors.New("no signature of the card verifies")
	// ErrInvalid: the card is not strict JSON, or no card of A2A 1.0.
	ErrInvalid = errors.New("the card cannot be read")
	// ErrNoKeys: the keys could not be had, so that nothing is known of the card.
	ErrNoKeys = errors.New("the keys could not be had")
)

// Payload returns the bytes that a signature over the card covers in a form. An error is [ErrInvalid].
func Payload(card []byte, form Form) ([]byte, error) {
	root, err := parseCard(card)
	if err != nil {
		return nil, err
	}
	return payload(root, form)
}

// payload is Payload of a card that is parsed.
func payload(root object, form Form) ([]byte, error) {
	covered := root
	if form != Raw {
		var err error
		if covered, err = agentCard.present(root, ""); err != nil {
			return nil, invalid(err)
		}
	}
	switch form {
	case Raw:
		covered = root.without(signaturesMember)
	case Clean:
		covered, _ = cleaned(covered).(object)
	}
	return appendCanonical(nil, covered), nil
}
