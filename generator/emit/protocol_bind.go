package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// bound prints code that touches fields by their meaning, so that presence and missing fields are decided in one place.
type bound struct{ *ir.Bindings }

// has reports whether the protocol has a field of this meaning.
func (b *bound) has(meaning string) bool { return b.Fields[meaning] != nil }

// sel selects the field of this meaning from x, as it is: a pointer where presence is explicit.
func (b *bound) sel(x, meaning string) *jen.Statement {
	return jen.Id(x).Dot(b.Fields[meaning].Go)
}

// get reads the field of this meaning from x; "not set" gives the zero value.
func (b *bound) get(x, meaning string) *jen.Statement {
	if isPointer(b.Fields[meaning]) {
		return orZero(b.sel(x, meaning))
	}
	return b.sel(x, meaning)
}

// from fills a member of a literal from the field of this meaning, if the protocol has it.
func (b *bound) from(dict *literal, member, x, meaning string) {
	if b.has(meaning) {
		dict.set(member, b.get(x, meaning))
	}
}

// into fills the field of this meaning in a literal, if the protocol has it. A zero value is "not set".
func (b *bound) into(dict *literal, meaning string, value jen.Code) {
	if !b.has(meaning) {
		return
	}
	if isPointer(b.Fields[meaning]) {
		value = nonZero(value)
	}
	dict.set(b.Fields[meaning].Go, value)
}

// copyOut fills a neutral form from the fields of a message x that have members in it.
func (b *bound) copyOut(dict *literal, x, of string) {
	for _, m := range b.Members[of] {
		dict.set(m.Name, b.out(x, m))
	}
}

// assignOut is copyOut for a neutral form that is there: one assignment for each member.
func (b *bound) assignOut(form, x, of string) (code []jen.Code) {
	for _, m := range b.Members[of] {
		code = append(code, jen.Id(form).Dot(m.Name).Op("=").Add(b.out(x, m)))
	}
	return code
}

// out is a field of x as the neutral form has it.
func (b *bound) out(x string, m ir.Member) jen.Code {
	switch m.Is {
	case "int32":
		return b.count(x, m.Meaning)
	case "int64": // a pointer in the neutral form
		if !isPointer(b.Fields[m.Meaning]) {
			return nonZero(b.sel(x, m.Meaning))
		}
		return b.sel(x, m.Meaning)
	case "TaskState":
		return stateOf(b.get(x, m.Meaning))
	case "[]Part":
		return inGen("Each").Call(b.sel(x, m.Meaning), jen.Id("partOf"))
	}
	return b.get(x, m.Meaning)
}

// copyIn fills a message from a neutral form of the given name.
func (b *bound) copyIn(dict *literal, of, from string) {
	for _, m := range b.Members[of] {
		value := jen.Id(from).Dot(m.Name)
		switch m.Is {
		case "int32":
			b.countInto(dict, m.Meaning, value)
		case "int64":
			if !isPointer(b.Fields[m.Meaning]) {
				value = orZero(value)
			}
			dict.set(b.Fields[m.Meaning].Go, value)
		case "[]Part":
			b.into(dict, m.Meaning, inGen("PartsFrom").Call(value, jen.Id("setPart")))
		default:
			b.into(dict, m.Meaning, value)
		}
	}
}

// countInto is into for an *int that goes to an int32: a pointer keeps "not set".
func (b *bound) countInto(dict *literal, meaning string, value *jen.Statement) {
	switch {
	case !b.has(meaning):
	case isPointer(b.Fields[meaning]):
		dict.set(b.Fields[meaning].Go, inGen("Int32").Call(value))
	default:
		dict.set(b.Fields[meaning].Go, jen.Int32().Call(orZero(value)))
	}
}

// countFrom fills an *int from an int32.
func (b *bound) countFrom(dict *literal, member, x, meaning string) {
	if value := b.count(x, meaning); value != nil {
		dict.set(member, value)
	}
}

// count is an int32 as an *int; without explicit presence zero is "not set". It is nil if the protocol has no such field.
func (b *bound) count(x, meaning string) jen.Code {
	if !b.has(meaning) {
		return nil
	}
	value := b.sel(x, meaning)
	if !isPointer(b.Fields[meaning]) {
		value = nonZero(value)
	}
	return inGen("Int").Call(value)
}

// orZero is what a pointer points to, or the zero value.
func orZero(p jen.Code) *jen.Statement { return inGen("OrZero").Call(p) }

// nonZero is a pointer to a value, nil to the zero value.
func nonZero(x jen.Code) *jen.Statement { return inGen("NonZero").Call(x) }

// ptr is the type *T of a message.
func ptr(t *ir.Type) *jen.Statement { return jen.Op("*").Id(t.Go) }

// newOf is &T{…}.
func newOf(t *ir.Type, dict *literal) *jen.Statement {
	return jen.Op("&").Id(t.Go).Values(dict.code()...)
}

// The runtime sees some messages through interfaces. What implements these are defined types over the messages, which
// users never see; a pointer converts either way for free.

// seen is the name of the type that the runtime sees of a message.
func seen(t *ir.Type) string { return "engine" + t.Go }

// seenPtr is the type *T of what the runtime sees of a message.
func seenPtr(t *ir.Type) *jen.Statement { return jen.Op("*").Id(seen(t)) }

// show converts a pointer to a message to what the runtime sees of it.
func show(t *ir.Type, x jen.Code) *jen.Statement { return jen.Parens(seenPtr(t)).Call(x) }

// plain converts back.
func plain(t *ir.Type, x jen.Code) *jen.Statement { return jen.Parens(ptr(t)).Call(x) }

// method begins a method of what the runtime sees of a message.
func method(recv string, t *ir.Type, name string) *jen.Statement {
	return jen.Func().Params(jen.Id(recv).Add(seenPtr(t))).Id(name)
}

// rt is a name of the runtime.
func rt(name string) *jen.Statement { return jen.Qual(runtimePath, name) }

// inGen names a function or type of runtime/gen.
func inGen(name string) *jen.Statement { return jen.Qual(genPath, name) }

// is prints the condition x == nil.
func isNil(x jen.Code) *jen.Statement { return jen.Add(x).Op("==").Nil() }

// notNil is the opposite of [isNil].
func notNil(x jen.Code) *jen.Statement { return jen.Add(x).Op("!=").Nil() }
