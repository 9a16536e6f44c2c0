package openapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/suggest"
)

// MaxOperations is how many operations are imported at once: a model that is offered hundreds of tools uses none well.
const MaxOperations = 30

// choose returns the operations with these ids or routes ("GET /pets"), and those with these tags.
func (d *Document) choose(ids, tags []string) (chosen []found, list diag.List) {
	all := d.all()
	add := func(f found) {
		if !slices.ContainsFunc(chosen, func(c found) bool { return c.route() == f.route() }) {
			chosen = append(chosen, f)
		}
	}
	for _, id := range ids {
		var same []found
		for _, f := range all {
			if f.id == id || strings.EqualFold(f.route(), id) {
				same = append(same, f)
			}
		}
		switch len(same) {
		case 0:
			list.Errorf(d.pos("paths"), "no-operation", suggest.Key(id, namesOf(all)), "no operation is called %.100q", id)
		case 1:
			add(same[0])
		default:
			list.Errorf(d.pos("paths", same[1].path, same[1].method), "duplicate",
				"write "+same[0].route()+" or "+same[1].route(), "several operations are called %.100q", id)
		}
	}
	for _, tag := range tags {
		before := len(chosen)
		for _, f := range all {
			if slices.Contains(f.tags, tag) {
				add(f)
			}
		}
		if len(chosen) == before {
			list.Errorf(d.pos("paths"), "no-tag", suggest.Key(tag, allTags(all)), "no operation has the tag %.100q", tag)
		}
	}
	switch {
	case list.HasErrors():
	case len(chosen) == 0:
		list.Errorf(diag.Pos{File: d.File}, "no-operation", "",
			"say which operations to import, by --operation or --tag: there are %d%s", len(all), some(all))
	case len(chosen) > MaxOperations:
		list.Errorf(diag.Pos{File: d.File}, "too-many", "name those that you need by --operation",
			"that are %d operations, more than %d", len(chosen), MaxOperations)
	}
	return chosen, list
}

// some names the first operations.
func some(all []found) string {
	var names []string
	for _, f := range all[:min(len(all), 10)] {
		names = append(names, f.name())
	}
	if len(names) == 0 {
		return ""
	}
	s := ": " + strings.Join(names, ", ")
	if len(all) > len(names) {
		s += ", …"
	}
	return s
}

func namesOf(all []found) (names []string) {
	for _, f := range all {
		names = append(names, f.name())
	}
	return names
}

func allTags(all []found) (tags []string) {
	for _, f := range all {
		tags = append(tags, f.tags...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// load has the chosen operations resolved, with all that they refer to and nothing else: what is wrong elsewhere in
// the document does not matter.
func (d *Document) load(chosen []found) (*openapi3.T, error) {
	small := map[string]any{"openapi": d.root["openapi"], "info": d.root["info"]}
	for _, key := range []string{"servers", "security"} {
		if v, has := d.root[key]; has {
			small[key] = v
		}
	}
	paths, components := map[string]any{}, map[string]any{}
	if schemes := object(object(d.root, "components"), "securitySchemes"); schemes != nil {
		components["securitySchemes"] = schemes
	}
	small["paths"], small["components"] = paths, components
	c := &copier{d: d, paths: paths, components: components}
	for _, f := range chosen {
		item := object(object(d.root, "paths"), f.path)
		some, _ := paths[f.path].(map[string]any)
		if some == nil {
			some = map[string]any{}
			paths[f.path] = some
		}
		for _, key := range []string{"parameters", "servers", f.method} {
			if v, has := item[key]; has {
				some[key] = v
				c.follow(v)
			}
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	src, err := json.Marshal(small)
	if err != nil {
		return nil, fmt.Errorf("write the operations: %w", err)
	}
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, at *url.URL) ([]byte, error) {
		return nil, fmt.Errorf("%s is outside the document", at.Redacted())
	}
	return loader.LoadFromData(src)
}

// copier copies what operations refer to.
type copier struct {
	d                 *Document
	paths, components map[string]any
	err               error
}

// follow copies what a value refers to, and what that refers to.
func (c *copier) follow(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			c.follow(item)
		}
	case map[string]any:
		if ref, is := v["$ref"].(string); is {
			c.take(ref)
		}
		for _, item := range v {
			c.follow(item)
		}
	}
}

// take copies the component, or the path, in which a reference ends.
func (c *copier) take(ref string) {
	path, err := pointer(ref)
	if err == nil {
		_, err = c.d.lookup(ref)
	}
	switch {
	case c.err != nil:
	case err != nil:
		c.err = err
	case len(path) >= 3 && path[0] == "components":
		kind, _ := c.components[path[1]].(map[string]any)
		if kind == nil {
			kind = map[string]any{}
			c.components[path[1]] = kind
		}
		if _, has := kind[path[2]]; !has {
			kind[path[2]] = object(c.d.root, "components")[path[1]].(map[string]any)[path[2]]
			c.follow(kind[path[2]])
		}
	case len(path) >= 2 && path[0] == "paths":
		whole, have := object(object(c.d.root, "paths"), path[1]), object(c.paths, path[1])
		if len(have) < len(whole) {
			c.paths[path[1]] = whole
			c.follow(whole)
		}
	default:
		c.err = fmt.Errorf("the $ref %.200q is neither of components nor of paths", ref)
	}
}
