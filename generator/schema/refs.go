package schema

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

func readRef(c *compiler, s *schema, _, v *yaml.Node) {
	s.ref = &reference{}
	if text := c.text(s, v); text != "" {
		s.ref.target = c.lookup(s.doc, v, text, s)
	} else if yamlx.IsText(v) {
		s.ref.target = c.lookup(s.doc, v, "#", s)
	}
	if s.ref.target != nil {
		s.ref.target.target = true
	}
}

// mapped resolves one value of a discriminator's mapping: a reference, or the bare name of a definition.
func (c *compiler) mapped(s *schema, n *yaml.Node, text string) *schema {
	if text == "" {
		return nil
	}
	if !strings.ContainsAny(text, "#/.") {
		for _, defs := range []string{"$defs", "definitions"} {
			if node := yamlx.Get(yamlx.Get(s.doc.root, defs), text); node != nil {
				return c.read(s.doc, join("", defs, text), node)
			}
		}
	}
	return c.lookup(s.doc, n, text, s)
}

// lookup finds the schema that ref, written at n of doc, points to. Nil after an error.
func (c *compiler) lookup(doc *document, n *yaml.Node, ref string, from *schema) *schema {
	file, fragment, _ := strings.Cut(ref, "#")
	c.indexDocument(doc)
	target, in := doc, doc.resources[0]
	if from != nil {
		best := doc.resources[0]
		for _, r := range doc.resources[1:] {
			if len(r.ptr) > len(best.ptr) && (from.ptr == r.ptr || strings.HasPrefix(from.ptr, r.ptr+"/")) {
				best = r
			}
		}
		in = best
	}
	if file != "" {
		named, ok := doc.resourceNamed(in, file)
		if in = named; !ok {
			if target = c.file(doc, n, file); target == nil {
				return nil
			}
			c.indexDocument(target)
			in = target.resources[0]
		}
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		c.errorf(doc, n, "bad-reference", "", "%q is not a valid reference", short(ref))
		return nil
	}
	if fragment == "" || fragment[0] == '/' {
		if in.ptr != "" && !target.has(in.ptr+fragment) && target.has(fragment) {
			return c.pointer(target, doc, n, fragment) // as readers do that give a nested $id no meaning
		}
		return c.pointer(target, doc, n, in.ptr+fragment)
	}
	ptr, ok := target.anchorNamed(in, fragment)
	if !ok {
		c.errorf(doc, n, "bad-reference", "write a JSON pointer (#/$defs/…) or the name of an $anchor",
			"no $anchor %q in %s", short(fragment), target.file)
		return nil
	}
	return c.pointer(target, doc, n, ptr)
}

// has reports whether there is something at a JSON pointer.
func (d *document) has(ptr string) bool {
	node := d.root
	for _, raw := range strings.Split(ptr, "/")[1:] {
		if node, _ = step(node, unescape.Replace(raw)); node == nil {
			return false
		}
	}
	return true
}

// unescape undoes the escapes of a JSON pointer.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// escape makes them.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the schema at a JSON pointer of target; doc and n say where it is asked for.
func (c *compiler) pointer(target, doc *document, n *yaml.Node, ptr string) *schema {
	node := target.root
	tokens := strings.Split(ptr, "/")[1:]
	if ptr == "" {
		tokens = nil
	}
	at := ""
	for _, raw := range tokens {
		token := unescape.Replace(raw)
		next, hint := step(node, token)
		if next == nil {
			if at == "" && target == doc && suggest.Nearest(token, rootKeys(node)) == "" {
				hint = "# is the root of this schema: put $defs beside its type, or name a file"
			}
			c.errorf(doc, n, "bad-reference", hint, "nothing at %q in %s", short("#"+at+"/"+raw), target.file)
			return nil
		}
		node, at = next, join(at, token)
	}
	return c.read(target, at, node)
}

// rootKeys are the keys of a document's root that hold more than a keyword's value.
func rootKeys(n *yaml.Node) []string {
	var keys []string
	for k, v := range yamlx.Pairs(n) {
		if v.Kind == yaml.MappingNode {
			keys = append(keys, k.Value)
		}
	}
	return keys
}

// step goes one token of a JSON pointer down, or says what there is instead.
func step(n *yaml.Node, token string) (next *yaml.Node, hint string) {
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], ""
		}
		return nil, ""
	}
	if next = yamlx.Get(n, token); next != nil {
		return next, ""
	}
	var known []string
	for k := range yamlx.Pairs(n) {
		known = append(known, k.Value)
	}
	return nil, suggest.Key(token, known)
}

// file opens the document that a relative reference in doc names. Nil after an error.
func (c *compiler) file(doc *document, n *yaml.Node, ref string) *document {
	name, err := url.PathUnescape(ref)
	if err != nil || strings.ContainsAny(name, "\\\x00\n\r") {
		c.errorf(doc, n, "bad-reference", "use forward slashes", "%q is not a valid file reference", short(ref))
		return nil
	}
	if strings.Contains(name, "://") || strings.HasPrefix(name, "//") || strings.HasPrefix(name, "urn:") {
		hint := "save the schema beside agent.yaml and refer to the file"
		if c.open == nil {
			hint = "put the definition under $defs"
		}
		c.errorf(doc, n, "remote-reference", hint, "%q: schemas are not fetched from the network", short(ref))
		return nil
	}
	full := path.Join(path.Dir(doc.file), name)
	if path.IsAbs(name) || full == ".." || strings.HasPrefix(full, "../") || len(name) > 1 && name[1] == ':' {
		c.errorf(doc, n, "outside-project", "copy the schema into the project and refer to it by a relative path",
			"%q leads out of the project", short(ref))
		return nil
	}
	if d, ok := c.files[full]; ok {
		return d
	}
	c.files[full] = nil // reported once
	if c.open == nil {
		c.errorf(doc, n, "bad-reference", "put the definition under $defs", "%q: this schema cannot refer to files",
			short(ref))
		return nil
	}
	data, err := c.open(full)
	if err != nil {
		c.errorf(doc, n, "unreadable-file", "paths are relative to the file that holds the reference",
			"reading %q: %v", short(full), reason(err))
		return nil
	}
	root, problems := yamlx.Parse(full, data)
	c.list.Add(problems...)
	if root == nil || problems.HasErrors() {
		return nil
	}
	c.files[full] = newDocument(full, root, false)
	return c.files[full]
}

// reason is why a file cannot be read, without its name.
func reason(err error) error {
	var where *fs.PathError
	if errors.As(err, &where) {
		return where.Err
	}
	return err
}
