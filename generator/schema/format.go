package schema

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// formatInfo is what a format means to the types.
type formatInfo struct {
	types typeSet
	// kind is the Go kind that the format chooses; "" leaves it as it is.
	kind ir.DataKind
	// sample is a text of a format that has a check of that name in runtime/check, when the type stays a string.
	sample string
}

// formats are the known ones. Those that are neither a kind nor checked are annotations.
var formats = map[string]formatInfo{
	"date-time":     {types: tString, kind: ir.DataTime, sample: "2026-01-02T03:04:05Z"},
	"date":          {types: tString, kind: ir.DataDate, sample: "2026-01-02"},
	"byte":          {types: tString, kind: ir.DataBytes, sample: "c2FtcGxl"},
	"int32":         {types: tInteger, kind: ir.DataInt32},
	"int64":         {types: tInteger, kind: ir.DataInt64},
	"uint32":        {types: tInteger, kind: ir.DataUint32},
	"uint64":        {types: tInteger, kind: ir.DataUint64},
	"time":          {types: tString, sample: "12:00:00Z"},
	"duration":      {types: tString, sample: "PT1M"},
	"uuid":          {types: tString, sample: "123e4567-e89b-42d3-a456-426614174000"},
	"uri":           {types: tString, sample: "https://example.com/"},
	"uri-reference": {types: tString, sample: "/sample"},
	"email":         {types: tString, sample: "user@example.com"},
	"hostname":      {types: tString, sample: "example.com"},
	"ipv4":          {types: tString, sample: "192.0.2.1"},
	"ipv6":          {types: tString, sample: "2001:db8::1"},
	"json-pointer":  {types: tString, sample: "/sample"},
	"regex":         {types: tString, sample: "^sample$"},
	"float":         {types: tNumber}, "double": {types: tNumber}, "decimal": {types: tNumber | tString},
	"password": {types: tString}, "binary": {types: tString}, "text": {types: tString},
	"html": {types: tString}, "markdown": {types: tString},
	"iri": {types: tString}, "iri-reference": {types: tString}, "idn-email": {types: tString},
	"idn-hostname": {types: tString},
	"uri-template": {types: tString}, "relative-json-pointer": {types: tString},
}

// publishFormat prints the format that is checked.
func publishFormat(w *bundler, s *schema, k string, v *yaml.Node) {
	if s.format != nil {
		v = s.format
	}
	w.key(k)
	w.b = yamlx.AppendJSON(w.b, v)
}

func readFormat(c *compiler, s *schema, _, v *yaml.Node) {
	name := c.text(s, v)
	if name == "" {
		return
	}
	if name == "url" { // which JSON Schema does not have
		name = "uri"
	}
	info, ok := formats[name]
	if !ok {
		hint := suggest.Nearest(name, slices.Sorted(maps.Keys(formats)))
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
	if info.kind == "" && info.sample != "" {
		s.checks.Limits = append(s.checks.Limits, table["format"].with(name))
	}
}
