package generator

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	a2agen "github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
)

// loaded is the lowered protocol with the digests of its definitions and the files that hold those that were fetched.
type loaded struct {
	protocol *ir.Protocol
	digests  map[string]string
	kept     []output.File
	carried  string // the folder of the carried package that is the one the project needs; "" when it is emitted
	// relations are asked for by inspection.
	relations []*lower.Alignment
}

// noOperations is what reading says of a schema that was made from a proto: lowering takes the operations of 1.0.
const noOperations = "no-operations"

// loadProtocol reads and lowers the definitions of the versions: those that ship, the project's own files, and what
// was fetched once.
func (g *generation) loadProtocol(c *config.Config) (loaded, diag.List) {
	sums, list := digests(c.Protocol)
	if list.HasErrors() {
		return loaded{digests: sums}, list
	}
	l := loaded{digests: sums}
	var docs []*spec.Document
	for _, v := range c.Protocol {
		var doc *spec.Document
		var problems diag.List
		if v.URL == "" {
			doc, problems = g.readDefinition(v)
		} else {
			doc, problems = g.readKept(v, &l)
		}
		list.Add(slices.DeleteFunc(problems, func(d diag.Diagnostic) bool { return d.Code == noOperations })...)
		docs = append(docs, doc)
	}
	if list.HasErrors() {
		return l, list
	}
	p, problems := lower.Protocol(docs)
	list.Add(problems...)
	l.protocol = p
	if list.HasErrors() {
		return l, list
	}
	list.Add(addEncodings(p, c)...)
	if g.Whole && c.HasOwnDefinition() {
		l.relations, _ = lower.Relations(docs) // its problems are those of lowering
	}
	return l, list
}

// addEncodings adds the wires of the encodings that the bindings need, and of those that the configuration lists. A listed
// one that no version has is a mistake.
func addEncodings(p *ir.Protocol, c *config.Config) (list diag.List) {
	lower.AddWires(p, encodings(c)...)
	for _, e := range c.Encodings {
		encoding := ir.Encoding(e.Name)
		has := func(w *ir.Wire) bool { return w.Encoding == encoding }
		if !slices.ContainsFunc(p.Versions, func(v *ir.Version) bool { return slices.ContainsFunc(v.Wires, has) }) {
			hint := fmt.Sprintf("protojson is for %s, and proto for %s and definitions of your own in .proto files",
				quoted(lower.WithWire(ir.ProtoJSON)), quoted(lower.WithWire(ir.Proto)))
			list.Errorf(e.Pos, "no-wire", hint, "none of the versions has the encoding %q", e.Name)
		}
	}
	return list
}

func quoted(versions []string) string { return `"` + strings.Join(versions, `", "`) + `"` }

// readDefinition reads the definition of one version. With errors in the list there is none.
func (g *generation) readDefinition(v config.Protocol) (*spec.Document, diag.List) {
	var list diag.List
	if v.File == "" {
		doc, err := spec.Shipped(v.Version)
		if err != nil {
			list.Errorf(diag.Pos{File: config.File}, "unknown-version", "", "%v", err)
		}
		return doc, list
	}
	src, err := g.open(v.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		list.Errorf(v.Pos, "no-definition", "", "the definition of version %q is not there: %s", v.Version, v.File)
		return nil, list
	case err != nil:
		list.Errorf(v.Pos, "unreadable", "", "the definition of version %q: %v", v.Version, err)
		return nil, list
	}
	doc, list := spec.ReadIn(v.File, src, folder{g, path.Dir(v.File)})
	if doc != nil {
		doc.Version = v.Version
	}
	return doc, list
}

// folder is a folder of the project as what stands in it is read: every file is an input.
type folder struct {
	g    *generation
	path string
}

// ReadFile implements [fs.ReadFileFS].
func (f folder) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return f.g.open(path.Join(f.path, name))
}

// Open implements [fs.FS]. Nobody lists the folder or asks for anything but a file's content.
func (folder) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// digests are the digests of the shipped definitions among the versions. A file of the project is an input like
// others, and what was fetched is known when it is read.
func digests(versions []config.Protocol) (map[string]string, diag.List) {
	var list diag.List
	sums := map[string]string{}
	for _, v := range versions {
		if v.File != "" || v.URL != "" {
			continue
		}
		src, err := spec.Source(v.Version)
		if err != nil {
			list.Errorf(diag.Pos{File: config.File}, "unknown-version", "", "%v", err)
			continue
		}
		sums[v.Version] = output.Digest(src)
	}
	return sums, list
}

// movedPins reports the definitions that are not the pinned ones: generating never moves a pin.
func (g *generation) movedPins(digests map[string]string) (list diag.List) {
	for _, v := range slices.Sorted(maps.Keys(digests)) {
		if pin := g.ProtocolPins[v]; pin != "" && pin != digests[v] {
			list.Errorf(diag.Pos{File: config.File}, "pin", updateProtocol+" to take it over",
				"the definition of protocol %s is not the one that is pinned in %s", v, output.LockName)
		}
	}
	return list
}

// The tool carries emitted protocol packages, made by internal/regen and held fresh by a test. Most projects want
// exactly one of them, or import one; reading the definitions and emitting the package anew would be more than half
// of a run.
const carriedName = "a2a"

// Carried is a protocol package that the tool carries.
type Carried struct {
	Folder    string // in this module
	Versions  []string
	Encodings []ir.Encoding // beside the JSON of JSON-RPC
}

// CarriedPackages are the carried packages: that of an agent that does not say which versions it speaks, and that of a new
// one, both in the encodings of the bindings that an agent has by default.
func CarriedPackages() []Carried {
	return []Carried{
		{"a2a", []string{spec.Default}, nil},
		{"internal/fresh/a2a", spec.Fresh(), []ir.Encoding{ir.ProtoJSON}},
	}
}

// carriedBindings are the types of the carried package that the agent's packages name.
var carriedBindings = ir.Bindings{Task: &ir.Type{Go: "Task"}, Message: &ir.Type{Go: "Message"},
	AgentCard: &ir.Type{Go: "AgentCard"}}

// carried returns the folder of the carried package that is the one of the configuration, "" when there is none.
func carried(c *config.Config) string {
	own := c.ProtocolImport == ""
	if own && path.Base(c.Packages.Protocol) != carriedName {
		return ""
	}
	for _, p := range CarriedPackages() {
		if slices.Equal(c.Versions(), p.Versions) && (!own || slices.Equal(shippedWires(c), p.Encodings)) {
			return p.Folder
		}
	}
	return ""
}

// readProtocol reads and lowers the definitions of a protocol package, as far as anybody asks for them: what the project's own
// agent speaks, and what the package has.
func (g *generation) readProtocol(own, whole *config.Config) (l loaded, list diag.List) {
	folder := ""
	if len(own.Protocol) == len(whole.Protocol) {
		folder = carried(whole)
	}
	if g.Whole || folder == "" {
		l, list = g.loadProtocol(whole)
		l.carried = folder
		if l.protocol != nil {
			for _, v := range l.protocol.Versions {
				v.ClientsOnly = !slices.Contains(own.Versions(), v.Name)
			}
		}
		return l, list
	}
	l = loaded{protocol: &ir.Protocol{Bindings: carriedBindings, ClientMethods: carriedMethods(folder)}, carried: folder}
	l.digests, list = digests(whole.Protocol)
	return l, list
}

// clientMethod is how the file of a protocol's client declares a method.
var clientMethod = regexp.MustCompile(`(?m)^func \(c \*Client\) (\w+)\(`)

// carriedMethods are the names of the methods of a carried package's client, as its text declares them.
func carriedMethods(folder string) (list []string) {
	files, err := a2agen.ProtocolPackage(folder)
	if err != nil {
		return nil // emitting says so
	}
	for _, m := range clientMethod.FindAllSubmatch(files[emit.ProtocolClientFile], -1) {
		list = append(list, string(m[1]))
	}
	return list
}

// carriedPackage returns the files of a carried package for a project that imports it by importPath, with the paths that
// emit gives them.
func carriedPackage(folder, importPath string) ([]output.File, error) {
	texts, err := a2agen.ProtocolPackage(folder)
	if err != nil {
		return nil, err
	}
	client := texts[emit.ProtocolClientFile]
	client = bytes.Replace(client, []byte(`"`+path.Join(a2agen.Module, carriedName)+`"`), []byte(`"`+importPath+`"`), 1)
	if texts[emit.ProtocolClientFile], err = format.Source(client); err != nil { // it sorts the imports
		return nil, err
	}
	files := make([]output.File, 0, len(texts))
	for name, data := range texts {
		files = append(files, output.File{Path: path.Join(carriedName, name), Kind: output.Owned, Data: data})
	}
	return files, nil
}
