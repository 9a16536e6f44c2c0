package generator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/remote"
	"github.com/a2agen/a2agen/spec"
)

// Fetched is a definition that an update fetched and that is not the one that was kept before.
type Fetched struct {
	Protocol string `json:"protocol"` // version
	URL      string `json:"url"`
	File     string `json:"file"` // where it is kept
	// Compared reports whether there was one before, which the changes are to.
	Compared bool          `json:"compared"`
	Changes  []spec.Change `json:"changes,omitempty"`
}

const updateProtocol = "run a2agen update protocol"

// readKept reads a definition that was fetched, and adds its digest and its file to l; there is no network here. One that
// is not the pinned one is refused: generating never moves a pin.
func (g *generation) readKept(v config.Protocol, l *loaded) (*spec.Document, diag.List) {
	var list diag.List
	file, src, err := firstOf(g.open, v.Kept())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		list.Errorf(v.Pos, "no-definition", updateProtocol+" to fetch it", "the definition of version %q is not there: %s", v.Version, strings.Join(v.Kept(), " or "))
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
	return readAlone(file, v, src)
}

// firstOf reads the first of the files that is there.
func firstOf(open func(string) ([]byte, error), names []string) (file string, src []byte, err error) {
	for _, file = range names {
		if src, err = open(file); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return file, src, err
}

// readAlone reads a definition that came over the network: nothing beside it was fetched, so it imports nothing.
func readAlone(file string, v config.Protocol, src []byte) (*spec.Document, diag.List) {
	var beside nothing
	doc, list := spec.ReadIn(file, src, &beside)
	if list.HasErrors() && len(beside.missed) > 0 {
		list = nil
		for _, name := range beside.missed {
			list.Errorf(diag.Pos{File: file}, "import", "keep it and what it imports as files in the project, and write file: instead of url:",
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

// definitions are what an update fetched.
type definitions struct {
	over     map[string][]byte // contents by path, nil where a file goes
	fetched  []Fetched
	problems diag.List
}

// fetchDefinitions fetches the definitions that the configuration names by URL, and compares them with the kept ones. It
// writes nothing. A configuration with mistakes names none: generating reports them.
func (p *project) fetchDefinitions(ctx context.Context, allowPrivate bool) (definitions, error) {
	d := definitions{over: map[string][]byte{}}
	src, err := p.ReadFile(config.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	cfg, list := config.Read(config.File, src)
	if list.HasErrors() {
		return d, nil
	}
	for _, v := range cfg.Protocol {
		if v.URL == "" {
			continue
		}
		src, _, err := remote.Get(ctx, v.URL, remote.Options{AllowPrivate: allowPrivate})
		if err != nil {
			return d, fmt.Errorf("the definition of version %q: %w", v.Version, err)
		}
		if err := p.compareDefinition(v, src, &d); err != nil {
			return d, err
		}
	}
	return d, nil
}

// compareDefinition reads what was fetched and says how it differs from what is kept.
func (p *project) compareDefinition(v config.Protocol, src []byte, d *definitions) error {
	file := keptAs(v, src)
	doc, list := readAlone(file, v, src)
	for i := range list {
		list[i].Pos.File = v.URL // it is not kept yet
	}
	d.problems.Add(list...)
	if list.HasErrors() {
		return nil
	}
	for _, name := range v.Kept() {
		d.over[name] = nil
	}
	d.over[file] = src
	oldFile, old, err := firstOf(p.ReadFile, v.Kept())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && oldFile == file && output.Digest(old) == output.Digest(src) {
		return nil
	}
	f := Fetched{Protocol: v.Version, URL: v.URL, File: file}
	if err == nil {
		if before, list := readAlone(oldFile, v, old); !list.HasErrors() {
			f.Compared, f.Changes = true, spec.Diff(before, doc)
		}
	}
	d.fetched = append(d.fetched, f)
	return nil
}

// keptAs is the path under which a fetched definition is kept: its ending is that of the URL, or fits the content.
func keptAs(v config.Protocol, src []byte) string {
	proto, schema := v.Kept()[0], v.Kept()[1]
	if u, err := url.Parse(v.URL); err == nil {
		switch strings.ToLower(path.Ext(u.Path)) {
		case ".proto":
			return proto
		case ".json":
			return schema
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) {
		return schema
	}
	return proto
}
