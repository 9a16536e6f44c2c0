package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/a2agen/a2agen/internal/filelock"
)

// Cache keeps tokens in files of a folder: one file for each issuer, client, flow, resource, audience and scopes, readable by its owner
// alone. Processes that share the folder share the tokens, and take turns in asking the issuer.
type Cache struct{ dir string }

// OpenCache returns the cache in a folder, which it creates when it first keeps a token. "" is the folder of the user: a2agen/tokens in
// [os.UserCacheDir].
func OpenCache(dir string) (*Cache, error) {
	if dir != "" {
		return &Cache{dir}, nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the folder for tokens: %w", err)
	}
	return &Cache{filepath.Join(user, "a2agen", "tokens")}, nil
}

// Dir returns the folder.
func (c *Cache) Dir() string { return c.dir }

// Limits of a file of the cache.
const (
	mostFile  = 256 << 10 // bytes
	ownerOnly = 0o600
)

func (c *Cache) path(key string) string { return filepath.Join(c.dir, key+".json") }

// load returns the entry of a key; an empty one when there is none that can be read. A file that others can read is not used.
func (c *Cache) load(key string) (e entry) {
	f, err := os.Open(c.path(key))
	if err != nil {
		return e
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !private(info) {
		return e
	}
	src, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil || json.Unmarshal(src, &e) != nil || !fit(e.Access) {
		return entry{}
	}
	return e
}

// private reports whether a file or folder is its owner's alone, where systems have that.
func private(info fs.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0
}

// store writes the entry of a key whole, or leaves what was there.
func (c *Cache) store(key string, e entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := c.create(); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, key+".*.new") // with mode 0600
	if err != nil {
		return fmt.Errorf("keep the token: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(ownerOnly), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.path(key))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("keep the token: %w", err)
	}
	return nil
}

// create makes the folder, which must be its owner's alone.
func (c *Cache) create() error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder for tokens: %w", err)
	}
	info, err := os.Stat(c.dir)
	if err != nil {
		return fmt.Errorf("make the folder for tokens: %w", err)
	}
	if !private(info) {
		return fmt.Errorf("others can look into %s, where tokens are to be kept: chmod 700 it, or name another folder", c.dir)
	}
	return nil
}

// lock waits for the lock of a key, which one process has at a time.
func (c *Cache) lock(ctx context.Context, key string) (release func(), err error) {
	if err := c.create(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(c.dir, key+".lock"), os.O_CREATE|os.O_RDWR, ownerOnly)
	if err != nil {
		return nil, fmt.Errorf("lock the token: %w", err)
	}
	if err := filelock.Wait(ctx, f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the token: %w", err)
	}
	return func() { f.Close() }, nil
}
