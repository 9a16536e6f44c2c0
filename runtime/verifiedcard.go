package runtime

// VerifiedCard is a card whose signature was verified (A2A 1.0 §8.4): what the signed bytes say, and by which key.
type VerifiedCard struct {
	// Card is the card in JSON, without signatures and without anything that the signature does not cover.
	Card []byte
	// Form says how the signed bytes were made of the card: "presence" covers all of it, "clean" not what is empty, "raw"
	// is the card as it was written.
	Form       string
	KeyID      string // of the key, as its publisher names it
	Thumbprint string // of the key, as it is (RFC 7638)
	Algorithm  string // "ES256"
}
