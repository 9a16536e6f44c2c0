package disk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/output"
)

// lockFormat is the version of the lock's own shape. A tool refuses a lock of a later one.
const lockFormat = 1

// Lock is what a2agen.lock pins: everything the generated files depend on, and the files themselves.
// All digests are "sha256:" and 64 hex digits, of content with line ends normalised to \n (git may change them).
type Lock struct {
	Format int    `yaml:"lock"`
	Tool   string `yaml:"tool"`             // the tool's version, "devel" when it was not released
	Module string `yaml:"module,omitempty"` // module path of the project
	// Bindings are those in which the agent was served when nobody said: "JSONRPC, HTTP+JSON"; or "a2agen.yaml", which says them. ""
	// in locks of older tools, and without an agent.
	Bindings string `yaml:"bindings,omitempty"`
	// Protocols are the digests of the protocol definitions by version: "1.0".
	Protocols map[string]string `yaml:"protocols,omitempty"`
	// Clients are the pinned cards of other agents, by client name.
	Clients map[string]output.ClientPin `yaml:"clients,omitempty"`
	// Inputs are the digests of all files that were read. A file that was looked for in vain has the digest "absent".
	Inputs map[string]string `yaml:"inputs,omitempty"`
	// Files are the digests of the owned files.
	Files map[string]string `yaml:"files,omitempty"`
	// Scaffold are the digests, as the tool wrote them, of the files that are the user's since then: the bases of a
	// merge. One that the user deleted has the digest "absent".
	Scaffold map[string]string `yaml:"scaffold,omitempty"`

	// theirs is set for a lock with the conflict markers of a merge: the other branch's digests of the owned files
	// that both wrote.
	theirs map[string]string
}

// Merging reports whether the lock was read from both sides of a merge.
func (l *Lock) Merging() bool { return l.theirs != nil }

// ParseLock reads a lock, also one with the conflict markers of a merge. It trusts nothing: paths that leave the
// project are refused, as the lock decides which files may be deleted.
func ParseLock(data []byte) (*Lock, error) {
	ours, theirs, conflict := sides(data)
	l, err := parseLock(ours)
	if err != nil || !conflict {
		return l, err
	}
	other, err := parseLock(theirs)
	if err != nil {
		return nil, err
	}
	return l.joined(other), nil
}

func parseLock(data []byte) (*Lock, error) {
	var l Lock
	if err := yaml.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("read %s: %w", output.LockName, err)
	}
	if l.Format < 1 || l.Format > lockFormat {
		return nil, fmt.Errorf("read %s: format %d is not known to this version of a2agen", output.LockName, l.Format)
	}
	for _, files := range []map[string]string{l.Files, l.Scaffold} {
		for name := range files {
			if err := output.CheckPath(name); err != nil {
				return nil, fmt.Errorf("read %s: %w", output.LockName, err)
			}
		}
	}
	for name, c := range l.Clients {
		for _, p := range []string{c.Out, c.Card} {
			if err := output.CheckPath(p); err != nil {
				return nil, fmt.Errorf("read %s: client %q: %w", output.LockName, name, err)
			}
		}
	}
	return &l, nil
}

const lockHead = `# Written by a2agen: what the generated files were made from and what they are. Commit it; do not edit it.
# After a merge, conflicts in it included, run "a2agen generate": it reads both sides.
`

// Bytes renders the lock. Equal locks give equal bytes; every entry is a line of its own, so that merges go well.
func (l *Lock) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(lockHead)
	fmt.Fprintf(&b, "lock: %d\ntool: %s\n", lockFormat, scalar(l.Tool))
	if l.Module != "" {
		fmt.Fprintf(&b, "module: %s\n", scalar(l.Module))
	}
	if l.Bindings != "" {
		fmt.Fprintf(&b, "bindings: %s\n", scalar(l.Bindings))
	}
	writeMap(&b, "protocols", l.Protocols)
	if len(l.Clients) > 0 {
		b.WriteString("clients:\n")
		for _, name := range slices.Sorted(maps.Keys(l.Clients)) {
			c := l.Clients[name]
			fmt.Fprintf(&b, "  %s:\n", scalar(name))
			for _, kv := range [][2]string{{"url", c.URL}, {"out", c.Out}, {"card", c.Card}, {"digest", c.Digest}, {"version", c.Version}, {"key", c.Key}, {"form", c.Form}} {
				if kv[1] != "" {
					fmt.Fprintf(&b, "    %s: %s\n", kv[0], scalar(kv[1]))
				}
			}
		}
	}
	writeMap(&b, "inputs", l.Inputs)
	writeMap(&b, "files", l.Files)
	writeMap(&b, "scaffold", l.Scaffold)
	return b.Bytes()
}

func writeMap(b *bytes.Buffer, name string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", name)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(b, "  %s: %s\n", scalar(k), scalar(m[k]))
	}
}

// plain are the strings that YAML reads as strings without quotes.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./+-]*(:[A-Za-z0-9_./+-]+)*$`)

// words that YAML reads as something else.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// scalar writes a string as YAML. A JSON string is also a YAML one.
func scalar(s string) string {
	if plain.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// clone returns a copy whose maps can be changed; nil maps become empty ones.
func (l *Lock) clone() *Lock {
	c := *l
	for _, m := range []*map[string]string{&c.Protocols, &c.Inputs, &c.Files, &c.Scaffold} {
		*m = maps.Clone(*m)
		if *m == nil {
			*m = map[string]string{}
		}
	}
	c.Clients = maps.Clone(c.Clients)
	if c.Clients == nil {
		c.Clients = map[string]output.ClientPin{}
	}
	return &c
}
