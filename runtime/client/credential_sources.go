package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/security"
)

// StaticToken is the source of one token that does not change: if the agent rejects it, the call fails.
func StaticToken(token string) TokenSource { return staticToken(token) }

type staticToken string

// errRejectedToken is the error of a source that has no other token than the one that was rejected.
var errRejectedToken = errors.New("the agent rejected the token, and there is no other")

func (t staticToken) Token(_ context.Context, need TokenNeed) (string, error) {
	if t == "" {
		return "", errors.New("the token is empty")
	}
	if string(t) == need.Rejected {
		return "", errRejectedToken
	}
	return string(t), nil
}

// placeholder is the source of placeholders for secrets.
type placeholder struct{ renews bool }

func (p placeholder) Token(_ context.Context, need TokenNeed) (string, error) {
	switch {
	case need.Rejected != "" && !p.renews:
		return "", errRejectedToken
	case need.Rejected != "":
		return need.Rejected + "0", nil
	case need.Card.Kind == SchemeHTTP && need.Card.HTTP == security.Basic:
		return "placeholder:placeholder", nil
	}
	return "placeholder", nil
}

const (
	maxTokenFile = 64 << 10         // bytes
	tokenFileAge = 30 * time.Second // after which the file is read again
)

// TokenFile is the source of the token in a file, without blanks around it. The file may be replaced, as Kubernetes does: it
// is read again twice a minute, and when the agent rejects its token.
func TokenFile(path string) TokenSource { return &tokenFile{path: path} }

type tokenFile struct {
	path string

	mu    sync.Mutex
	token string
	read  time.Time
}

func (f *tokenFile) Token(_ context.Context, need TokenNeed) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token == "" || f.token == need.Rejected || time.Since(f.read) > tokenFileAge {
		token, err := readSecret(f.path)
		if err != nil {
			return "", err
		}
		f.token, f.read = token, time.Now()
	}
	if f.token == need.Rejected {
		return "", errRejectedToken
	}
	return f.token, nil
}

// readSecret reads a file that holds one secret.
func readSecret(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxTokenFile+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxTokenFile:
		return "", fmt.Errorf("%s has more than %d bytes, which is no secret", path, maxTokenFile)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}
