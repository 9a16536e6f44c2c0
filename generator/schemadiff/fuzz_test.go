package schemadiff

import "testing"

// Whatever two schemas are, comparing them ends without a panic, and a schema has no certain reason against itself.
func FuzzNarrowed(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"oneOf":[{"const":1},{"enum":["a",null]}]}}}`,
		`{"$ref":"#/properties/a","properties":{"a":{"$ref":"#"}}}`, `{"type":["integer","null"],"minimum":1e300,"multipleOf":0.1}`,
		`{"prefixItems":[{}],"items":false,"contains":{},"patternProperties":{"(":true},"dependencies":{"a":["b"],"c":{}}}`, `{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`,
	} {
		f.Add(s, `{"type":"string"}`)
		f.Add(`{"anyOf":[true,{"type":"array","uniqueItems":true}]}`, s)
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		_, _ = Narrowed([]byte(from), []byte(to))
		rs, err := Narrowed([]byte(from), []byte(from))
		for _, r := range rs {
			if err == nil && r.Sure {
				t.Errorf("%s is narrower than itself: %+v", from, r)
			}
		}
	})
}
