package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Types prints types.gen.go of the protocol package: its messages, its enums and its unions.
func Types(p *ir.Protocol, paths Paths) (output.File, error) {
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	messageTypes(f, p)
	enumTypes(f, p)
	unionTypes(f, p)
	return render(f, pkgFile(paths.Protocol, TypesFile))
}

func messageTypes(f *jen.File, p *ir.Protocol) {
	for _, t := range p.Types {
		if t.Kind == ir.Message {
			var fields []described
			for _, f := range t.Fields {
				typ := fieldType(f)
				fields = append(fields, described{f.Doc, []string{f.Go, fmt.Sprintf("%#v", typ)}, jen.Id(f.Go).Add(typ)})
			}
			f.Add(doc(t.Doc)).Type().Id(t.Go).Struct(withComments(fields)...).Line()
		}
	}
}

// fieldType is the Go type of a struct field: explicit presence makes a pointer.
func fieldType(f *ir.Field) *jen.Statement {
	switch {
	case f.Union != nil:
		return jen.Id(f.Union.Go)
	case isPointer(f):
		return jen.Op("*").Add(goType(f.Type))
	default:
		return goType(f.Type)
	}
}

// goType is the Go type of a reference, without presence.
func goType(t ir.TypeRef) *jen.Statement {
	switch t.Kind {
	case ir.KindMessage:
		return ptr(t.Type)
	case ir.KindEnum:
		return jen.Id(t.Type.Go)
	case ir.KindList:
		return jen.Index().Add(goType(*t.Elem))
	case ir.KindMap:
		return jen.Map(keyType(t)).Add(goType(*t.Elem))
	}
	return scalars[t.Kind]()
}

// keyType is the Go type of a map's keys.
func keyType(t ir.TypeRef) *jen.Statement {
	if t.Key == nil {
		return jen.String()
	}
	return goType(*t.Key)
}

func enumTypes(f *jen.File, p *ir.Protocol) {
	for _, t := range p.Types {
		if t.Kind == ir.Enum {
			f.Add(enumType(t))
		}
	}
}

// enumType is one enum: a string type that also holds values this definition does not know.
func enumType(t *ir.Type) jen.Code {
	s := jen.Add(doc(t.Doc)).Type().Id(t.Go).String().Line().Line()
	s.Add(doc("The values of " + t.Go + ". A value that is not among them is kept as it came off the wire."))
	var constants []described
	for _, v := range t.Values {
		value := jen.Lit(v.Name)
		switch {
		case v.Alias != nil:
			value = jen.Id(v.Alias.Go)
		case v.Unspecified:
			value = jen.Lit("")
		}
		constants = append(constants, described{v.Doc, []string{v.Go, t.Go, fmt.Sprintf("= %#v", value)}, jen.Id(v.Go).Id(t.Go).Op("=").Add(value)})
	}
	return s.Const().Defs(withComments(constants)...).Line()
}

func unionTypes(f *jen.File, p *ir.Protocol) {
	for _, t := range p.Types {
		for _, field := range t.Fields {
			if field.Union != nil {
				f.Add(unionType(field.Union))
				f.Add(unionTable(field.Union))
			}
		}
	}
}

// unionType is one union: the sealed interface, the cases that are types of their own, and the markers of all.
func unionType(u *ir.Union) jen.Code {
	var cases []string
	for _, c := range u.Cases {
		name := c.Go
		if c.Direct {
			name = "*" + name
		}
		cases = append(cases, name)
	}
	s := jen.Add(doc(u.Go + " is one of " + strings.Join(cases, ", ") + " or *" + u.Unknown + "; nil is none. " + u.Doc)).Type().Id(u.Go).Interface(jen.Id(u.Marker).Params()).Line().Line()
	for _, c := range u.Cases {
		if !c.Direct {
			s.Add(doc(c.Go + " is the member " + c.Name + " of a [" + u.Go + "]. " + c.Doc)).Type().Id(c.Go).Add(caseType(c)).Line().Line()
		}
	}
	s.Add(doc(u.Unknown + " is a member that the definition does not know, as it came off the wire."))
	s.Type().Id(u.Unknown).Struct(jen.Id("Name").String(), jen.Id("Value").Qual(wirePath, "Value")).Line().Line()
	for _, c := range u.Cases {
		receiver := jen.Id(c.Go)
		if c.Direct {
			receiver = jen.Op("*").Id(c.Go)
		}
		s.Func().Params(receiver).Id(u.Marker).Params().Block().Line()
	}
	return s.Func().Params(jen.Op("*").Id(u.Unknown)).Id(u.Marker).Params().Block().Line()
}

// unionVar names how a union is taken apart and made.
func unionVar(u *ir.Union) string { return "union" + u.Go }

// unionTable prints it: for codecs, the cases are numbers and their values of a few Go types.
func unionTable(u *ir.Union) jen.Code {
	union := jen.Var().Id(unionVar(u)).Op("=").Qual(wirePath, "Union").Types(jen.Id(u.Go))
	if messages(u) {
		var none []string
		for _, one := range u.Cases {
			none = append(none, "(*"+one.Go+")(nil)")
		}
		none = append(none, "(*"+u.Unknown+")(nil)")
		return union.Values(*members("Messages", jen.Index().Id(u.Go).Values(wrappedList(none)...))...).Line()
	}
	number, text, value := jen.Id("number"), jen.Id("text"), jen.Id("value")
	var apart, again []jen.Code
	for i, one := range u.Cases {
		typ := jen.Id(one.Go)
		if one.Direct {
			typ = jen.Op("*").Id(one.Go)
		}
		isText, rest, made := caseMember(one)
		what := jen.Return(jen.Lit(i+1), jen.Lit(""), rest)
		if isText {
			what = jen.Return(jen.Lit(i+1), rest, jen.Nil())
		}
		apart = append(apart, jen.Case(typ).Block(what))
		again = append(again, jen.Case(jen.Lit(i+1)).Block(jen.Return(made)))
	}
	v := jen.Id("v")
	apart = append(apart, jen.Case(jen.Op("*").Id(u.Unknown)).Block(
		jen.Return(jen.Qual(wirePath, "UnknownCase"), v.Clone().Dot("Name"), v.Clone().Dot("Value"))))
	unknown := unknownCase(u, text, jen.Id("raw"))
	return union.Values(members(
		"Case", jen.Func().Params(jen.Id("x").Id(u.Go)).Params(number.Clone().Int(), text.Clone().String(), value.Clone().Any()).Block(
			jen.Switch(v.Clone().Op(":=").Id("x").Assert(jen.Type())).Block(apart...), jen.Return(jen.Lit(0), jen.Lit(""), jen.Nil())),
		"Make", jen.Func().Params(number.Clone().Int(), text.Clone().String(), jen.Id("raw").Index().Byte(), jen.Id("pointer").Any()).Id(u.Go).Block(
			jen.Switch(number).Block(again...), jen.Return(unknown)),
	).lines()...).Line()
}

// messages reports whether all cases of a union are messages of their own.
func messages(u *ir.Union) bool {
	return !slices.ContainsFunc(u.Cases, func(c *ir.Case) bool { return !c.Direct })
}

// caseMember says whether case v of union x is text, what its value is, and how it is made again.
func caseMember(one *ir.Case) (text bool, value, made jen.Code) {
	v, typ := jen.Id("v"), jen.Id(one.Go)
	pointed := func(t jen.Code) *jen.Statement { return jen.Id("pointer").Assert(jen.Op("*").Add(t)) }
	kind := one.Type.Kind
	switch {
	case one.Direct:
		return false, v, pointed(jen.Id(one.Go))
	case kind == ir.KindMessage:
		return false, v.Clone().Dot("Value"), typ.Values(*members("Value", jen.Id("pointer").Assert(goType(one.Type)))...)
	case kind == ir.KindAny:
		return false, jen.Op("&").Add(v).Dot("Value"), typ.Values(*members("Value", jen.Op("*").Add(pointed(goType(one.Type))))...)
	case kind == ir.KindString, kind == ir.KindEnum:
		return true, jen.String().Call(v), typ.Call(jen.Id("text"))
	case isRaw(kind):
		return false, jen.Id("x"), typ.Call(jen.Id("raw")) // not v, which would be put into memory of its own
	}
	return false, jen.New(scalars[kind]().Call(v)), typ.Call(jen.Op("*").Add(pointed(scalars[kind]())))
}

// boxed reports whether a case is a struct around its value: a pointer type cannot have methods.
func boxed(c *ir.Case) bool {
	return !c.Direct && (c.Type.Kind == ir.KindMessage || c.Type.Kind == ir.KindAny)
}

// caseType is the type behind a case: a defined type over a scalar, or a struct around a message that several cases share.
func caseType(c *ir.Case) jen.Code {
	if boxed(c) {
		return jen.Struct(jen.Id("Value").Add(goType(c.Type)))
	}
	return goType(c.Type)
}
