package schema

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/suggest"
)

// formatInfo is what a format means to the types.
type formatInfo struct {
	types typeSet
	// kind is the Go kind that the format chooses; "" leaves it as it is.
	kind ir.DataKind
	// checked: a string with a check of that name in runtime/check.
	checked bool
}

// formats are the known ones. Those that are neither a kind nor checked are annotations.
var formats = map[string]formatInfo{
	"date-time":     {types: tString, kind: ir.DataTime},
	"date":          {types: tString, kind: ir.DataDate},
	"byte":          {types: tString, kind: ir.DataBytes},
	"int32":         {types: tInteger, kind: ir.DataInt32},
	"int64":         {types: tInteger, kind: ir.DataInt64},
	"uint32":        {types: tInteger, kind: ir.DataUint32},
	"uint64":        {types: tInteger, kind: ir.DataUint64},
	"time":          {types: tString, checked: true},
	"duration":      {types: tString, checked: true},
	"uuid":          {types: tString, checked: true},
	"uri":           {types: tString, checked: true},
	"uri-reference": {types: tString, checked: true},
	"email":         {types: tString, checked: true},
	"hostname":      {types: tString, checked: true},
	"ipv4":          {types: tString, checked: true},
	"ipv6":          {types: tString, checked: true},
	"json-pointer":  {types: tString, checked: true},
	"regex":         {types: tString, checked: true},
	"float":         {types: tNumber}, "double": {types: tNumber}, "decimal": {types: tNumber | tString},
	"password": {types: tString}, "binary": {types: tString}, "text": {types: tString}, "html": {types: tString}, "markdown": {types: tString},
	"iri": {types: tString}, "iri-reference": {types: tString}, "idn-email": {types: tString}, "idn-hostname": {types: tString},
	"uri-template": {types: tString}, "relative-json-pointer": {types: tString},
}

func readFormat(c *compiler, s *schema, _, v *yaml.Node) {
	name := c.text(s, v)
	if name == "" {
		return
	}
	if name == "url" {
		name = "uri"
	}
	info, ok := formats[name]
	if !ok {
		known := make([]string, 0, len(formats))
		for f := range formats {
			known = append(known, f)
		}
		hint := suggest.Nearest(name, sorted(known))
		if hint != "" {
			hint = "did you mean \"" + hint + "\"?"
		} else {
			hint = "use pattern to have it checked"
		}
		c.list.Warnf(s.doc.pos(v), "unknown-format", hint, "unknown format %q is not checked", short(name))
		return
	}
	s.uses |= info.types
	if info.types == tNumber|tString { // says nothing about the type
		s.uses &^= tNumber | tString
	}
	s.format = &yaml.Node{Kind: v.Kind, Tag: v.Tag, Value: name, Line: v.Line, Column: v.Column}
	if info.checked {
		s.checks.Formats = append(s.checks.Formats, name)
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
