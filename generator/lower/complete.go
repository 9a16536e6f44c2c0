package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/spec"
)

// A JSON Schema that was made from a proto does not say which operations, unions and required fields there are, and has no
// numbers. What it does not say is taken from 1.0 where name and shape fit; what 1.0 does not know is as the schema says. The
// positions stay those of the schema, so that every error points into it.

// complete turns a bundle into the document that reading its proto would have given, as far as 1.0 tells: what is new has no
// numbers, and what was renamed is new.
func complete(doc, base *spec.Document) (*spec.Document, diag.List) {
	whole := *doc
	whole.Syntax, whole.Package = spec.Proto, cmp.Or(doc.Package, base.Package)
	whole.Messages, whole.Enums = nil, nil
	c := &completion{doc: doc, whole: &whole, base: base}
	c.presence = c.saysPresence()
	for _, m := range doc.Messages {
		whole.Messages = append(whole.Messages, c.message(m))
	}
	for _, e := range doc.Enums {
		whole.Enums = append(whole.Enums, c.enum(e))
	}
	c.operations()
	c.problems.Sort()
	return &whole, c.problems
}

// completion is the state of one call of [complete].
type completion struct {
	doc, whole, base *spec.Document
	// presence: the schema tells scalars that know "not set" from those that do not, by giving the latter a default.
	presence bool
	problems diag.List
}

// saysPresence reports whether any scalar has a default: the makers of such schemas give one to each or to none.
func (c *completion) saysPresence() bool {
	for _, m := range c.doc.Messages {
		for _, f := range m.Fields {
			if scalarKind(f.Type.Kind) && !f.Optional {
				return true
			}
		}
	}
	return false
}

// scalarKind reports whether a proto would need the word optional for a field of kind k to tell "not set" from zero.
func scalarKind(k spec.Kind) bool {
	switch k {
	case spec.MessageOf, spec.List, spec.Map, spec.Struct, spec.Value, spec.Timestamp, spec.Duration, spec.ListValue, spec.FieldMask, spec.Any:
		return false
	}
	return true
}

// message completes m. The fields that 1.0 has come first, in its order: that of a schema is by name.
func (c *completion) message(m *spec.Message) *spec.Message {
	whole := *m
	whole.Fields = nil
	for _, f := range m.Fields {
		if !inProto(f.Type, true) {
			c.problems.Errorf(f.Pos, "unsupported-type", "put it into a message of its own", "field %s of %s has a type that no proto has: %s", f.JSON, m.Name, f.Type)
		}
	}
	was := messageOf(c.base, m.Name)
	if was == nil {
		was = &spec.Message{}
	}
	whole.Unions = was.Unions
	for _, old := range was.Fields {
		if f := memberCalled(m, old.JSON); f != nil {
			whole.Fields = append(whole.Fields, completeField(f, old))
		} else {
			c.problems.Warnf(m.Pos, "gone-field", "if it only has another name now, give the .proto, which has the numbers that say so",
				"message %s does not have the field %s of version %s", m.Name, old.JSON, c.base.Version)
		}
	}
	for _, f := range m.Fields {
		if memberCalled(was, f.JSON) == nil {
			whole.Fields = append(whole.Fields, c.newField(f, was))
		}
	}
	whole.Unions = slices.DeleteFunc(slices.Clone(whole.Unions), func(u *spec.Union) bool {
		return !slices.ContainsFunc(whole.Fields, func(f *spec.Field) bool { return f.Union == u.Name })
	})
	return &whole
}

// inProto reports whether a field of a proto can have the type, or, if it is not whole, an element.
func inProto(t spec.Type, whole bool) bool {
	switch t.Kind {
	case spec.List, spec.Map:
		return whole && inProto(*t.Elem, false)
	case spec.ChoiceOf, spec.Empty:
		return false
	}
	return true
}

// completeField completes a field that 1.0 has too. One whose type does not fit is another field under the same name.
func completeField(f, was *spec.Field) *spec.Field {
	whole := *f
	whole.Name, whole.Deprecated = was.Name, f.Deprecated || was.Deprecated
	if t, ok := completeType(f.Type, was.Type); ok {
		whole.Type, whole.Number, whole.Required, whole.Optional, whole.Union = t, was.Number, was.Required, was.Optional, was.Union
	}
	return &whole
}

// lost are the kinds that a schema may show a kind as, when it does not say more.
var lost = map[spec.Kind][]spec.Kind{
	spec.Int32: {spec.Int64, spec.Double}, spec.Uint32: {spec.Int64, spec.Double}, spec.Int64: {spec.Double, spec.String},
	spec.Uint64: {spec.Int64, spec.Double, spec.String}, spec.Float: {spec.Double}, spec.Bytes: {spec.String},
	spec.Timestamp: {spec.String}, spec.Duration: {spec.String}, spec.Struct: {spec.Value},
}

// completeType returns the type of 1.0 if what the schema says can mean it.
func completeType(said, was spec.Type) (spec.Type, bool) {
	if said.Kind == was.Kind && said.Elem != nil && was.Elem != nil {
		_, ok := completeType(*said.Elem, *was.Elem)
		return was, ok
	}
	return was, sameType(said, was) || slices.Contains(lost[was.Kind], said.Kind)
}

// newField takes a field that 1.0 does not have from the schema. A schema does not say that it is a member of a union, but
// gives it away: in a message that is nothing but a union in 1.0 everything is a member, and where members are the only
// scalars that know "not set", a scalar that does is one of them.
func (c *completion) newField(f *spec.Field, was *spec.Message) *spec.Field {
	whole := *f
	if !c.presence {
		whole.Optional = false
	}
	if len(was.Unions) != 1 || f.Type.Elem != nil {
		return &whole
	}
	member, like := true, false // all fields are members; there is a scalar like it, and all of them are members
	for _, old := range was.Fields {
		member = member && old.Union != ""
		like = like || old.Union != "" && scalarKind(old.Type.Kind)
	}
	like = like && whole.Optional && !slices.ContainsFunc(was.Fields, func(old *spec.Field) bool { return old.Optional })
	if member || like {
		whole.Union, whole.Optional = was.Unions[0].Name, false
	}
	return &whole
}

// enum completes the numbers of e. A schema lists values in the order of their numbers: what stands between two known ones
// has the numbers between theirs, if there are as many. All others get numbers that nothing has.
func (c *completion) enum(e *spec.Enum) *spec.Enum {
	was := enumOf(c.base, e.Name)
	if was == nil {
		return e
	}
	whole := *e
	whole.Values = nil
	free := int32(0)
	for _, v := range was.Values {
		free = max(free, v.Number+1)
	}
	var run []*spec.EnumValue // values without a number, since the last one with one
	last, known := int32(0), false
	settle := func(next int32, closed bool) {
		for i, v := range run {
			if v.Number = last + 1 + int32(i); !known || !closed || next-last-1 != int32(len(run)) {
				v.Number, free = free, free+1
			}
		}
		run = nil
	}
	for _, v := range e.Values {
		value := *v
		whole.Values = append(whole.Values, &value)
		old := enumValue(was, v.Name)
		if old == nil {
			run = append(run, &value)
			continue
		}
		settle(old.Number, true)
		value.Number, last, known = old.Number, old.Number, true
	}
	settle(0, false)
	return &whole
}

func enumOf(doc *spec.Document, name string) *spec.Enum {
	for _, e := range doc.Enums {
		if e.Name == name {
			return e
		}
	}
	return nil
}

func enumValue(e *spec.Enum, name string) *spec.EnumValue {
	for _, v := range e.Values {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// operations adds the operations of 1.0 whose messages are there, and takes two messages that are called XRequest and XResponse, and
// that no field has, for the operation X.
func (c *completion) operations() {
	service := c.base.Operations[0].GRPC
	service = "/" + c.whole.Package + strings.TrimPrefix(service[:strings.LastIndexByte(service, '/')+1], "/"+c.base.Package)
	for _, o := range c.base.Operations {
		if gone := c.missing(o); gone != "" {
			c.problems.Warnf(diag.Pos{File: c.doc.Path}, "gone-operation", "define "+gone+" to keep it",
				"the schema does not have the message %s: there is no operation %s", gone, o.Name)
			continue
		}
		op := *o
		op.GRPC, op.Pos = service+o.Name, c.posOf(o.Request.Name)
		c.whole.Operations = append(c.whole.Operations, &op)
	}
	for _, m := range c.doc.Messages {
		name, ok := strings.CutSuffix(m.Name, "Request")
		answer := messageOf(c.doc, name+"Response")
		if !ok || answer == nil || messageOf(c.base, m.Name) != nil || messageOf(c.base, answer.Name) != nil || c.used(m.Name) || c.used(answer.Name) {
			continue
		}
		c.whole.Operations = append(c.whole.Operations, &spec.Operation{
			Name: name, GRPC: service + name, Comment: m.Comment, Pos: m.Pos,
			Request: spec.Type{Kind: spec.MessageOf, Name: m.Name}, Response: spec.Type{Kind: spec.MessageOf, Name: answer.Name},
		})
	}
}

// missing returns the message that an operation of 1.0 needs and the schema does not have, or nothing.
func (c *completion) missing(o *spec.Operation) string {
	for _, t := range []spec.Type{o.Request, o.Response} {
		if t.Kind == spec.MessageOf && messageOf(c.doc, t.Name) == nil {
			return t.Name
		}
	}
	return ""
}

// used reports whether a field has the message.
func (c *completion) used(name string) bool {
	return slices.ContainsFunc(c.doc.Messages, func(m *spec.Message) bool {
		return slices.ContainsFunc(m.Fields, func(f *spec.Field) bool { return f.Type.Name == name || f.Type.Elem != nil && f.Type.Elem.Name == name })
	})
}

func (c *completion) posOf(message string) diag.Pos {
	if m := messageOf(c.doc, message); m != nil {
		return m.Pos
	}
	return diag.Pos{File: c.doc.Path}
}
