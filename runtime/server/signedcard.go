package server

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// EnvCardKey names the file with the private key by which the agent signs its cards: see [SignCards].
const EnvCardKey = "A2A_CARD_KEY"

// CardSigner returns a card of A2A 1.0, in JSON, with signatures (A2A 1.0 §8.4): a *signedcard.Key, or what has a key
// that is in no file.
type CardSigner interface {
	Sign(card []byte) ([]byte, error)
}

// cardKey is what signs the cards.
type cardKey struct {
	signer CardSigner                            // given by [WithCardSigner]; nil: none was
	read   func(file []byte) (CardSigner, error) // what is linked for files; nil: nothing is
}

// SignCards has the server sign its card and its extended card, once at its start, with the key in the file that
// A2A_CARD_KEY names; without that they are not signed. The server must know its public URL then, by A2A_PUBLIC_URL
// or [WithURL]: the card is signed under that. read is signedcard.ReadKey. Generated code has this option for "cards:
// {sign: true}" in a2agen.yaml.
func SignCards[K CardSigner](read func(file []byte) (K, error)) Option {
	return func(o *options) {
		o.cardKey.read = func(file []byte) (CardSigner, error) { return read(file) }
	}
}

// WithCardSigner has the server sign its cards with s, whatever A2A_CARD_KEY says: see [SignCards].
func WithCardSigner(s CardSigner) Option { return func(o *options) { o.cardKey.signer = s } }

// maxCardKey is the size of the largest file with a key, in bytes.
const maxCardKey = 256 << 10

// cardSigner is what signs the cards; nil if nothing does.
func (s *Server) cardSigner() (binding.CardSigner, error) {
	if s.cardKey.signer != nil {
		return s.cardKey.signer, nil
	}
	name := os.Getenv(EnvCardKey)
	if name == "" {
		return nil, nil
	}
	if s.cardKey.read == nil {
		return nil, errors.New(EnvCardKey + ` is set, and this agent cannot sign cards: write "cards: {sign: ` +
			`true}" in a2agen.yaml and run "a2agen generate", or unset it`)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", EnvCardKey, err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxCardKey))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", EnvCardKey, err)
	}
	signer, err := s.cardKey.read(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", EnvCardKey, name, err)
	}
	return signer, nil
}
