package generator

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
)

const updateProtocol = "run a2agen update protocol"

// readKept reads a definition that was fetched, and adds its digest and its file to l; there is no network here. One
// that is not the pinned one is refused: generating never moves a pin.
func (g *generation) readKept(v config.Protocol, l *loaded) (*spec.Document, diag.List) {
	var list diag.List
	file, src, err := v.ReadKept(g.open)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		list.Errorf(v.Pos, "no-definition", updateProtocol+" to fetch it",
			"the definition of version %q is not there: %s", v.Version, strings.Join(v.Kept(), " or "))
		return nil, list
	case err != nil:
		list.Errorf(v.Pos, "unreadable", "", "the definition of version %q: %v", v.Version, err)
		return nil, list
	}
	sum := output.Digest(src)
	if pin := g.ProtocolPins[v.Version]; pin != "" && pin != sum {
		list.Errorf(diag.Pos{File: file}, "pin", "restore it; or delete it and "+updateProtocol+" to fetch it again", "the definition of protocol %s is not the one that is pinned in %s", v.Version, output.LockName)
		return nil, list
	}
	l.digests[v.Version] = sum
	l.kept = append(l.kept, output.File{Path: file, Data: src})
	return ReadFetched(file, v, src)
}

// ReadFetched reads a definition that came over the network: nothing beside it was fetched, so it imports nothing.
func ReadFetched(file string, v config.Protocol, src []byte) (*spec.Document, diag.List) {
	var beside nothing
	doc, list := spec.ReadIn(file, src, &beside)
	if list.HasErrors() && len(beside.missed) > 0 {
		list = nil
		for _, name := range beside.missed {
			list.Errorf(diag.Pos{File: file}, "import",
				"keep it and what it imports as files in the project, and write file: instead of url:",
				"the definition imports %q; one that is fetched imports nothing but google/api and google/protobuf", name)
		}
	}
	if doc != nil {
		doc.Version = v.Version
	}
	return doc, list
}

// nothing is an empty folder that remembers what was looked for in it.
type nothing struct {
	mu     sync.Mutex
	missed []string
}

// Open implements [fs.FS].
func (n *nothing) Open(name string) (fs.File, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	// The reader asks here first, and has what is missing of google/protobuf itself.
	if !strings.HasPrefix(name, "google/protobuf/") && !slices.Contains(n.missed, name) {
		n.missed = append(n.missed, name)
		slices.Sort(n.missed)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
