package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/mod/semver"

	"github.com/a2agen/a2agen/generator/suggest"
)

// The layout of a catalog: the index, and beside it a folder of cards.
const (
	IndexFile   = "index.json"
	cardsFolder = "cards"
	format      = 1
)

// Limits of a catalog.
const (
	maxIndex   = 16 << 20 // bytes
	maxEntries = 10_000
	maxCard    = 1 << 20 // bytes
	maxName    = 64
	maxVersion = 64
)

// Index is the file that lists the cards of a catalog, in the order in which they were added.
type Index struct {
	Format int     `json:"a2aCatalog"`
	Cards  []Entry `json:"cards"`
}

// Entry is one card of a catalog. Everything in it but Name, URL and SignedBy is what the card says.
type Entry struct {
	Name    string `json:"name"`    // by which people ask for it: "weather-agent"
	Version string `json:"version"` // of the agent
	Digest  string `json:"digest"`  // "sha256:…" of the file
	File    string `json:"file"`    // "cards/weather-agent-1.2.0-0123456789ab.json"
	// URL is where the card was fetched; "" for a card that came from a file.
	URL         string  `json:"url,omitempty"`
	Title       string  `json:"title"` // the card's name
	Description string  `json:"description,omitempty"`
	Protocol    string  `json:"protocol"` // the version of A2A that the card is written in
	Signed      bool    `json:"signed,omitempty"`
	SignedBy    *Signer `json:"signedBy,omitempty"` // nil: its signature was not verified when it was added
	Skills      []Skill `json:"skills"`
}

// Signer says by which key a card was verified when it was added, and which form of it was signed.
type Signer struct {
	Key  string `json:"key"` // its thumbprint (RFC 7638)
	Form string `json:"form"`
}

// Skill is what the index says of a skill.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
}

// Ref returns the reference by which the entry is asked for.
func (e *Entry) Ref() Ref { return Ref{Name: e.Name, Version: e.Version} }

// Ref names a card of a catalog.
type Ref struct {
	Name    string
	Version string // "" is the newest
}

// String returns the reference as it is written: "weather@1.2.0", or "weather" for the newest.
func (r Ref) String() string {
	if r.Version == "" {
		return r.Name
	}
	return r.Name + "@" + r.Version
}

// ParseRef reads NAME or NAME@VERSION.
func ParseRef(s string) (Ref, error) {
	name, version, has := strings.Cut(s, "@")
	switch {
	case !IsName(name):
		return Ref{}, fmt.Errorf("%.80q is not the name of a card in a catalog: write NAME or NAME@VERSION, "+
			"NAME in a-z, 0-9, and . _ - between them", s)
	case has && !isVersion(version):
		return Ref{}, fmt.Errorf("%.80q names no version after the @", s)
	}
	return Ref{Name: name, Version: version}, nil
}

var (
	namePattern   = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)
	digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	filePattern   = regexp.MustCompile(`^` + cardsFolder + `/[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.json$`)
)

// IsName reports whether s can be the name of a card in a catalog.
func IsName(s string) bool { return len(s) <= maxName && namePattern.MatchString(s) }

// isVersion reports whether s can be a version: short text without blanks.
func isVersion(s string) bool {
	return s != "" && len(s) <= maxVersion &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
}

// NameOf makes the name of an entry of the name that a card has: "Weather Agent" is weather-agent. It is "" for a name
// without any letter or digit of ASCII.
func NameOf(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxName {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// readIndex reads an index that anybody may have written.
func readIndex(src []byte) (Index, error) {
	var x Index
	if err := json.Unmarshal(src, &x); err != nil {
		return Index{}, fmt.Errorf("it is no index of a catalog: %w", err)
	}
	if x.Format != format {
		return Index{}, fmt.Errorf("it is no index of a catalog that this a2agen knows: \"a2aCatalog\" is %d, want %d",
			x.Format, format)
	}
	if len(x.Cards) > maxEntries {
		return Index{}, fmt.Errorf("it lists %d cards, more than %d", len(x.Cards), maxEntries)
	}
	seen := map[Ref]bool{}
	for i := range x.Cards {
		e := &x.Cards[i]
		if err := e.check(); err != nil {
			return Index{}, fmt.Errorf("cards[%d]: %w", i, err)
		}
		if seen[e.Ref()] {
			return Index{}, fmt.Errorf("cards[%d]: %s is there twice", i, e.Ref())
		}
		seen[e.Ref()] = true
	}
	return x, nil
}

// check rejects an entry by which something else than a card of the catalog could be read or written.
func (e *Entry) check() error {
	switch {
	case !IsName(e.Name):
		return fmt.Errorf("the name %.80q is not of a-z, 0-9, and . _ - between them, at most %d", e.Name, maxName)
	case !isVersion(e.Version):
		return fmt.Errorf("the version %.80q is not 1 to %d characters without blanks", e.Version, maxVersion)
	case !digestPattern.MatchString(e.Digest):
		return fmt.Errorf("the digest %.80q is not sha256: and 64 digits", e.Digest)
	case !filePattern.MatchString(e.File):
		return fmt.Errorf("the file %.80q is not one of the folder %s", e.File, cardsFolder)
	}
	return nil
}

// NotFoundError says that a catalog has no such card.
type NotFoundError struct {
	Ref   Ref
	Where string
	Hint  string
}

// Error says what there is instead.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no card %s is in the catalog %s (%s)", e.Ref, e.Where, e.Hint)
}

// find returns the entry that a reference means.
func (x *Index) find(r Ref, where string) (Entry, error) {
	versions := x.Versions(r.Name)
	switch {
	case len(versions) == 0:
		return Entry{}, &NotFoundError{Ref: r, Where: where, Hint: cmp.Or(suggest.Key(r.Name, x.names()), "it is empty")}
	case r.Version == "":
		return versions[0], nil
	}
	if i := slices.IndexFunc(versions, func(e Entry) bool { return e.Version == r.Version }); i >= 0 {
		return versions[i], nil
	}
	have := make([]string, 0, 5)
	for _, e := range versions[:min(len(versions), cap(have))] {
		have = append(have, e.Version)
	}
	return Entry{}, &NotFoundError{Ref: r, Where: where, Hint: "it has " + strings.Join(have, ", ")}
}

// names returns the names of all cards, each once.
func (x *Index) names() (list []string) {
	for i := range x.Cards {
		list = append(list, x.Cards[i].Name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Versions returns the cards of a name, the newest first: by their semantic versions; those without one are older than
// those with one, and in the order in which they were added.
func (x *Index) Versions(name string) (list []Entry) {
	for i := range x.Cards {
		if x.Cards[i].Name == name {
			list = append(list, x.Cards[i])
		}
	}
	slices.Reverse(list) // equal ones: what was added last is first
	slices.SortStableFunc(list, func(a, b Entry) int { return semver.Compare(semantic(b.Version), semantic(a.Version)) })
	return list
}

// semantic is a version as package semver reads it.
func semantic(version string) string { return "v" + strings.TrimPrefix(version, "v") }

// Newest returns the newest card of each name, by their names.
func (x *Index) Newest() (list []Entry) {
	for _, name := range x.names() {
		list = append(list, x.Versions(name)[0])
	}
	return list
}

// All returns all cards by their names, of each the newest first.
func (x *Index) All() (list []Entry) {
	for _, name := range x.names() {
		list = append(list, x.Versions(name)...)
	}
	return list
}

// errFull says that a catalog cannot grow.
var errFull = errors.New("the catalog is full")

// write returns the text of the index.
func (x *Index) write() ([]byte, error) {
	if len(x.Cards) > maxEntries {
		return nil, fmt.Errorf("%w: it would have more than %d cards", errFull, maxEntries)
	}
	x.Format = format
	if x.Cards == nil {
		x.Cards = []Entry{}
	}
	src, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the index: %w", err)
	}
	if len(src) > maxIndex {
		return nil, fmt.Errorf("%w: its index would have more than %d bytes", errFull, maxIndex)
	}
	return append(src, '\n'), nil
}
