package auth

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Password is the password of a user of HTTP Basic.
type Password struct {
	User    string
	Hash    string // what [HashPassword] makes
	Scopes  []string
	Tenants []string // for which the user may act; nil: for any
}

// How passwords are hashed, which is what a guess costs.
const (
	hashName       = "pbkdf2-sha256"
	hashIterations = 600_000
	leastRounds    = 100_000
	mostRounds     = 10_000_000
	saltSize       = 16
)

// passwordHash is a parsed hash.
type passwordHash struct {
	iterations int
	salt, sum  []byte
}

// HashPassword returns how a password is stored: "pbkdf2-sha256$iterations$salt$hash", which is salted and slow to
// compute.
func HashPassword(password string) (string, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	sum, err := pbkdf2.Key(sha256.New, password, salt, hashIterations, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("%s$%d$%s$%s", hashName, hashIterations, b64.EncodeToString(salt), b64.EncodeToString(sum)), nil
}

// hashPassword computes the slow hash. Tests count its calls.
var hashPassword = func(password string, h passwordHash) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, h.salt, h.iterations, sha256.Size)
}

func readHash(text string) (h passwordHash, err error) {
	wrong := errors.New("the hash of a password is not of the form \"" + hashName + "$iterations$salt$hash\"")
	fields := strings.Split(text, "$")
	if len(fields) != 4 || fields[0] != hashName {
		return h, wrong
	}
	b64 := base64.RawStdEncoding.Strict()
	var failed [3]error
	h.iterations, failed[0] = strconv.Atoi(fields[1])
	h.salt, failed[1] = b64.DecodeString(fields[2])
	h.sum, failed[2] = b64.DecodeString(fields[3])
	if errors.Join(failed[:]...) != nil || len(h.salt) < 8 || len(h.sum) != sha256.Size {
		return h, wrong
	}
	if h.iterations < leastRounds || h.iterations > mostRounds {
		const text = "the hash of a password has %d iterations, it should be %d to %d"
		return h, fmt.Errorf(text, h.iterations, leastRounds, mostRounds)
	}
	return h, nil
}

// Passwords verifies users of HTTP Basic. The environment variable of the scheme (A2A_AUTH_ and its name) adds users:
// "user=hash,user=hash", with rights as for [Keys]. A correct password is cached for a minute after its last use, because
// hashing is slow.
func Passwords(list ...Password) Verifier { return &passwords{list: list} }

type passwords struct {
	list   []Password
	users  map[string]user
	nobody passwordHash // what a user who is not known costs
	now    func() time.Time
	slots  chan struct{}     // hashing leaves the other processors alone
	secret [sha256.Size]byte // of this process, by which right passwords are remembered

	mu    sync.Mutex
	right map[[sha256.Size]byte]time.Time // until when
}

// turnTime is how long a request waits until its password is hashed, because others may be guessing without end.
const turnTime = 5 * time.Second

var errCrowded = errors.New("too many passwords are being checked")

type user struct {
	Caller
	passwordHash
}

// How long, and how many, correct passwords are cached.
const (
	rightFor  = time.Minute
	mostRight = 1024
)

func (p *passwords) Prepare(s *Setup) error {
	list, err := fromEnv(s, p.list, func(h holder) (Password, bool) {
		return Password{User: h.name, Hash: h.secret, Scopes: h.scopes, Tenants: h.tenants}, h.secret != ""
	})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("no user is known: list one in a2agen.yaml under \"auth\", or in " + s.EnvName(""))
	}
	p.users, p.right, p.now = map[string]user{}, map[[sha256.Size]byte]time.Time{}, s.Now
	for i, w := range list {
		h, err := readHash(w.Hash)
		switch {
		case w.User == "" || strings.Contains(w.User, ":"):
			return errors.New("the name of a user is empty, or has a colon")
		case err != nil:
			return fmt.Errorf("user %s: %w", whose(s, w.User, i-len(p.list)), err)
		}
		if _, twice := p.users[w.User]; twice {
			return fmt.Errorf("user %s is there twice", whose(s, w.User, i-len(p.list)))
		}
		p.users[w.User] = user{Caller{ID: w.User, Scopes: w.Scopes, Tenants: w.Tenants}, h}
		p.nobody.iterations, p.nobody.salt = max(p.nobody.iterations, h.iterations), h.salt
	}
	p.slots = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	_, _ = rand.Read(p.secret[:])
	return nil
}

func (p *passwords) Verify(ctx context.Context, c Credential) (Caller, error) {
	u, known := p.users[c.User]
	if !known {
		u.passwordHash = p.nobody
	}
	mark := p.mark(c)
	if known && p.remembers(mark) {
		return u.Caller, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, turnTime, errCrowded)
	defer cancel()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return Caller{}, &Unavailable{After: time.Second, Err: context.Cause(ctx)}
	}
	if known && p.remembers(mark) { // another request with it came first
		return u.Caller, nil
	}
	sum, err := hashPassword(c.Password, u.passwordHash)
	if spare := p.nobody.iterations - u.iterations; spare > 0 { // nobody sees by the time who is known
		_, _ = hashPassword(c.Password, passwordHash{iterations: spare, salt: u.salt})
	}
	if right := subtle.ConstantTimeCompare(sum, u.sum) == 1; err != nil || !right || !known {
		return Caller{}, ErrWrong
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.right) >= mostRight {
		clear(p.right)
	}
	p.right[mark] = p.now().Add(rightFor)
	return u.Caller, nil
}

// mark is the key under which a correct password is cached. It is useless outside of this process.
func (p *passwords) mark(c Credential) (mark [sha256.Size]byte) {
	h := hmac.New(sha256.New, p.secret[:])
	h.Write([]byte(c.User + ":" + c.Password)) // a user has no colon
	h.Sum(mark[:0])
	return mark
}

func (p *passwords) remembers(mark [sha256.Size]byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.right[mark]
	if ok = ok && p.now().Before(until); ok {
		p.right[mark] = p.now().Add(rightFor)
	}
	return ok
}
