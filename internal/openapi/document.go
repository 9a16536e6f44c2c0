// Package openapi reads operations of OpenAPI documents, 3.0 and 3.1, as skills: each with one JSON Schema for its input
// and one for its output, and with what a handler needs to call it.
//
// A document is somebody else's. Only what is chosen is read: the operations that are named, and what they refer to
// inside the document. Nothing is fetched, sizes and depths are bounded, and texts are data.
package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/internal/contract"
	"github.com/a2agen/a2agen/runtime/wire"
)

// MaxBytes is the size of the largest document in JSON; one in YAML has at most [yamlx.MaxBytes].
const MaxBytes = 16 << 20

// Document is an OpenAPI document.
type Document struct {
	File    string // for messages
	Title   string
	Version string // of OpenAPI: "3.0.3"

	src   []byte
	root  map[string]any // numbers are json.Number
	nodes *yaml.Node     // nil: not parsed yet, or too large
}

// Read reads a document, JSON or YAML.
func Read(file string, src []byte) (*Document, diag.List) {
	d := &Document{File: file, src: src}
	var list diag.List
	text := src
	switch {
	case len(src) > MaxBytes:
		list.Errorf(diag.Pos{File: file}, "too-large", "",
			"the document has %d bytes, more than the %d that are read", len(src), MaxBytes)
		return nil, list
	case !strings.HasPrefix(strings.TrimLeft(string(src[:min(len(src), 1000)]), "\ufeff \t\r\n"), "{"):
		if len(src) > yamlx.MaxBytes {
			list.Errorf(diag.Pos{File: file}, "too-large", "convert it to JSON first",
				"the document has %d bytes, more than the %d of YAML that are read", len(src), yamlx.MaxBytes)
			return nil, list
		}
		if d.nodes, list = yamlx.Parse(file, src); d.nodes == nil || list.HasErrors() {
			return nil, list
		}
		text = yamlx.JSON(d.nodes)
	}
	if _, err := wire.ParseObject(bytes.TrimPrefix(text, []byte("\ufeff"))); err != nil {
		list.Errorf(diag.Pos{File: file}, "syntax", "", "the document cannot be read: %v", err)
		return nil, list
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	dec.UseNumber()
	if err := dec.Decode(&d.root); err != nil {
		list.Errorf(diag.Pos{File: file}, "syntax", "", "the document cannot be read: %v", err)
		return nil, list
	}
	return d, d.begin()
}

// begin checks that it is a document of a known version.
func (d *Document) begin() (list diag.List) {
	d.Version, _ = d.root["openapi"].(string)
	info, _ := d.root["info"].(map[string]any)
	d.Title, _ = info["title"].(string)
	switch {
	case d.root["swagger"] != nil:
		list.Errorf(d.pos("swagger"), "version", "convert it to OpenAPI 3 first, with one of the converters for it",
			"this is a document of Swagger 2.0")
	case !strings.HasPrefix(d.Version, "3.0") && !strings.HasPrefix(d.Version, "3.1"):
		list.Errorf(d.pos("openapi"), "version", "",
			"this is no document of OpenAPI 3.0 or 3.1 (openapi is %.40q)", d.Version)
	}
	return list
}

// pos is where something is in the document, as far as that is known.
func (d *Document) pos(path ...string) diag.Pos {
	if d.nodes == nil {
		d.nodes, _ = yamlx.Parse(d.File, d.src)
	}
	at := diag.Pos{File: d.File}
	n := d.nodes
	for _, step := range path {
		if n == nil {
			return at
		}
		if n.Kind == yaml.SequenceNode {
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(n.Content) {
				return at
			}
			n = n.Content[i]
			at = yamlx.Pos(d.File, n)
			continue
		}
		k, v := yamlx.Pair(n, step)
		if k == nil {
			return at
		}
		at, n = yamlx.Pos(d.File, k), v
	}
	return at
}

// object is a member of a map that is a map; nil if it is none.
func object(v any, name string) map[string]any {
	m, _ := v.(map[string]any)
	o, _ := m[name].(map[string]any)
	return o
}

func list(v any, name string) []any {
	m, _ := v.(map[string]any)
	l, _ := m[name].([]any)
	return l
}

func text(v any, name string) string {
	m, _ := v.(map[string]any)
	s, _ := m[name].(string)
	return s
}

// maxHops is how many references are followed to one value.
const maxHops = 50

// deref follows the references of a value inside the document, and returns the path of what it is.
func (d *Document) deref(v any) (any, error) {
	for range maxHops {
		ref := text(v, "$ref")
		if ref == "" {
			return v, nil
		}
		var err error
		if v, err = d.lookup(ref); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("a $ref leads in a circle")
}

// lookup returns what a reference names.
func (d *Document) lookup(ref string) (any, error) {
	path, err := pointer(ref)
	if err != nil {
		return nil, err
	}
	var v any = d.root
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			next, has := in[step]
			if !has {
				return nil, fmt.Errorf("the $ref %.200q leads nowhere", ref)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil, fmt.Errorf("the $ref %.200q leads nowhere", ref)
			}
			v = in[i]
		default:
			return nil, fmt.Errorf("the $ref %.200q leads nowhere", ref)
		}
	}
	return v, nil
}

// pointer returns the steps of a reference inside the document.
func pointer(ref string) ([]string, error) {
	rest, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil, fmt.Errorf("the $ref %.200q leads out of the document: "+
			"put everything into one document first (tools call it bundling)", ref)
	}
	steps := strings.Split(rest, "/")
	for i, s := range steps {
		if un, err := unescapeURL(s); err == nil {
			s = un
		}
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return steps, nil
}

// methods are the HTTP methods of operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// found is an operation of the document, by where it is.
type found struct {
	id           string // its operationId; "" if it has none
	path, method string
	tags         []string
}

// skillID makes a skill's id of an operation's: "repos/get" is repos_get, and "GET /pets/{id}" is get_pets_id.
func skillID(f found) string { return contract.SkillID(cmp.Or(f.id, f.method+f.path)) }

// name is how messages call it, and how it can be asked for without an operationId.
func (f found) name() string { return cmp.Or(f.id, f.route()) }

func (f found) route() string { return strings.ToUpper(f.method) + " " + f.path }

// all returns the operations of the document, by their paths.
func (d *Document) all() (list []found) {
	paths := object(d.root, "paths")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range methods {
			op := object(paths[path], method)
			if op == nil {
				continue
			}
			list = append(list, found{id: text(op, "operationId"), path: path, method: method, tags: tagsOf(op)})
		}
	}
	return list
}

func tagsOf(op map[string]any) (tags []string) {
	for _, t := range list(op, "tags") {
		if s, is := t.(string); is && s != "" {
			tags = append(tags, s)
		}
	}
	return tags
}
