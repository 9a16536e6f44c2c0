package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
)

// answerKey is the field of a form for an answer that is one text.
const answerKey = "answer"

// form is the schema of the form for an answer that must fit a schema: that one if MCP has such forms, else one text.
func form(schema json.RawMessage) json.RawMessage {
	if isForm(schema) {
		return schema
	}
	field := map[string]string{"type": "string", "title": "Answer"}
	if len(schema) > 0 {
		field["description"] = "JSON that fits this schema: " + string(schema)
	}
	// A map of texts always encodes.
	src, _ := json.Marshal(map[string]any{"type": "object", "required": []string{answerKey}, "properties": map[string]any{answerKey: field}})
	return src
}

// formObject and formField have the keywords of MCP's forms, which are objects of texts, numbers and choices.
type formObject struct {
	Schema      string               `json:"$schema"`
	Type        string               `json:"type"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Properties  map[string]formField `json:"properties"`
	Required    []string             `json:"required"`
	Additional  *bool                `json:"additionalProperties"`
}

type formField struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Default     any      `json:"default"`
	Enum        []string `json:"enum"`
	Format      string   `json:"format"`
	MinLength   *uint32  `json:"minLength"`
	MaxLength   *uint32  `json:"maxLength"`
	Minimum     *float64 `json:"minimum"`
	Maximum     *float64 `json:"maximum"`
}

// dialect is the one of JSON Schema that the SDK reads.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// isForm reports whether a schema can be asked for as it is.
func isForm(schema json.RawMessage) bool {
	var o formObject
	d := json.NewDecoder(bytes.NewReader(schema))
	d.DisallowUnknownFields()
	if len(schema) == 0 || d.Decode(&o) != nil || o.Type != "object" || len(o.Properties) == 0 || o.Schema != "" && o.Schema != dialect {
		return false
	}
	for _, f := range o.Properties {
		if !f.fits() {
			return false
		}
	}
	return true
}

// fits reports whether the keywords of a field are those of its type.
func (f formField) fits() bool {
	isText := f.MinLength != nil || f.MaxLength != nil || f.Format != "" || f.Enum != nil
	isNumber := f.Minimum != nil || f.Maximum != nil
	ok := f.Default == nil
	switch f.Type {
	case "string":
		if v, is := f.Default.(string); is {
			ok = f.Enum == nil || slices.Contains(f.Enum, v)
		}
		formats := []string{"", "email", "uri", "date", "date-time"}
		ordered := f.MinLength == nil || f.MaxLength == nil || *f.MinLength <= *f.MaxLength
		return ok && !isNumber && ordered && slices.Contains(formats, f.Format)
	case "number", "integer":
		if v, is := f.Default.(float64); is {
			ok = f.Type == "number" || v == float64(int64(v))
		}
		ordered := f.Minimum == nil || f.Maximum == nil || *f.Minimum <= *f.Maximum
		return ok && !isText && ordered
	case "boolean":
		_, is := f.Default.(bool)
		return (ok || is) && !isText && !isNumber
	}
	return false
}
