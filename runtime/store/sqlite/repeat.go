package sqlite

import (
	"bytes"

	"github.com/a2agen/a2agen/runtime/store"
)

// repeated returns a *store.Repeated if a message was sent before.
func (w *writer) repeated(o *owner, r *store.Repeat) error {
	if r == nil {
		return nil
	}
	var found *store.Repeated
	err := w.query("SELECT task, call, digest FROM repeat WHERE owner=? AND key=? AND until>?", func(v []value) error {
		found = &store.Repeated{Task: text(v[0]), Call: num(v[1]), Same: bytes.Equal(blob(v[2]), r.Digest[:])}
		return nil
	}, o.n, r.Key, w.now.UnixNano())
	if err == nil && found != nil {
		return found
	}
	return err
}

// addRepeat notes a message that was taken on, with its call if it has one.
func (w *writer) addRepeat(o *owner, task string, r *store.Repeat, c *store.Call) error {
	if r == nil {
		return nil
	}
	var call int64
	if c != nil {
		call = c.N
	}
	_, err := w.exec("INSERT OR REPLACE INTO repeat(owner, key, task, call, digest, until) VALUES(?,?,?,?,?,?)",
		o.n, r.Key, task, call, r.Digest[:], w.now.Add(r.For).UnixNano())
	return err
}
