// Package lower turns what was read into what is emitted: it decides every Go name, presence and layout.
package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/spec"
)

// Protocol lowers protocol definitions, newest first, to one set of Go types and the wires that read and write them.
// The types are those of the newest definition; an older one needs an alignment. If the list has an error, the
// protocol is nil.
func Protocol(docs []*spec.Document) (*ir.Protocol, diag.List) {
	var problems diag.List
	if len(docs) == 0 {
		problems.Errorf(diag.Pos{}, "no-protocol", `list a version, such as "1.0"`, "no protocol definition is given")
		return nil, problems
	}
	for i, doc := range docs {
		switch {
		case doc.Version == "":
			problems.Errorf(diag.Pos{File: doc.Path}, "no-version", `name the version, such as "1.1-preview"`, "the definition has no version")
		case slices.ContainsFunc(docs[:i], func(d *spec.Document) bool { return d.Version == doc.Version }):
			problems.Errorf(diag.Pos{File: doc.Path}, "repeated-version", "", "version %s is given twice", doc.Version)
		}
	}
	if problems.HasErrors() {
		return nil, problems
	}
	in, problems := prepare(docs)
	if problems.HasErrors() {
		return nil, problems
	}
	l := &protocolLowering{
		doc: in.hub, base: in.base, scope: names.NewScope(slices.Concat(names.ProtocolDeclares, names.Sentinels, names.GenerationSentinels)...), types: map[string]*ir.Type{},
		messages: map[string]*spec.Message{}, fields: map[*ir.Field]*spec.Field{}, problems: problems,
	}
	p := l.protocol()
	l.missingRoles()
	l.earlierRelease(in.hub)
	p.Whole = in.extra.whole(p.Versions[0])
	in.extra.hide(p.Versions[0])
	if !l.problems.HasErrors() {
		l.older(p, in.older)
		l.drafts(p, in)
		markGenerations(p)
	}
	l.problems.Sort()
	if l.problems.HasErrors() {
		return nil, l.problems
	}
	nameWires(p)
	names.ClientMethods(p)
	return p, l.problems
}

// older adds the older versions: those with a table by it, protos by the numbers of their fields.
func (l *protocolLowering) older(p *ir.Protocol, docs []*spec.Document) {
	for _, doc := range docs {
		table, ok, err := alignmentOf(doc.Version)
		switch {
		case err != nil:
			l.problems.Errorf(diag.Pos{File: doc.Path}, "unaligned-version", "", "%v", err)
		case ok:
			a := &aligner{alignment: table, l: l, base: cmp.Or(l.base, l.doc), old: doc, layouts: map[[2]string]*ir.Layout{}}
			a.wire = newWire(table.version, ir.JSON)
			a.layOut()
			v := &ir.Version{Name: table.version, Package: doc.Package, Wires: []*ir.Wire{a.wire}, Rules: a.rules}
			v.Operations = a.alignedOperations(p.Versions[0])
			l.problems.Add(a.errs...)
			p.Versions = append(p.Versions, v)
		case doc.Syntax == spec.Proto && l.doc.Syntax == spec.Proto:
			p.Versions = append(p.Versions, l.numberedVersion(doc))
		default:
			l.problems.Errorf(diag.Pos{File: doc.Path}, "unaligned-version", "list it first, or leave it out",
				"version %s cannot stand behind version %s: how they relate is not known", doc.Version, l.doc.Version)
		}
	}
}

// hubVersion is the name of the hub in alignments.
const hubVersion = "1.0"

// protocolLowering is the state of one call of [Protocol].
type protocolLowering struct {
	doc *spec.Document
	// base is 1.0, whose names the tables of this package use, where doc is another version.
	base     *spec.Document
	scope    *names.Scope // of the package
	problems diag.List
	types    map[string]*ir.Type // by document name
	messages map[string]*spec.Message
	fields   map[*ir.Field]*spec.Field // of ordinary fields
}

func (l *protocolLowering) protocol() *ir.Protocol {
	l.declare()
	for _, m := range l.doc.Messages {
		l.message(m)
	}
	for _, e := range l.doc.Enums {
		l.enum(e)
	}
	types := make([]*ir.Type, 0, len(l.types))
	for _, t := range l.types {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b *ir.Type) int { return cmp.Compare(a.Name, b.Name) })
	for _, t := range types {
		slices.SortFunc(t.CaseOf, func(a, b *ir.Union) int { return cmp.Compare(a.Go, b.Go) })
	}
	p := &ir.Protocol{Types: types}
	version := &ir.Version{Name: l.doc.Version, Package: l.doc.Package, Operations: l.operations(), Descriptor: l.doc.Descriptor}
	p.Bindings = l.bind(version.Operations)
	version.Wires = []*ir.Wire{l.jsonWire(p.Types)}
	p.Versions = []*ir.Version{version}
	return p
}

// declare names all types before any field refers to one. Types come first so that a union or case never takes the name of a type.
func (l *protocolLowering) declare() {
	declare := func(name, comment string, pos diag.Pos, kind ir.TypeKind, deprecated bool) {
		if l.types[name] != nil {
			l.problems.Errorf(pos, "repeated-type", "", "there are two types %s", name)
			return
		}
		short := strings.TrimPrefix(name, l.doc.Package+".")
		t := &ir.Type{Name: name, Go: l.scope.Take(names.Go(short)), Kind: kind}
		if rest, ok := strings.CutPrefix(comment, short+" "); ok { // a Go comment begins with the Go name
			comment = t.Go + " " + rest
		}
		t.Doc = deprecation(comment, deprecated)
		l.types[name] = t
	}
	for _, m := range l.doc.Messages {
		l.messages[m.Name] = m
		declare(m.Name, m.Comment, m.Pos, ir.Message, m.Deprecated)
	}
	for _, e := range l.doc.Enums {
		declare(e.Name, e.Comment, e.Pos, ir.Enum, e.Deprecated)
	}
}

// message lowers the fields of m. A union is one field, in the place of its first member.
func (l *protocolLowering) message(m *spec.Message) {
	t := l.types[m.Name]
	scope := names.NewScope(append(methodsOf(m.Name), codecMethods...)...)
	unions := map[string]*ir.Field{}
	for _, u := range m.Unions {
		unions[u.Name] = l.union(t, m, u)
	}
	for _, f := range m.Fields {
		field, name := unions[f.Union], f.Union
		switch {
		case f.Union == "":
			field, name = l.field(f), l.goName(m, f)
		case slices.Contains(t.Fields, field):
			continue
		}
		field.Go = scope.Take(names.Go(name))
		t.Fields = append(t.Fields, field)
	}
}

// codecMethods are emitted on messages, those of protobuf when it is asked for: a field has the same name with and without them.
var codecMethods = []string{"AppendJSON", "MarshalJSON", "UnmarshalJSON", "AppendProto", "UnmarshalProto"}

// methodsOf returns the methods that are emitted on the message called name.
func methodsOf(name string) []string {
	for _, p := range parts {
		if cmp.Or(typeNames[p.meaning], p.meaning) == name {
			return slices.Clone(p.methods)
		}
	}
	return nil
}

func (l *protocolLowering) field(f *spec.Field) *ir.Field {
	field := &ir.Field{Name: f.Name, Doc: deprecation(f.Comment, f.Deprecated), Type: l.typeRef(f.Type, f.Pos), Presence: ir.Implicit, Deprecated: f.Deprecated}
	switch {
	case f.Required:
		field.Presence = ir.Required
	case f.Optional && hasZero(field.Type.Kind), f.Type.Wrapped, f.Type.Kind == spec.Duration, f.Type.Kind == spec.FieldMask:
		field.Presence = ir.Explicit
	}
	l.fields[field] = f
	return field
}

// hasZero reports whether a scalar of kind k has a zero value with a meaning, so that presence makes a difference.
func hasZero(k ir.Kind) bool {
	switch k {
	case ir.KindString, ir.KindBool, ir.KindInt32, ir.KindInt64, ir.KindUint32, ir.KindUint64, ir.KindFloat, ir.KindDouble, ir.KindEnum, ir.KindBytes, ir.KindNullValue:
		return true
	default:
		return false // nil is "not set", or the zero time is
	}
}

// typeRef lowers the type of a field, element or operation.
func (l *protocolLowering) typeRef(t spec.Type, pos diag.Pos) ir.TypeRef {
	ref := ir.TypeRef{Kind: ir.Kind(t.Kind), Name: t.Name} // the kinds have the same names
	if t.Name != "" {
		ref.Type = l.types[t.Name]
		if ref.Type == nil {
			l.problems.Errorf(pos, "unknown-type", "", "there is no type %s", t.Name)
		}
	}
	if t.Elem != nil {
		elem := l.typeRef(*t.Elem, pos)
		ref.Elem = &elem
	}
	if t.Key != nil && t.Key.Kind != spec.String {
		key := l.typeRef(*t.Key, pos)
		ref.Key = &key
	}
	return ref
}

// union lowers a union of message m to a sealed interface.
func (l *protocolLowering) union(t *ir.Type, m *spec.Message, u *spec.Union) *ir.Field {
	name := l.scope.Take(unionName(t.Go, names.Go(u.Name)))
	union := &ir.Union{Go: name, Marker: "is" + name, Doc: u.Comment}
	count := map[string]int{}
	for _, f := range m.Fields {
		if f.Union == u.Name && f.Type.Kind == spec.MessageOf {
			count[f.Type.Name]++
		}
	}
	for _, f := range m.Fields {
		if f.Union != u.Name {
			continue
		}
		c := &ir.Case{Name: f.Name, Doc: deprecation(f.Comment, f.Deprecated), Type: l.typeRef(f.Type, f.Pos), Deprecated: f.Deprecated}
		if c.Type.Type != nil && count[f.Type.Name] == 1 {
			c.Direct, c.Go = true, c.Type.Type.Go
			c.Type.Type.CaseOf = append(c.Type.Type.CaseOf, union)
		} else {
			c.Go = l.scope.Take(t.Go + names.Go(l.goName(m, f)))
		}
		union.Cases = append(union.Cases, c)
	}
	union.Unknown = l.scope.Take("Unknown" + name)
	return &ir.Field{Name: u.Name, Doc: u.Comment, Type: ir.TypeRef{Kind: ir.KindUnion}, Presence: ir.Implicit, Union: union}
}

// unionName names the oneof of a message without saying a word twice: "PartContent", "OAuthFlow" for the flow of OAuthFlows, and
// "SecuritySchemeKind" for the scheme of SecurityScheme.
func unionName(message, oneof string) string {
	switch {
	case strings.HasSuffix(message, oneof):
		return message + "Kind"
	case strings.HasSuffix(message, oneof+"s") && len(message) > len(oneof)+1:
		return strings.TrimSuffix(message, "s")
	}
	return message + oneof
}

// enum lowers the values of e. Their Go names begin with the enum's instead of the prefix that the definition repeats.
func (l *protocolLowering) enum(e *spec.Enum) {
	t := l.types[e.Name]
	prefix := screaming(e.Name[strings.LastIndexByte(e.Name, '.')+1:]) + "_"
	values := slices.Clone(e.Values)
	slices.SortStableFunc(values, func(a, b *spec.EnumValue) int { return cmp.Compare(a.Number, b.Number) })
	for _, v := range values {
		value := &ir.Value{
			Name: v.Name, Go: l.scope.Take(t.Go + names.Go(strings.TrimPrefix(l.goValueName(e, v), prefix))), Doc: deprecation(v.Comment, v.Deprecated),
			Number: v.Number, Unspecified: v.Number == 0 && strings.HasSuffix(v.Name, "_UNSPECIFIED"),
		}
		if last := len(t.Values) - 1; last >= 0 && t.Values[last].Number == v.Number && l.doc.Syntax == spec.Proto {
			value.Alias = cmp.Or(t.Values[last].Alias, t.Values[last])
		}
		t.Values = append(t.Values, value)
	}
}

// screaming returns the prefix of the values of a type: "TaskState" gives "TASK_STATE".
func screaming(name string) string { return strings.ToUpper(names.FileBase(name)) }

// operations lowers the operations, in the order of the definition.
func (l *protocolLowering) operations() []*ir.Operation {
	scope := names.NewScope()
	taken := map[string]*spec.Operation{}
	ops := make([]*ir.Operation, 0, len(l.doc.Operations))
	for _, o := range l.doc.Operations {
		op := &ir.Operation{
			Role: roleOf(o.Name), Go: scope.Take(names.Go(o.Name)), RPC: o.Name, GRPC: o.GRPC, Doc: deprecation(o.Comment, o.Deprecated),
			Request: l.typeRef(o.Request, o.Pos), Response: l.typeRef(o.Response, o.Pos), Stream: o.Stream, Unserved: unserved(o),
		}
		switch {
		case op.Role == ir.RoleOther:
		case o.RequestStream:
			l.problems.Errorf(o.Pos, "unsuitable-request", "take one request", "operation %s takes a stream of requests: the runtime serves it with one", o.Name)
		case o.Foreign != "":
			l.problems.Errorf(o.Pos, "unsuitable-request", "use messages of the definition", "operation %s takes or answers %s, which the runtime cannot serve", o.Name, o.Foreign)
		}
		for _, r := range o.HTTP {
			op.HTTP = append(op.HTTP, ir.Route(r))
		}
		if first := taken[o.Name]; first != nil {
			l.problems.Add(diag.Diagnostic{
				Code: "repeated-operation", Severity: diag.Error, Pos: o.Pos, Message: "operation " + o.Name + " is declared twice",
				Hint:    "rename one of them: JSON-RPC knows an operation by its name and its service's",
				Related: []diag.Related{{Pos: first.Pos, Message: "it is declared here too"}},
			})
		}
		taken[o.Name] = o
		ops = append(ops, op)
	}
	return ops
}

// unserved reports whether no binding can carry an operation.
func unserved(o *spec.Operation) bool { return o.RequestStream || o.Foreign != "" }

// deprecation adds the paragraph that marks something as deprecated in Go.
func deprecation(comment string, deprecated bool) string {
	if !deprecated || strings.Contains(comment, "Deprecated:") {
		return comment
	}
	return strings.TrimSpace(comment + "\n\nDeprecated: the protocol discourages its use.")
}
