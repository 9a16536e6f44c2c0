package spec

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/a2agen/a2agen/generator/diag"
)

// converter turns compiled proto files into a document.
type converter struct {
	*sources
	doc      *Document
	problems diag.List
	seen     map[string]bool // import paths converted
}

// file converts the root file and, after it, the files it imports from its folder.
func (c *converter) file(root protoreflect.FileDescriptor) {
	c.doc.Package = string(root.Package())
	c.seen = map[string]bool{}
	c.declarations(root)
	imported := c.imports(root, nil)
	slices.SortFunc(imported, func(a, b protoreflect.FileDescriptor) int { return cmp.Compare(a.Path(), b.Path()) })
	for _, f := range imported {
		c.declarations(f)
	}
}

// imports appends to list the files that f imports, directly or not, and that are not built in.
func (c *converter) imports(f protoreflect.FileDescriptor, list []protoreflect.FileDescriptor) []protoreflect.FileDescriptor {
	c.seen[f.Path()] = true
	for i := range f.Imports().Len() {
		imp := f.Imports().Get(i).FileDescriptor
		if _, ours := c.files[imp.Path()]; !ours || c.seen[imp.Path()] {
			continue
		}
		list = c.imports(imp, append(list, imp))
	}
	return list
}

func (c *converter) declarations(f protoreflect.FileDescriptor) {
	c.types(f.Messages(), f.Enums())
	for i := range f.Services().Len() {
		s := f.Services().Get(i)
		for j := range s.Methods().Len() {
			c.operation(s.Methods().Get(j))
		}
	}
}

// types converts messages with what is declared inside them, and enums.
func (c *converter) types(messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) {
	for i := range messages.Len() {
		m := messages.Get(i)
		if m.IsMapEntry() {
			continue
		}
		c.message(m)
		c.types(m.Messages(), m.Enums())
	}
	for i := range enums.Len() {
		c.enum(enums.Get(i))
	}
}

func (c *converter) message(m protoreflect.MessageDescriptor) {
	msg := &Message{
		Name: c.typeName(m), Comment: comment(m), Pos: c.posOf(m),
		Deprecated: m.Options().(*descriptorpb.MessageOptions).GetDeprecated(),
	}
	if m.Options().(*descriptorpb.MessageOptions).GetMessageSetWireFormat() {
		c.problems.Errorf(msg.Pos, "unsupported-type", "declare its fields", "message %s has the wire format of a message set", msg.Name)
	}
	for i := range m.Oneofs().Len() {
		if o := m.Oneofs().Get(i); !o.IsSynthetic() {
			msg.Unions = append(msg.Unions, &Union{Name: string(o.Name()), Comment: comment(o), Pos: c.posOf(o)})
		}
	}
	for i := range m.Fields().Len() {
		msg.Fields = append(msg.Fields, c.field(m.Fields().Get(i)))
	}
	c.doc.Messages = append(c.doc.Messages, msg)
}

func (c *converter) field(f protoreflect.FieldDescriptor) *Field {
	field := &Field{
		Name: string(f.Name()), JSON: f.JSONName(), Number: int32(f.Number()), Comment: comment(f), Pos: c.posOf(f),
		Type:       c.fieldType(f),
		Required:   f.Cardinality() == protoreflect.Required || required(f),
		Always:     f.Cardinality() == protoreflect.Required,
		Expanded:   f.IsList() && !f.IsPacked() && packable(f.Kind()),
		Default:    defaultOf(f),
		Deprecated: f.Options().(*descriptorpb.FieldOptions).GetDeprecated(),
	}
	switch o := f.ContainingOneof(); {
	case o != nil && !o.IsSynthetic():
		field.Union = string(o.Name())
	case f.Message() == nil && f.HasPresence() && !field.Required:
		field.Optional = true
	}
	return field
}

// packable reports whether the elements of a list of this kind can stand in one field.
func packable(k protoreflect.Kind) bool {
	switch k {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return false
	}
	return true
}

// defaultOf returns the default that the field declares, as JSON.
func defaultOf(f protoreflect.FieldDescriptor) string {
	if !f.HasDefault() {
		return ""
	}
	var value any = f.Default().Interface()
	switch x := value.(type) {
	case protoreflect.EnumNumber:
		value = string(f.DefaultEnumValue().Name())
	case float32:
		value = json.RawMessage(strconv.Quote(strconv.FormatFloat(float64(x), 'g', -1, 32)))
	case float64:
		value = json.RawMessage(strconv.Quote(strconv.FormatFloat(x, 'g', -1, 64)))
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// required reports whether the field has google.api.field_behavior REQUIRED.
func required(f protoreflect.FieldDescriptor) bool {
	behaviors, _ := extension(f, annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	return slices.Contains(behaviors, annotations.FieldBehavior_REQUIRED)
}

func (c *converter) fieldType(f protoreflect.FieldDescriptor) Type {
	switch {
	case f.IsMap():
		elem, m := c.singleType(f.MapValue(), c.posOf(f)), Type{Kind: Map}
		c.mapEnum(f)
		m.Elem = &elem
		if key := c.singleType(f.MapKey(), c.posOf(f)); key.Kind != String || key.Form != "" {
			m.Key = &key
		}
		return m
	case f.IsList():
		elem := c.singleType(f, c.posOf(f))
		return Type{Kind: List, Elem: &elem}
	default:
		return c.singleType(f, c.posOf(f))
	}
}

// mapEnum reports an enum of a map's values that does not begin with zero: an entry without a value has that, and protobuf
// refuses such a map.
func (c *converter) mapEnum(f protoreflect.FieldDescriptor) {
	if e := f.MapValue().Enum(); e != nil && e.Values().Len() > 0 && e.Values().Get(0).Number() != 0 {
		c.problems.Errorf(c.posOf(f), "unsupported-type", "let its first value be zero", "the values of map %s are of enum %s, whose first value is %d", f.Name(), e.Name(), e.Values().Get(0).Number())
	}
}

// scalars are the types of protobuf's scalars; the variants of an integer differ in protobuf encoding only.
var scalars = map[protoreflect.Kind]Type{
	protoreflect.StringKind: {Kind: String}, protoreflect.BoolKind: {Kind: Bool}, protoreflect.BytesKind: {Kind: Bytes},
	protoreflect.FloatKind: {Kind: Float}, protoreflect.DoubleKind: {Kind: Double},
	protoreflect.Int32Kind: {Kind: Int32}, protoreflect.Int64Kind: {Kind: Int64}, protoreflect.Uint32Kind: {Kind: Uint32}, protoreflect.Uint64Kind: {Kind: Uint64},
	protoreflect.Sint32Kind: {Kind: Int32, Form: ZigZag}, protoreflect.Sint64Kind: {Kind: Int64, Form: ZigZag},
	protoreflect.Sfixed32Kind: {Kind: Int32, Form: Fixed}, protoreflect.Sfixed64Kind: {Kind: Int64, Form: Fixed},
	protoreflect.Fixed32Kind: {Kind: Uint32, Form: Fixed}, protoreflect.Fixed64Kind: {Kind: Uint64, Form: Fixed},
}

func (c *converter) singleType(f protoreflect.FieldDescriptor, pos diag.Pos) Type {
	switch {
	case f.Message() != nil:
		t := c.messageType(f.Message(), pos)
		if f.Kind() == protoreflect.GroupKind {
			t.Form = Group
		}
		return t
	case f.Enum() != nil && f.Enum().FullName() == "google.protobuf.NullValue":
		return Type{Kind: NullValue}
	case f.Enum() != nil:
		if _, ours := c.files[f.Enum().ParentFile().Path()]; ours {
			return Type{Kind: EnumOf, Name: c.typeName(f.Enum())}
		}
		c.problems.Errorf(pos, "unsupported-type", "declare the enum in the definition itself", "field %s has the enum %s", f.Name(), f.Enum().FullName())
		return Type{}
	}
	t := scalars[f.Kind()]
	if t.Kind == String && !checksUTF8(f) {
		t.Form = Unchecked
	}
	return t
}

// checksUTF8 reports whether the strings of a field have to be UTF-8.
func checksUTF8(f protoreflect.FieldDescriptor) bool {
	if e, ok := f.(interface{ EnforceUTF8() bool }); ok {
		return e.EnforceUTF8()
	}
	feature, err := protoutil.ResolveFeature(f, utf8Validation)
	return err != nil || feature.Enum() != protoreflect.EnumNumber(descriptorpb.FeatureSet_NONE)
}

var utf8Validation = (*descriptorpb.FeatureSet)(nil).ProtoReflect().Descriptor().Fields().ByName("utf8_validation")

// wellKnown are the google.protobuf messages that JSON writes in a form of their own.
var wellKnown = map[protoreflect.FullName]Type{
	"google.protobuf.Timestamp": {Kind: Timestamp}, "google.protobuf.Duration": {Kind: Duration},
	"google.protobuf.Struct": {Kind: Struct}, "google.protobuf.Value": {Kind: Value}, "google.protobuf.Empty": {Kind: Empty},
	"google.protobuf.ListValue": {Kind: ListValue}, "google.protobuf.FieldMask": {Kind: FieldMask}, "google.protobuf.Any": {Kind: Any},
	"google.protobuf.StringValue": {Kind: String, Wrapped: true}, "google.protobuf.BytesValue": {Kind: Bytes, Wrapped: true}, "google.protobuf.BoolValue": {Kind: Bool, Wrapped: true},
	"google.protobuf.Int32Value": {Kind: Int32, Wrapped: true}, "google.protobuf.Int64Value": {Kind: Int64, Wrapped: true},
	"google.protobuf.UInt32Value": {Kind: Uint32, Wrapped: true}, "google.protobuf.UInt64Value": {Kind: Uint64, Wrapped: true},
	"google.protobuf.FloatValue": {Kind: Float, Wrapped: true}, "google.protobuf.DoubleValue": {Kind: Double, Wrapped: true},
}

func (c *converter) messageType(m protoreflect.MessageDescriptor, pos diag.Pos) Type {
	if t, ok := wellKnown[m.FullName()]; ok {
		return t
	}
	if _, ours := c.files[m.ParentFile().Path()]; !ours {
		c.problems.Errorf(pos, "unsupported-type", "use a message of the definition, or one of google.protobuf that JSON has a form for",
			"the type %s cannot be generated", m.FullName())
		return Type{}
	}
	return Type{Kind: MessageOf, Name: c.typeName(m)}
}

func (c *converter) enum(e protoreflect.EnumDescriptor) {
	enum := &Enum{Closed: e.IsClosed(), Name: c.typeName(e), Comment: comment(e), Pos: c.posOf(e), Deprecated: e.Options().(*descriptorpb.EnumOptions).GetDeprecated()}
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		enum.Values = append(enum.Values, &EnumValue{
			Name: string(v.Name()), Number: int32(v.Number()), Comment: comment(v), Pos: c.posOf(v),
			Deprecated: v.Options().(*descriptorpb.EnumValueOptions).GetDeprecated(),
		})
	}
	c.doc.Enums = append(c.doc.Enums, enum)
}

func (c *converter) operation(m protoreflect.MethodDescriptor) {
	op := &Operation{
		Name: string(m.Name()), GRPC: "/" + string(m.Parent().FullName()) + "/" + string(m.Name()), Comment: comment(m), Pos: c.posOf(m),
		Deprecated:    m.Options().(*descriptorpb.MethodOptions).GetDeprecated(),
		Stream:        m.IsStreamingServer(),
		RequestStream: m.IsStreamingClient(),
	}
	op.Request, op.Response = c.operand(op, m.Input()), c.operand(op, m.Output())
	if rule, ok := extension(m, annotations.E_Http).(*annotations.HttpRule); ok {
		op.HTTP = routes(rule)
	}
	c.doc.Operations = append(c.doc.Operations, op)
}

// operand is what an operation takes or answers. A message of another definition has no form in all bindings.
func (c *converter) operand(op *Operation, d protoreflect.MessageDescriptor) Type {
	if d.FullName() == "google.protobuf.Empty" {
		return Type{Kind: Empty}
	}
	if _, ours := c.files[d.ParentFile().Path()]; ours {
		return Type{Kind: MessageOf, Name: c.typeName(d)}
	}
	if op.Foreign == "" {
		op.Foreign = string(d.FullName())
		c.problems.Warnf(op.Pos, "unsupported-operation", "put it into a message of the definition",
			"operation %s takes or answers %s: it is listed, and answers UnsupportedOperation", op.Name, op.Foreign)
	}
	return Type{Kind: Empty}
}

// routes flattens a rule and its additional bindings, in order. Those of additional bindings have no more of their own.
func routes(rule *annotations.HttpRule) []Route {
	var list []Route
	for _, r := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		verb, path := "", ""
		switch p := r.GetPattern().(type) {
		case *annotations.HttpRule_Get:
			verb, path = "GET", p.Get
		case *annotations.HttpRule_Put:
			verb, path = "PUT", p.Put
		case *annotations.HttpRule_Post:
			verb, path = "POST", p.Post
		case *annotations.HttpRule_Delete:
			verb, path = "DELETE", p.Delete
		case *annotations.HttpRule_Patch:
			verb, path = "PATCH", p.Patch
		case *annotations.HttpRule_Custom:
			verb, path = p.Custom.GetKind(), p.Custom.GetPath()
		}
		if verb != "" && path != "" {
			list = append(list, Route{Verb: verb, Path: path, Body: r.GetBody()})
		}
	}
	return list
}

// extension returns the value of an extension in the options of d, or nil. Compiled options hold extensions in a form that
// the typed getters refuse; a trip through bytes turns them into the registered one.
func extension(d protoreflect.Descriptor, ext protoreflect.ExtensionType) any {
	opts := d.Options()
	if !opts.ProtoReflect().IsValid() {
		return nil
	}
	b, err := proto.Marshal(opts)
	if err != nil || len(b) == 0 {
		return nil
	}
	typed := opts.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(b, typed); err != nil || !proto.HasExtension(typed, ext) {
		return nil
	}
	return proto.GetExtension(typed, ext)
}

// typeName names a message or enum in the document: without the document's package, with it when it is another one.
func (c *converter) typeName(d protoreflect.Descriptor) string {
	full := string(d.FullName())
	if c.doc.Package == "" {
		return full
	}
	return strings.TrimPrefix(full, c.doc.Package+".")
}

// posOf returns where d is declared.
func (c *converter) posOf(d protoreflect.Descriptor) diag.Pos {
	loc := d.ParentFile().SourceLocations().ByDescriptor(d)
	return c.at(d.ParentFile().Path(), loc.StartLine+1, loc.StartColumn+1)
}
