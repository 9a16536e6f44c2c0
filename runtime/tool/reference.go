package tool

import (
	"slices"
	"strings"
)

// reference ports a schema that refers to another one.
func (p *porting) reference(s *object, ref, place string) *object {
	target := p.target(ref)
	if target == nil {
		p.note(place, "takes anything: %s is not in the schema", ref)
		return newObject()
	}
	if slices.Contains(p.open, ref) && !p.loops {
		p.note(place, "refers to itself, which ends here")
		return newObject("type", "object", "description", "As above.")
	}
	if !p.refs {
		p.open = append(p.open, ref)
		out := p.schema(target, place)
		p.open = p.open[:len(p.open)-1]
		if text := s.text("description"); text != "" {
			out.set("description", text)
		}
		if v, ok := s.values["default"]; ok {
			p.describe(out, []string{"default: " + brief(v)})
		}
		return out
	}
	p.definition(ref, target)
	for _, k := range s.keys {
		if k != "$ref" && !slices.Contains(silent, k) {
			p.note(place, "%s %s is dropped, because nothing may stand beside a reference", k, brief(s.values[k]))
		}
	}
	if p.root == target {
		return newObject("$ref", "#")
	}
	return newObject("$ref", ref) // nothing may stand beside it
}

// target is what a reference to the root or to one of its $defs means; nil: it is neither.
func (p *porting) target(ref string) *object {
	if ref == "#" {
		return p.root
	}
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	defs := p.root.object("$defs")
	if !ok || defs == nil {
		return nil
	}
	return defs.object(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
}

// definition ports what is referred to, once.
func (p *porting) definition(ref string, target *object) {
	if _, ok := p.done[ref]; ok || target == p.root {
		return
	}
	if p.done == nil {
		p.done = map[string]*object{}
	}
	p.done[ref] = newObject()
	p.used = append(p.used, ref)
	p.open = append(p.open, ref)
	p.done[ref] = p.schema(target, strings.TrimPrefix(ref, "#/$defs/"))
	p.open = p.open[:len(p.open)-1]
}

// definitions are the $defs of the result.
func (p *porting) definitions() *object {
	defs := newObject()
	for _, ref := range p.used {
		defs.set(strings.NewReplacer("~1", "/", "~0", "~").Replace(strings.TrimPrefix(ref, "#/$defs/")), p.done[ref])
	}
	return defs
}
