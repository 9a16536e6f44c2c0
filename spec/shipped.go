package spec

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

//go:embed v*/a2a.*
var shipped embed.FS

// definitions are the shipped protocol definitions, newest first. This is their only list: a version is added by its folder, a line
// here and, if a schema defines it, its alignment in generator/lower/align. The first file of a version is what it is defined by; a
// version defined by a schema may have a proto for its other bindings.
var definitions = []struct {
	version string
	paths   []string
}{
	{"1.0", []string{"v1.0/a2a.proto"}},
	{"0.3", []string{"v0.3/a2a.json", "v0.3/a2a.proto"}},
	{"0.2", []string{"v0.2/a2a.json", "v0.2/a2a.proto"}},
	{"0.1", []string{"v0.1/a2a.json"}},
}

// drafts are the definitions of versions that are not released yet. Only who lists one speaks it, and none is among
// [Versions]: when it is released, its line goes to definitions, under the name of the release.
var drafts = []struct {
	version string
	paths   []string
}{
	{"1.1-draft", []string{"v1.1-draft/a2a.proto"}},
}

// Drafts returns the drafts of versions whose definitions ship with a2agen, newest first.
func Drafts() []string {
	vs := make([]string, len(drafts))
	for i, d := range drafts {
		vs[i] = d.version
	}
	return vs
}

// Versions returns the versions whose definitions ship with a2agen, newest first.
func Versions() []string {
	vs := make([]string, len(definitions))
	for i, d := range definitions {
		vs[i] = d.version
	}
	return vs
}

// Default is the version that a project speaks which does not say, and that of package a2a. A newer one that ships does not
// move it: agents would no longer speak what their callers do.
const Default = "1.0"

// Fresh returns the versions that a new agent speaks, newest first: most callers are still of 0.3. Projects that do not say speak
// [Default] alone, so that a newer tool switches nothing on.
func Fresh() []string { return []string{Default, "0.3"} }

// Hubs returns the versions whose definition can give the Go types, newest first: those that a proto defines, drafts among
// them.
func Hubs() []string {
	var vs []string
	for _, d := range slices.Concat(drafts, definitions) {
		if path.Ext(d.paths[0]) == ".proto" {
			vs = append(vs, d.version)
		}
	}
	return vs
}

// protoOf is what follows a version whose proto is meant, although a schema defines it: "0.3/proto".
const protoOf = "/proto"

// References returns the names of the shipped definitions, newest first: the drafts, the shipped versions, and the protos of those
// that are defined by a schema.
func References() []string {
	var refs []string
	for _, d := range slices.Concat(drafts, definitions) {
		refs = append(refs, d.version)
		if len(d.paths) > 1 {
			refs = append(refs, d.version+protoOf)
		}
	}
	return refs
}

// Named returns the shipped definition that one of [References] names.
func Named(ref string) (*Document, error) {
	version, proto := strings.CutSuffix(ref, protoOf)
	if proto {
		return ShippedProto(version)
	}
	return Shipped(ref)
}

// Shipped returns the shipped definition of a version or draft, such as "1.0": of 1.0 the proto, of earlier versions the schema of
// their JSON. The error of an unknown version lists the known ones.
func Shipped(version string) (*Document, error) {
	paths, err := shippedFiles(version)
	if err != nil {
		return nil, err
	}
	return readShipped(version, paths[0])
}

// ShippedProto returns the shipped proto of a version, which has its gRPC and HTTP bindings. 0.1 has none: the document is
// nil.
func ShippedProto(version string) (*Document, error) {
	paths, err := shippedFiles(version)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if path.Ext(p) == ".proto" {
			return readShipped(version, p)
		}
	}
	return nil, nil
}

func shippedFiles(version string) ([]string, error) {
	for _, d := range slices.Concat(drafts, definitions) {
		if d.version == version {
			return d.paths, nil
		}
	}
	return nil, fmt.Errorf("no definition of A2A version %q ships with a2agen; there is %s", version, strings.Join(Versions(), ", "))
}

func readShipped(version, file string) (*Document, error) {
	src, err := fs.ReadFile(shipped, file)
	if err != nil {
		return nil, fmt.Errorf("read the definition of A2A %s: %w", version, err)
	}
	read := func(name string, src []byte) (*Document, diag.List) { return readProto(name, src, shipped) }
	if path.Ext(file) == ".json" {
		read = readSchema
	}
	doc, problems := read("a2agen:spec/"+file, src)
	if problems.HasErrors() {
		return nil, fmt.Errorf("read the definition of A2A %s: %s", version, problems[0])
	}
	doc.Version = version
	return doc, nil
}
