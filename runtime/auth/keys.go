package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Key is an API key, or another opaque secret, of a caller.
type Key struct {
	Caller  string // who holds it
	SHA256  string // of the key, in hexadecimal: what [HashKey] makes
	Scopes  []string
	Tenants []string // for which the caller may act; nil: for any
}

// HashKey returns how a key is stored. Keys must be random and long, because the hash does not slow guesses down.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Keys verifies keys by their hashes. The environment variable of the scheme (A2A_AUTH_ and its name) adds keys:
// "caller=hash,caller=hash". A hash may be followed by the caller's scopes and tenants: "?scope=read&tenant=acme".
func Keys(list ...Key) Verifier { return &keys{list: list} }

type keys struct {
	list []Key
	// callers are found by the hash, so that the time it takes reveals nothing of a key.
	callers map[[sha256.Size]byte]Caller
}

func (k *keys) Prepare(s *Setup) error {
	list, err := fromEnv(s, k.list, func(h holder) (Key, bool) {
		return Key{Caller: h.name, SHA256: h.secret, Scopes: h.scopes, Tenants: h.tenants}, h.secret != ""
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("no key is known: list one in a2agen.yaml under \"auth\", or in " + s.EnvName(""))
	}
	k.callers = make(map[[sha256.Size]byte]Caller, len(list))
	for i, key := range list {
		sum, err := hex.DecodeString(key.SHA256)
		switch {
		case key.Caller == "":
			return errors.New("a key has no caller")
		case err != nil || len(sum) != sha256.Size:
			return fmt.Errorf("the key of %s is not given by the SHA-256 of it, in hexadecimal", whose(s, key.Caller, i-len(k.list)))
		}
		hash := [sha256.Size]byte(sum)
		if other, twice := k.callers[hash]; twice {
			return fmt.Errorf("%s and %s have the same key", other.ID, key.Caller)
		}
		k.callers[hash] = Caller{ID: key.Caller, Scopes: key.Scopes, Tenants: key.Tenants}
	}
	return nil
}

func (k *keys) Verify(_ context.Context, c Credential) (Caller, error) {
	caller, ok := k.callers[sha256.Sum256([]byte(c.Value))]
	if !ok {
		return Caller{}, ErrWrong
	}
	return caller, nil
}
