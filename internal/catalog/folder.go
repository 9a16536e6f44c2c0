package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/runtime/wire"
)

// New is a card to add.
type New struct {
	Card []byte // as it was published
	From string // what messages call it: its file or URL
	URL  string // where it was fetched; "" for a file
	// Name is that of the entry; "": it is made of the card's name.
	Name     string
	SignedBy *Signer
}

// Outcome is what became of a card that was to be added.
type Outcome string

// The outcomes.
const (
	Added    Outcome = "added"
	Known    Outcome = "there already"
	Replaced Outcome = "replaced"
)

// Addition is what became of one card.
type Addition struct {
	Entry   Entry   `json:"entry"`
	Outcome Outcome `json:"outcome"`
	// Notes say what people should know: a key that is another one than that of the last version.
	Notes []string `json:"notes,omitempty"`
}

// TakenError says that a catalog has another card under the name, or under name and version.
type TakenError struct {
	Ref  Ref
	Why  string
	Hint string
}

// Error says what to do.
func (e *TakenError) Error() string { return fmt.Sprintf("%s %s: %s", e.Ref, e.Why, e.Hint) }

// Add puts a card into the catalog in a folder, which it makes if there is none. The same card again changes nothing.
// Another card of the same name and version is refused unless replace is set. Several adds at once wait for each other.
func Add(dir string, n New, replace bool) (Addition, error) {
	e, err := n.entry()
	if err != nil {
		return Addition{}, err
	}
	if err := os.MkdirAll(filepath.Join(dir, cardsFolder), 0o755); err != nil {
		return Addition{}, fmt.Errorf("make the catalog: %w", err)
	}
	defer disk.Guard(dir)()
	x, err := indexOf(dir)
	if err != nil {
		return Addition{}, err
	}
	a, old, err := x.add(e, replace)
	if err != nil {
		return a, err
	}
	if err := writeCard(dir, a.Entry, n.Card); err != nil {
		return a, err
	}
	if a.Outcome == Known && !x.note(a.Entry) {
		return a, nil
	}
	return a, writeIndex(dir, x, old)
}

// entry reads the card and describes it.
func (n New) entry() (Entry, error) {
	c, list := card.Import(n.From, n.Card)
	if i := slices.IndexFunc(list, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }); i >= 0 || c == nil {
		return Entry{}, fmt.Errorf("%s is no agent card: %s", n.From, list[max(i, 0)].Message)
	}
	e := describe(c, n.Card)
	e.Name, e.URL, e.SignedBy = cmp.Or(n.Name, NameOf(c.Name)), n.URL, n.SignedBy
	if e.Name == "" {
		return Entry{}, fmt.Errorf("the card's name %.80q makes no name for the catalog: give one with --name", c.Name)
	}
	e.File = path.Join(cardsFolder, fileOf(e))
	return e, e.check()
}

// describe returns what a card says of itself, and its digest.
func describe(c *card.Card, src []byte) Entry {
	e := Entry{Version: cmp.Or(c.Version, card.DefaultVersion), Digest: output.Digest(src), Title: c.Name,
		Description: c.Description, Protocol: c.Origin, Signed: isSigned(src), Skills: []Skill{}}
	for _, s := range c.Skills {
		e.Skills = append(e.Skills, Skill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags})
	}
	return e
}

// isSigned reports whether a card has signatures.
func isSigned(src []byte) bool {
	o, err := wire.ParseObject(src)
	if err != nil {
		return false
	}
	list, has := o.Get("signatures")
	return has && strings.TrimSpace(string(list)) != "[]" && strings.TrimSpace(string(list)) != "null"
}

// fileOf returns a file name that is safe on every system and that no other card has.
func fileOf(e Entry) string {
	version := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-':
			return r
		}
		return '_'
	}, e.Version)
	digest := strings.TrimPrefix(e.Digest, "sha256:")
	return e.Name + "-" + version + "-" + digest[:12] + ".json"
}

// add puts an entry into the index. old is the entry that it replaces.
func (x *Index) add(e Entry, replace bool) (a Addition, old *Entry, err error) {
	i := slices.IndexFunc(x.Cards, func(o Entry) bool { return o.Ref() == e.Ref() })
	last, _ := x.find(Ref{Name: e.Name}, "")
	switch {
	case i >= 0 && x.Cards[i].Digest == e.Digest:
		e.File = x.Cards[i].File
		return Addition{Entry: e, Outcome: Known}, nil, nil
	case i >= 0 && !replace:
		return Addition{}, nil, &TakenError{Ref: e.Ref(),
			Why: "is in the catalog with another digest, " + x.Cards[i].Digest, Hint: "its publisher should give a changed card another version; --replace takes it over as it is"}
	case last.Title != "" && last.Title != e.Title && !replace:
		return Addition{}, nil, &TakenError{Ref: Ref{Name: e.Name},
			Why: fmt.Sprintf("is the card of an agent called %.80q, not %.80q", last.Title, e.Title), Hint: "give this one another name with --name; --replace takes it for the same agent"}
	case i >= 0:
		was := x.Cards[i]
		x.Cards[i] = e
		return Addition{Entry: e, Outcome: Replaced, Notes: keyNotes(was, e)}, &was, nil
	}
	x.Cards = append(x.Cards, e)
	return Addition{Entry: e, Outcome: Added, Notes: keyNotes(last, e)}, nil, nil
}

// keyNotes say how a card is signed otherwise than the last version.
func keyNotes(last, e Entry) []string {
	switch {
	case last.SignedBy == nil:
		return nil
	case e.SignedBy == nil:
		return []string{fmt.Sprintf("%s was verified when it was added, and this card was not: name keys by --jwks",
			last.Ref())}
	case e.SignedBy.Key != last.SignedBy.Key:
		return []string{fmt.Sprintf("%s was signed by the key %s, and this card is by %s: "+
			"ask its publisher whether it changed its key", last.Ref(), last.SignedBy.Key, e.SignedBy.Key)}
	}
	return nil
}

// note takes over what is newly known of a card that is there: where it is, and that it was verified. It reports
// whether that is anything.
func (x *Index) note(e Entry) bool {
	i := slices.IndexFunc(x.Cards, func(o Entry) bool { return o.Ref() == e.Ref() })
	was := &x.Cards[i]
	changed := false
	if e.URL != "" && was.URL != e.URL {
		was.URL, changed = e.URL, true
	}
	if e.SignedBy != nil && (was.SignedBy == nil || *was.SignedBy != *e.SignedBy) {
		was.SignedBy, changed = e.SignedBy, true
	}
	return changed
}

// Remove takes cards out of the catalog in a folder: one version, or all of a name if the reference has none.
func Remove(dir string, r Ref) ([]Entry, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, &MissingError{Where: dir}
	}
	defer disk.Guard(dir)()
	x, err := indexOf(dir)
	if err != nil {
		return nil, err
	}
	if _, err := x.find(r, dir); err != nil {
		return nil, err
	}
	var gone []Entry
	x.Cards = slices.DeleteFunc(x.Cards, func(e Entry) bool {
		is := e.Name == r.Name && (r.Version == "" || e.Version == r.Version)
		if is {
			gone = append(gone, e)
		}
		return is
	})
	for i := range gone {
		if err := writeIndex(dir, x, &gone[i]); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

// indexOf reads the index in a folder; it is empty if there is none.
func indexOf(dir string) (*Index, error) {
	c, err := Open(context.Background(), dir, remote.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &c.Index, nil
}

// writeCard writes a card unless it is there, whole: a damaged one is mended by adding the card again.
func writeCard(dir string, e Entry, src []byte) error {
	if have, err := readFile(dir, e.File, maxCard); err == nil && output.Digest(have) == e.Digest {
		return nil
	}
	return replaceFile(dir, e.File, src)
}

// writeIndex writes the index and then removes the file of an entry that is no longer in it, so that the index never
// names a file that is not there.
func writeIndex(dir string, x *Index, gone *Entry) error {
	src, err := x.write()
	if err != nil {
		return err
	}
	if err := replaceFile(dir, IndexFile, src); err != nil {
		return err
	}
	if gone == nil || slices.ContainsFunc(x.Cards, func(e Entry) bool { return e.File == gone.File }) {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(filepath.FromSlash(gone.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the card: %w", err)
	}
	return nil
}

// replaceFile writes a file below the folder whole or not at all, and follows no link out of it.
func replaceFile(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	file := filepath.FromSlash(name)
	temp := file + "." + strconv.Itoa(os.Getpid()) + output.TempSuffix
	if err = writeSynced(root, temp, data); err == nil {
		err = root.Rename(temp, file)
	}
	if err != nil {
		root.Remove(temp) // which may not be there
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func writeSynced(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
