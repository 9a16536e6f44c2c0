package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// resource is a schema of a document that references can name: the root, or one with an $id.
type resource struct {
	ptr string   // JSON pointer of the schema
	uri *url.URL // its $id, resolved against that of what is around it; nil for a root without one
}

// anchor is an $anchor, or the $id "#name" of draft 7 and before.
type anchor struct{ ptr, resource, name string }

// indexDocument finds the resources and anchors of a document, once.
func (c *compiler) indexDocument(doc *document) {
	if doc.resources == nil {
		doc.resources = []resource{{}}
		c.index(doc, doc.root, "", 0)
	}
}

// index looks through the node at ptr, which belongs to the resource with the number in.
func (c *compiler) index(doc *document, n *yaml.Node, ptr string, in int) {
	for i, item := range yamlx.Items(n) {
		c.index(doc, item, ptr+"/"+strconv.Itoa(i), in)
	}
	id := yamlx.Text(yamlx.Get(n, doc.idKey()))
	if doc.refAlone(n) {
		id = ""
	}
	if strings.HasPrefix(id, "#") && ptr != "" {
		doc.anchors = append(doc.anchors, anchor{ptr, doc.resources[in].ptr, id[1:]})
	} else if u, err := resolve(doc.resources[in].uri, strings.TrimSuffix(id, "#")); id != "" && err == nil {
		if ptr != "" {
			in = len(doc.resources)
			doc.resources = append(doc.resources, resource{ptr: ptr})
		}
		doc.resources[in].uri = u
	}
	for k, v := range yamlx.Pairs(n) {
		switch {
		case k.Value == "$anchor" && yamlx.IsText(v):
			a := anchor{ptr, doc.resources[in].ptr, v.Value}
			if slices.ContainsFunc(doc.anchors,
				func(o anchor) bool { return o.name == a.name && o.resource == a.resource }) {
				c.errorf(doc, v, "duplicate-anchor", "", "$anchor %q is declared twice", short(v.Value))
			}
			doc.anchors = append(doc.anchors, a)
		case !isData(k.Value):
			c.index(doc, v, join(ptr, k.Value), in)
		}
	}
}

// resolve reads a URI reference against its base, which may be nil.
func resolve(base *url.URL, ref string) (*url.URL, error) {
	if base == nil {
		return url.Parse(ref)
	}
	return base.Parse(ref)
}

// resourceNamed returns the resource of d that ref, written in the resource from, names by its $id.
func (d *document) resourceNamed(from resource, ref string) (resource, bool) {
	u, err := resolve(from.uri, ref)
	if err != nil {
		return resource{}, false
	}
	i := slices.IndexFunc(d.resources, func(r resource) bool { return r.uri != nil && r.uri.String() == u.String() })
	if i < 0 {
		return resource{}, false
	}
	return d.resources[i], true
}

// anchorNamed returns the JSON pointer of an anchor: that of the resource, else the only one of the document.
func (d *document) anchorNamed(r resource, name string) (string, bool) {
	var elsewhere []string
	for _, a := range d.anchors {
		switch {
		case a.name != name:
		case a.resource == r.ptr:
			return a.ptr, true
		default:
			elsewhere = append(elsewhere, a.ptr)
		}
	}
	if len(elsewhere) != 1 {
		return "", false
	}
	return elsewhere[0], true
}
