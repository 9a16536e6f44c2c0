package schemadiff

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/jsontype"
)

// describe says in a few words what values are.
func describe(v values) string {
	if v.none {
		return "nothing"
	}
	if list, ok := v.listed(); ok {
		return listText(list)
	}
	types := v.types()
	text := types.String()
	for _, a := range v.atoms {
		if a.format != "" && types == jsontype.String {
			return text + " (" + a.format + ")"
		}
	}
	if types != jsontype.Object {
		return text
	}
	return text + v.describeMembers()
}

// describeMembers names the property that tells an object apart, else the first ones that it must have.
func (v values) describeMembers() string {
	required := map[string]bool{}
	for _, a := range v.atoms {
		for name := range a.required {
			required[name] = true
		}
	}
	names := sortedKeys(required)
	for _, name := range names {
		m, _ := v.member(name)
		if list, ok := m.listed(); ok && len(list) == 1 {
			return " with " + member(name) + " " + short(list[0], maxName)
		}
	}
	const most = 3
	if len(names) == 0 {
		return ""
	}
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, member(name))
	}
	return " with " + strings.Join(slices.Clip(shown), ", ")
}
