// Package catalog keeps agent cards by name, version and digest: in a folder, or behind any HTTP server that serves
// such a folder.
//
// A catalog is an index, index.json, and the cards as they were published, in the folder cards. Whoever reads one
// trusts neither: the index names files of the catalog alone, a card counts only if it has the digest that the index
// says, and sizes and times are bounded. Cards are data of others, and are read as such.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/remote"
)

// DefaultDir is where a project has its catalog, unless something else is said.
const DefaultDir = ".a2agen/catalog"

// Catalog is a catalog with its index as it was read.
type Catalog struct {
	Where string // its folder or URL
	Index Index

	read reader
}

// reader reads a file of a catalog by its name in the index.
type reader func(ctx context.Context, name string, limit int64) ([]byte, error)

// IsURL reports whether a catalog is behind an HTTP address, and can be read only.
func IsURL(where string) bool { return strings.Contains(where, "://") }

// Open reads the index of a catalog: a folder, or the URL under which a server has one.
func Open(ctx context.Context, where string, o remote.Options) (*Catalog, error) {
	read, err := readerOf(where, o)
	if err != nil {
		return nil, err
	}
	c := &Catalog{Where: where, read: read}
	src, err := read(ctx, IndexFile, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{Where: where}
	}
	if err != nil {
		return nil, fmt.Errorf("read the index of the catalog: %w", err)
	}
	if c.Index, err = readIndex(src); err != nil {
		return nil, fmt.Errorf("%s of the catalog %s: %w", IndexFile, where, err)
	}
	return c, nil
}

// MissingError says that there is no catalog in a folder.
type MissingError struct{ Where string }

// Error says how one is made.
func (e *MissingError) Error() string {
	return fmt.Sprintf("there is no catalog in %s (a2agen card catalog add URL makes one)", e.Where)
}

// Is makes it an [fs.ErrNotExist].
func (e *MissingError) Is(target error) bool { return target == fs.ErrNotExist }

func readerOf(where string, o remote.Options) (reader, error) {
	if !IsURL(where) {
		return func(_ context.Context, name string, limit int64) ([]byte, error) {
			return readFile(where, name, limit)
		}, nil
	}
	base, err := url.Parse(strings.TrimSuffix(where, "/"+IndexFile))
	if err != nil {
		return nil, fmt.Errorf("the catalog's URL: %w", err)
	}
	if base.RawQuery != "" {
		return nil, fmt.Errorf("the catalog's URL %s has a query, which the addresses of its cards would not have",
			base.Redacted())
	}
	return func(ctx context.Context, name string, limit int64) ([]byte, error) {
		o := o
		o.MaxBytes = limit
		data, _, err := remote.Get(ctx, base.JoinPath(name).String(), o)
		return data, err
	}, nil
}

// readFile reads a file below the folder, and follows no link out of it.
func readFile(dir, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, nil
}

// Find returns the entry that a reference means. The error is a *[NotFoundError] if there is none.
func (c *Catalog) Find(r Ref) (Entry, error) { return c.Index.find(r, c.Where) }

// DamagedError says that a card is not the one that was added.
type DamagedError struct {
	Entry Entry
	Why   string
}

// Error says which card it is, and what is wrong with it.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("the card %s (%s) is damaged: %s", e.Entry.Ref(), e.Entry.File, e.Why)
}

// Card reads a card as it was published. The error is a *[DamagedError] if it is not there or not the one that was
// added.
func (c *Catalog) Card(ctx context.Context, e Entry) ([]byte, error) {
	data, err := c.read(ctx, e.File, maxCard)
	var status *remote.StatusError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.As(err, &status) && status.Status == 404:
		return nil, &DamagedError{Entry: e, Why: "it is not there"}
	case err != nil:
		return nil, fmt.Errorf("read the card %s: %w", e.Ref(), err)
	}
	if is := output.Digest(data); is != e.Digest {
		return nil, &DamagedError{Entry: e, Why: "its digest is " + is + ", and the index says " + e.Digest}
	}
	return data, nil
}
