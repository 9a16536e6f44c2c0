package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// Codec prints how the hub types are written on one wire. For a type T and the wire's suffix S:
//
//	codecTS = wire.Codec[T]{…} // a message; in protobuf a proto.Codec
//	codecTS = wire.Enum{…}     // an enum
//
// with the variant at the end where a type has several layouts. For the newest JSON wire the messages also get AppendJSON,
// MarshalJSON and UnmarshalJSON, and for the newest one of protobuf AppendProto and UnmarshalProto.
func Codec(p *ir.Protocol, w *ir.Wire, paths Paths) (output.File, error) {
	c := &codec{layouts: layoutsOf(w), hub: &bound{Bindings: &p.Bindings}, exported: w == newest(p, w.Encoding), path: wirePath}
	if w.Encoding == ir.Proto {
		c.path = protoPath
	}
	if err := c.check(); err != nil {
		return output.File{}, fmt.Errorf("emit codec %s: %w", w.Name, err)
	}
	f := newFile(paths.Protocol, pkgName(paths.Protocol))
	var tables, methods, others []jen.Code
	for _, l := range w.Layouts {
		table, rest := c.table(l)
		tables, others = append(tables, table), append(others, rest...)
		if c.exported && l.Type.Kind == ir.Message && l.Hook == "" {
			methods = append(methods, c.methods(l))
		}
	}
	f.Var().Defs(tables...).Line()
	addAll(f, others...)
	addAll(f, c.hookVars(wiresBefore(p, w))...)
	f.Add(methods...)
	return render(f, pkgFile(paths.Protocol, w.File+".gen.go"))
}

// wiresBefore are the wires that come before w.
func wiresBefore(p *ir.Protocol, w *ir.Wire) (list []*ir.Wire) {
	for _, v := range p.Written() {
		list = append(list, v.Wires...)
	}
	if i := slices.Index(list, w); i >= 0 {
		return list[:i]
	}
	return list
}

// newest is the wire of an encoding whose codecs the types have as methods; nil if there is none.
func newest(p *ir.Protocol, encoding ir.Encoding) *ir.Wire {
	if encoding == ir.ProtoJSON {
		return nil
	}
	for _, v := range p.Versions {
		for _, w := range v.Wires {
			if w.Encoding == encoding {
				return w
			}
		}
	}
	return nil
}

// layouts finds what a wire has of types.
type layouts struct {
	wire  *ir.Wire
	first map[*ir.Type]*ir.Layout
}

func layoutsOf(w *ir.Wire) layouts {
	first := map[*ir.Type]*ir.Layout{}
	for _, l := range w.Layouts {
		if first[l.Type] == nil {
			first[l.Type] = l
		}
	}
	return layouts{w, first}
}

// layout is the layout of a type that occurs in member m.
func (w layouts) layout(m *ir.FieldLayout, t ir.TypeRef) *ir.Layout {
	if m.As != nil {
		return m.As
	}
	return w.first[t.Type]
}

// fn names a declaration of this wire for a layout.
func (w layouts) fn(verb string, l *ir.Layout) string {
	return verb + l.Type.Go + w.wire.Suffix + l.Variant
}

// strict reports whether what lacks something required is refused, and unknown cases of unions are written, as the
// newest version has it (A2A 1.0 §5.5–5.7).
func (w layouts) strict() bool { return !w.wire.Loose }

// codec prints one wire.
type codec struct {
	layouts
	hub      *bound
	exported bool
	path     string // of the package with the types of its tables
}

// proto reports whether the wire is one of protobuf.
func (c *codec) proto() bool { return c.wire.Encoding == ir.Proto }

// check reports what no table here can say.
func (c *codec) check() error {
	switch c.wire.Encoding {
	case ir.JSON, ir.ProtoJSON, ir.Proto:
	default:
		return fmt.Errorf("no codec for encoding %q", c.wire.Encoding)
	}
	for _, l := range c.wire.Layouts {
		for _, m := range l.Fields {
			if err := c.checkMember(l, m); err != nil {
				return fmt.Errorf("%s.%s: %w", l.Name, m.Name, err)
			}
		}
		if c.proto() && l.Type.Kind == ir.Message {
			if err := checkNumbers(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *codec) checkMember(l *ir.Layout, m *ir.FieldLayout) error {
	form := hooks[m.Hook].form
	switch {
	case m.Hook != "" && (form == 0 || c.proto() && !hooks[m.Hook].proto):
		return fmt.Errorf("no hook %q", m.Hook)
	case m.Fallback && !hooks[m.Hook].absent:
		return fmt.Errorf("hook %q does not say what absence means", m.Hook)
	case form == hookPair && m.With == nil:
		return fmt.Errorf("hook %q needs two fields", m.Hook)
	case m.Nested != nil, form == hookGroup, form == hookValue, form == hookPair:
		return nil
	case l.Tag != "" && !m.Case.Direct:
		return fmt.Errorf("a case of %s is not a message of its own", l.Tag)
	}
	t := memberType(m)
	elem := elemOf(t)
	if elem.Type != nil && !m.Absent && c.layout(m, elem) == nil {
		return fmt.Errorf("%s has no layout on this wire", elem.Name)
	}
	return checkKind(t, m.Case != nil)
}

// checkKind reports types that cannot be a member of a JSON object here.
func checkKind(t ir.TypeRef, inUnion bool) error {
	switch t.Kind {
	case ir.KindList, ir.KindMap:
		if inUnion || t.Elem.Kind == ir.KindList || t.Elem.Kind == ir.KindMap {
			return fmt.Errorf("a %s cannot be here", t.Kind)
		}
		return checkKind(*t.Elem, true)
	case ir.KindMessage, ir.KindEnum:
		return nil
	}
	if _, ok := scalars[t.Kind]; !ok {
		return fmt.Errorf("no codec for kind %q", t.Kind)
	}
	return nil
}

// memberType is the type of a member's value: of the case where it is one.
func memberType(m *ir.FieldLayout) ir.TypeRef {
	if m.Case != nil {
		return m.Case.Type
	}
	return m.Field.Type
}

// elemOf is the type of the elements of a list or map, else the type itself.
func elemOf(t ir.TypeRef) ir.TypeRef {
	if t.Elem != nil {
		return *t.Elem
	}
	return t
}

// isPointer reports whether the Go field is a pointer to say whether it is set.
func isPointer(f *ir.Field) bool {
	return f.Presence == ir.Explicit && f.Union == nil && !f.Type.Nilable()
}

// usesAny reports whether a field of the protocol is a google.protobuf.Any.
func usesAny(p *ir.Protocol) bool {
	is := func(t ir.TypeRef) bool { return t.Kind == ir.KindAny || t.Elem != nil && t.Elem.Kind == ir.KindAny }
	for _, t := range p.Types {
		for _, f := range t.Fields {
			if is(f.Type) || f.Union != nil && slices.ContainsFunc(f.Union.Cases, func(c *ir.Case) bool { return is(c.Type) }) {
				return true
			}
		}
	}
	return false
}

// enumTable is the table of an enum's values. named: the wire knows no numbers.
func enumTable(l *ir.Layout, named bool) *jen.Statement {
	var rows []jen.Code
	for _, v := range l.Values {
		row := members("Value", jen.String().Call(jen.Id(v.Value.Go)), "Name", jen.Lit(v.Name))
		if len(v.Aliases) > 0 {
			row.set("Aliases", stringsOf(v.Aliases))
		}
		switch {
		case !named && v.Number != 0:
			row.set("Number", jen.Lit(int(v.Number)))
		case named && v.WriteOnly:
			row.set("WriteOnly", jen.True())
		}
		rows = append(rows, jen.Values(*row...))
	}
	table := members()
	if named {
		table.set("Named", jen.True())
		if l.Otherwise != "" {
			table.set("Otherwise", jen.Lit(l.Otherwise))
		}
	}
	table.set("Values", jen.Index().Qual(wirePath, "EnumValue").Values(multiline(rows)...))
	return jen.Qual(wirePath, "Enum").Values(*table...)
}

// table is the table of a layout as a variable, with the functions that it needs.
func (c *codec) table(l *ir.Layout) (variable jen.Code, functions []jen.Code) {
	name := c.fn("codec", l)
	if l.Type.Kind == ir.Enum {
		return jen.Id(name).Op("=").Add(enumTable(l, !c.strict() && c.wire.Encoding == ir.JSON)), nil
	}
	typ := jen.Qual(c.path, "Codec").Types(jen.Id(l.Type.Go))
	table := typ.Clone().Values(*c.tableOf(l)...)
	switch {
	case l.Hook != "" && c.proto():
		functions = []jen.Code{c.writeHooked(l), c.readHooked(l)}
	case l.Hook != "":
		functions = []jen.Code{c.appendHooked(l), c.readHooked(l)}
	}
	if !c.recurs(l) {
		return jen.Id(name).Op("=").Add(table), functions
	}
	// A table cannot refer to itself where it is declared.
	return jen.Id(name).Add(typ), append(functions, jen.Func().Id("init").Params().Block(jen.Id(name).Op("=").Add(table)).Line())
}

func (c *codec) tableOf(l *ir.Layout) *literal {
	table := members()
	if l.Hook != "" {
		table.set("Custom", addressOf(jen.Qual(c.path, "Custom").Types(jen.Id(l.Type.Go)), members(
			c.writes(), jen.Id(c.fn(strings.ToLower(c.writes()), l)), "Read", jen.Id(c.fn("read", l)))))
		return table
	}
	if !c.proto() {
		c.shape(table, l)
	}
	if groupOf(l) != nil {
		table.set("Group", jen.Op("&").Id(c.groupVar()))
	}
	if oneofs := unions(l); len(oneofs) > 0 {
		table.set("Oneofs", jen.Index().Qual(wirePath, "Oneof").Values(c.oneofs(l, oneofs)...))
	}
	if rows := c.rows(l); len(rows) > 0 {
		table.set("Fields", jen.Index().Qual(c.path, "Field").Values(multiline(rows)...))
	}
	return table
}

// addressOf is &typ{members}.
func addressOf(typ *jen.Statement, l *literal) jen.Code { return jen.Op("&").Add(typ).Values(*l...) }

// oneofs prints the unions of a message. An unknown member may be a case of the only one.
func (c *codec) oneofs(l *ir.Layout, unions []*ir.Field) (rows []jen.Code) {
	for _, f := range unions {
		row := members("At", offset(l.Type, f), "Of", jen.Op("&").Id(unionVar(f.Union)))
		if len(unions) == 1 && l.Tag == "" && (c.strict() || !c.proto()) {
			row.set("Open", jen.True())
		}
		if c.strict() {
			row.set("Strict", jen.True())
		}
		if c.strict() && f.Presence != ir.Explicit {
			row.set("Needed", jen.True())
		}
		rows = append(rows, jen.Values(*row...))
	}
	return rows
}

// offset is the offset of a field in its message.
func offset(t *ir.Type, f *ir.Field) jen.Code {
	return jen.Qual("unsafe", "Offsetof").Call(jen.Id(t.Go).Values().Dot(f.Go))
}

// rows are the members, those of a union together.
func (c *codec) rows(l *ir.Layout) (rows []jen.Code) {
	fields := l.Fields
	if c.proto() {
		fields = byNumber(l)
	}
	grouped := map[*ir.Field]bool{}
	for _, m := range fields {
		if m.Case == nil {
			rows = append(rows, jen.Values(*c.row(l, m, grouped)...))
			continue
		}
		if grouped[m.Field] {
			continue
		}
		grouped[m.Field] = true
		for _, other := range l.Fields {
			if other.Case != nil && other.Field == m.Field && !other.Absent {
				rows = append(rows, jen.Values(*c.row(l, other, grouped)...))
			}
		}
	}
	return rows
}

// row is a member's row of the table. grouped are the fields of which a member came before.
func (c *codec) row(l *ir.Layout, m *ir.FieldLayout, grouped map[*ir.Field]bool) *literal {
	row := members()
	if c.proto() {
		row.set("Number", jen.Lit(int(m.Number)))
	}
	row.set("Name", jen.Lit(m.Name))
	if len(m.Aliases) > 0 && !m.Derived && !c.proto() {
		row.set("Aliases", stringsOf(m.Aliases))
	}
	if m.Nested != nil {
		row.set("Shape", jen.Qual(wirePath, "Nested"))
		row.set("Of", jen.Op("&").Id(c.fn("codec", m.Nested)))
		c.flags(row, l, m)
		return row
	}
	switch {
	case m.Case != nil:
		row.set("Oneof", jen.Lit(slices.Index(unions(l), m.Field)+1))
		row.set("Case", jen.Lit(slices.Index(m.Field.Union.Cases, m.Case)+1))
	case m.Into != nil:
		row.set("At", offset(m.Into.Type.Type, m.Field))
		row.set("Into", addressOf(jen.Qual(c.path, "Into"), members("At", offset(l.Type, m.Into),
			"Of", addressOf(jen.Qual(c.path, "Codec").Types(jen.Id(m.Into.Type.Type.Go)), members()))))
	default:
		row.set("At", offset(l.Type, m.Field))
	}
	byHook := func(variable jen.Code) {
		row.set("Type", jen.Qual(wirePath, "TypeHook"))
		row.set("Hook", jen.Op("&").Add(variable))
		if c.proto() && (m.Derived || m.Field.Type.Kind == ir.KindBool) {
			row.set("Form", jen.Qual(protoPath, "Varint"))
		}
	}
	switch hooks[m.Hook].form {
	case hookGroup:
		row.set("Type", jen.Qual(wirePath, "TypeGroup"))
		if grouped[m.Field] && !c.proto() {
			row.set("Flags", jen.Qual(wirePath, "ReadOnly"))
		}
		grouped[m.Field] = true
		return row
	case hookPair:
		row.set("With", offset(l.Type, m.With))
		byHook(c.hook(m.Hook))
	case hookValue:
		byHook(c.hook(m.Hook))
	case hookDerived:
		byHook(jen.Id(c.derivedVar(m)))
	default:
		c.plain(row, m)
	}
	c.flags(row, l, m)
	return row
}

// hook is what a hook has for the wire.
func (c *codec) hook(name string) jen.Code {
	if c.proto() {
		return protoHook(name)
	}
	return hook(name)
}

// plain says of what type a member is.
func (c *codec) plain(row *literal, m *ir.FieldLayout) {
	t := memberType(m)
	elem := elemOf(t)
	if elem.Kind != ir.KindString {
		row.set("Type", jen.Qual(wirePath, c.typeName(elem.Kind)))
	}
	switch {
	case elem.Kind == ir.KindMessage:
		row.set("Of", jen.Op("&").Id(c.fn("codec", c.layout(m, elem))))
	case elem.Kind == ir.KindEnum:
		row.set("Enum", jen.Op("&").Id(c.fn("codec", c.layout(m, elem))))
	case elem.Kind == ir.KindAny:
		row.set("Hook", jen.Op("&").Id(c.anyVar()))
	}
	switch {
	case t.Kind == ir.KindList:
		row.set("Shape", jen.Qual(wirePath, "Listed"))
		if !slices.Contains([]ir.Kind{ir.KindString, ir.KindMessage, ir.KindEnum}, elem.Kind) {
			row.set("Container", jen.Qual(c.path, "List").Types(goType(elem)).Values())
		}
	case t.Kind == ir.KindMap && t.Key != nil:
		row.set("Shape", jen.Qual(wirePath, "Mapped"))
		row.set("Container", jen.Qual(c.path, "KeyedMap").Types(keyType(t), goType(elem)).Values())
	case t.Kind == ir.KindMap:
		row.set("Shape", jen.Qual(wirePath, "Mapped"))
		row.set("Container", jen.Qual(c.path, "Map").Types(goType(elem)).Values())
	case m.Case == nil && isPointer(m.Field):
		row.set("Shape", jen.Qual(wirePath, "Pointer"))
	}
	if m.MinItems > 0 {
		row.set("Least", jen.Lit(m.MinItems))
	}
	if hooks[m.Hook].form == hookRewrite {
		row.set("Rewrite", jen.Op("&").Add(hook(m.Hook)))
	}
	if c.proto() {
		c.protoForm(row, m)
	} else if m.Default != nil {
		row.set("Default", jen.String().Call(jen.Id(m.Default.Go)))
	}
}

// anyVar is what reads and writes a google.protobuf.Any.
func (c *codec) anyVar() string {
	if c.proto() {
		return "anyField"
	}
	return "anyHook"
}

// typeName is the runtime's name of a kind.
func (c *codec) typeName(k ir.Kind) string {
	if k == ir.KindInt64 && !c.strict() && c.wire.Encoding == ir.JSON { // a number, not ProtoJSON's string
		return "TypeInteger"
	}
	return "Type" + typeNames[k]
}

// flags says what else there is to a member.
func (c *codec) flags(row *literal, l *ir.Layout, m *ir.FieldLayout) {
	if c.proto() {
		c.protoFlags(row, m)
	} else {
		c.jsonFlags(row, l, m)
	}
}

// recurs reports whether a message can hold another one of its layout.
func (c *codec) recurs(l *ir.Layout) bool {
	met := map[*ir.Layout]bool{}
	var reaches func(from *ir.Layout) bool
	reaches = func(from *ir.Layout) bool {
		for _, m := range from.Fields {
			inner := m.Nested
			if inner == nil {
				inner = c.layout(m, elemOf(memberType(m)))
			}
			if inner == l {
				return true
			}
			if inner != nil && !met[inner] {
				met[inner] = true
				if reaches(inner) {
					return true
				}
			}
		}
		return false
	}
	return reaches(l)
}

// raw is a string constant, in backquotes where that reads better.
func raw(s string) jen.Code {
	if strconv.CanBackquote(s) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}

// unions returns the oneofs of a layout, in order of their first member.
func unions(l *ir.Layout) []*ir.Field {
	var out []*ir.Field
	for _, m := range l.Fields {
		if m.Case != nil && !slices.Contains(out, m.Field) {
			out = append(out, m.Field)
		}
	}
	return out
}

// oneLine is a block of one statement on the line of what precedes it.
func oneLine(statement jen.Code) jen.Code {
	return jen.Custom(jen.Options{Open: "{ ", Close: " }"}, statement)
}

// convert prints the value of a case's defined type as its plain type.
func convert(t ir.TypeRef, x jen.Code) jen.Code {
	plain := scalars[t.Kind]()
	if t.Kind == ir.KindBytes {
		return jen.Parens(plain).Call(x)
	}
	return plain.Call(x)
}
