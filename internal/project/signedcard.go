package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/signedcard"
)

// CardKeyOptions say where a new key for cards goes.
type CardKeyOptions struct {
	File      string // of the private key; it must not exist
	Algorithm string // one of signedcard.Algorithms
	KeySet    string // file to which the public key is added; "": it is returned
}

// NewCardKey makes a key that signs cards. It returns the set with its public key.
func NewCardKey(o CardKeyOptions) (*signedcard.Key, []byte, error) {
	key, err := signedcard.NewKey(o.Algorithm)
	if err != nil {
		return nil, nil, badArgument("%w", err)
	}
	var old []byte
	if o.KeySet != "" {
		if old, err = readLimited(o.KeySet); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	set, err := key.Public(old)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.KeySet, err)
	}
	private, err := key.Private()
	if err != nil {
		return nil, nil, err
	}
	if err := writeNew(o.File, private); err != nil {
		return nil, nil, fmt.Errorf("write the key: %w", err)
	}
	if o.KeySet == "" {
		return key, set, nil
	}
	return key, set, replaceFile(o.KeySet, set)
}

// SignCard signs the card in a file with the key in another, and returns it, indented.
func SignCard(keyFile, cardFile string) (*signedcard.Key, []byte, error) {
	src, err := readLimited(keyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := signedcard.ReadKey(src)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	card, _, err := remote.Fetch(context.Background(), filepath.Clean(cardFile), remote.Options{})
	if err != nil {
		return nil, nil, err
	}
	signed, err := key.Sign(card)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", cardFile, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, signed, "", "  "); err != nil {
		return nil, nil, err
	}
	b.WriteByte('\n')
	return key, b.Bytes(), nil
}

// VerifyOptions say which card to verify, and with which keys.
type VerifyOptions struct {
	Target       string // an agent's URL, its card's URL, or a file
	Keys         string // file with a JSON Web Key Set; "": none
	URLs         []string
	Strict       bool
	AllowPrivate bool // fetch from private addresses too
}

// VerifyCard fetches a card and verifies its signatures. An error of the card itself is an [UntrustedError]; any
// other says that it could not be tried.
func VerifyCard(ctx context.Context, o VerifyOptions) (*runtime.VerifiedCard, error) {
	v, client, err := o.verifier()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	card, _, err := remote.Fetch(ctx, o.Target, remote.Options{AllowPrivate: o.AllowPrivate})
	if err != nil {
		return nil, err
	}
	return trusted(v.Verify(ctx, card))
}

// trusted marks errors that are the card's.
func trusted(c *runtime.VerifiedCard, err error) (*runtime.VerifiedCard, error) {
	if err != nil && !errors.Is(err, signedcard.ErrNoKeys) {
		err = &UntrustedError{err}
	}
	return c, err
}

// UntrustedError is a card that is not what a trusted key signed.
type UntrustedError struct{ Err error }

// Error says why.
func (e *UntrustedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UntrustedError) Unwrap() error { return e.Err }

// maxKeyFile is the size of the largest file with keys, or with a schema, in bytes.
const maxKeyFile = 256 << 10

// readLimited reads a file with keys, or with a schema.
func readLimited(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(src) > maxKeyFile {
		err = fmt.Errorf("%s has more than %d bytes", file, maxKeyFile)
	}
	return src, err
}

// writeNew writes a secret to a file that nobody else can read, and that must not be there yet.
func writeNew(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: a key is never overwritten; name another file, or move it away", file)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// replaceFile writes a file whole or not at all.
func replaceFile(file string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

// WriteCard writes a card, or prints it where no file is named.
func WriteCard(w io.Writer, file string, card []byte) error {
	if file == "" || file == "-" {
		_, err := io.Copy(w, strings.NewReader(string(card)))
		return err
	}
	return replaceFile(file, card)
}
