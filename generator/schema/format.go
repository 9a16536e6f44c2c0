package schema

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// formatInfo is what a format means to the types.
type formatInfo struct {
	types jsontype.Set
	// kind is the Go kind that the format chooses; "" leaves it as it is.
	kind ir.DataKind
	// sample is a text of a format that has a check of that name in runtime/gen/check/format, when the type stays a string.
	sample string
}

// formats are the known ones. Those that are neither a kind nor checked are annotations.
var formats = map[string]formatInfo{
	"date-time":     {types: jsontype.String, kind: ir.DataTime, sample: "2026-01-02T03:04:05Z"},
	"date":          {types: jsontype.String, kind: ir.DataDate, sample: "2026-01-02"},
	"byte":          {types: jsontype.String, kind: ir.DataBytes, sample: "c2FtcGxl"},
	"int32":         {types: jsontype.Integer, kind: ir.DataInt32},
	"int64":         {types: jsontype.Integer, kind: ir.DataInt64},
	"uint32":        {types: jsontype.Integer, kind: ir.DataUint32},
	"uint64":        {types: jsontype.Integer, kind: ir.DataUint64},
	"time":          {types: jsontype.String, sample: "12:00:00Z"},
	"duration":      {types: jsontype.String, sample: "PT1M"},
	"uuid":          {types: jsontype.String, sample: "123e4567-e89b-42d3-a456-426614174000"},
	"uri":           {types: jsontype.String, sample: "https://example.com/"},
	"uri-reference": {types: jsontype.String, sample: "/sample"},
	"email":         {types: jsontype.String, sample: "user@example.com"},
	"hostname":      {types: jsontype.String, sample: "example.com"},
	"ipv4":          {types: jsontype.String, sample: "192.0.2.1"},
	"ipv6":          {types: jsontype.String, sample: "2001:db8::1"},
	"json-pointer":  {types: jsontype.String, sample: "/sample"},
	"regex":         {types: jsontype.String, sample: "^sample$"},
	"float":         {types: jsontype.Number}, "double": {types: jsontype.Number}, "decimal": {types: jsontype.Number | jsontype.String},
	"password": {types: jsontype.String}, "binary": {types: jsontype.String}, "text": {types: jsontype.String},
	"html": {types: jsontype.String}, "markdown": {types: jsontype.String},
	"iri": {types: jsontype.String}, "iri-reference": {types: jsontype.String}, "idn-email": {types: jsontype.String},
	"idn-hostname": {types: jsontype.String},
	"uri-template": {types: jsontype.String}, "relative-json-pointer": {types: jsontype.String},
}

// IsChecked reports whether values are checked for a format.
func IsChecked(format string) bool { return formats[format].sample != "" }

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
	if info.types == jsontype.Number|jsontype.String { // says nothing about the type
		s.uses &^= jsontype.Number | jsontype.String
	}
	s.format = &yaml.Node{Kind: v.Kind, Tag: v.Tag, Value: name, Line: v.Line, Column: v.Column}
	if info.kind == "" && info.sample != "" {
		s.checks.Limits = append(s.checks.Limits, table["format"].with(name))
	}
}
