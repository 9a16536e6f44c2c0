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

// load has the chosen operations resolved, with the parameters, bodies and answers that they refer to and nothing else:
// what is wrong elsewhere in the document, or in its texts and examples, does not matter. Schemas are left to
// [schemas].
func (d *Document) load(chosen []found) (*openapi3.T, error) {
	c := &copier{d: d, paths: map[string]any{}, components: map[string]any{}}
	small := map[string]any{"openapi": d.root["openapi"], "info": map[string]any{"title": d.Title, "version": "1"},
		"paths": c.paths, "components": c.components}
	for _, key := range []string{"servers", "security"} {
		if v, has := d.root[key]; has {
			small[key] = v
		}
	}
	if schemes := object(object(d.root, "components"), "securitySchemes"); schemes != nil {
		c.components["securitySchemes"] = schemes
	}
	for _, f := range chosen {
		c.operation(f)
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

// copier copies operations, and what they refer to.
type copier struct {
	d                 *Document
	paths, components map[string]any
	err               error
}

// operation copies an operation, with what its path says of all.
func (c *copier) operation(f found) {
	item := object(object(c.d.root, "paths"), f.path)
	some := object(c.paths, f.path)
	if some == nil {
		some = map[string]any{}
		c.paths[f.path] = some
	}
	for _, key := range []string{"parameters", "servers", f.method} {
		if v, has := item[key]; has {
			some[key] = c.member(key, v)
		}
	}
}

// copy copies a value, and has copied what it refers to.
func (c *copier) copy(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = c.copy(item)
		}
		return all
	case map[string]any:
		if ref, is := v["$ref"].(string); is {
			c.take(ref)
			return map[string]any{"$ref": ref}
		}
		out := map[string]any{}
		for key, item := range v {
			if m := c.member(key, item); m != nil {
				out[key] = m
			}
		}
		return out
	}
	return v
}

// untold are the members that nobody looks at when operations are resolved.
var untold = []string{"description", "summary", "tags", "example", "examples", "externalDocs", "links", "headers", "encoding", "callbacks"}

// member copies a member of an object; nil leaves it out.
func (c *copier) member(key string, v any) any {
	switch {
	case key == "schema":
		return map[string]any{}
	case key == "servers", key == "security":
		return v
	case slices.Contains(untold, key), strings.HasPrefix(key, "x-"):
		return nil
	}
	return c.copy(v)
}

// take copies the component, or the path, in which a reference ends.
func (c *copier) take(ref string) {
	path, err := pointer(ref)
	if err == nil {
		_, err = c.d.lookup(ref)
	}
	switch {
	case c.err != nil:
		return
	case err != nil:
		c.err = err
		return
	case len(path) < 2 || path[0] == "components" && len(path) < 3 || path[0] != "components" && path[0] != "paths":
		c.err = fmt.Errorf("the $ref %.200q is neither of components nor of paths", ref)
		return
	case path[0] == "paths":
		if whole, have := object(object(c.d.root, "paths"), path[1]), object(c.paths, path[1]); len(have) < len(whole) {
			c.paths[path[1]] = whole // before what it refers to, which may lead back
			c.paths[path[1]] = c.copy(whole)
		}
		return
	}
	kind := object(c.components, path[1])
	if kind == nil {
		kind = map[string]any{}
		c.components[path[1]] = kind
	}
	if _, has := kind[path[2]]; !has {
		kind[path[2]] = nil // before what it refers to, which may lead back
		kind[path[2]] = c.copy(object(object(c.d.root, "components"), path[1])[path[2]])
	}
}
