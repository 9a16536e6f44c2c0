package store

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"strings"
	"time"
)

// Cursor is the place of the last task that a page showed. The zero Cursor is before the first. All stores write their
// tokens with it.
type Cursor struct {
	At time.Time // of the task's status
	ID string
}

// A token is the hash of the filters, the time in nanoseconds, and the task id.
const tokenHead = 16

// Token writes the cursor for the client.
func (c Cursor) Token(owner Owner, q Query) string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, tokenHead+len(c.ID)), filterHash(owner, q))
	b = binary.BigEndian.AppendUint64(b, uint64(c.At.UnixNano()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID...))
}

// ReadCursor reads the token of a query, or fails with ErrCursor.
func ReadCursor(owner Owner, q Query) (Cursor, error) {
	if q.Token == "" {
		return Cursor{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(q.Token)
	if err != nil || len(b) <= tokenHead || binary.BigEndian.Uint64(b) != filterHash(owner, q) {
		return Cursor{}, ErrCursor
	}
	return Cursor{time.Unix(0, int64(binary.BigEndian.Uint64(b[8:]))), string(b[tokenHead:])}, nil
}

// filterHash binds a token to its query: the page size may change between pages, the filters must not.
func filterHash(owner Owner, q Query) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join([]string{
		owner.Tenant, owner.Principal, q.Context, q.State.String(), q.After.UTC().Format(time.RFC3339Nano),
	}, "\x00")))
	return h.Sum64()
}
