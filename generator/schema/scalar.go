package schema

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/jsontype"
)

// text lowers strings.
func (l *lowerer) text(f *flat, parts []*schema, h hint, self *named) ir.DataRef {
	kind := ir.DataString
	if f.format != nil && formats[f.format.Value].types&jsontype.String != 0 && formats[f.format.Value].kind != "" {
		kind = formats[f.format.Value].kind
	}
	if f.base64 {
		kind = ir.DataBytes
	}
	checks := ir.Checks{Limits: f.limitsOn(jsontype.String)}
	if n, ok := checks.Size("minLength"); ok && n <= leastText[kind] { // every such text is as long
		checks.Limits = slices.DeleteFunc(checks.Limits, func(r ir.Limit) bool { return r.Keyword == "minLength" })
	}
	if f.hasEnum {
		if kind != ir.DataString {
			checks.Limits = append(checks.Limits, table["format"].with(textFormats[kind]))
		}
		return l.enum(f, ir.DataString, checksOrNil(checks), parts, h, self)
	}
	if kind != ir.DataString && checksOrNil(checks) != nil { // of the text, which the Go type would not keep
		checks.Limits = append(checks.Limits, table["format"].with(textFormats[kind]))
		kind = ir.DataString
	}
	return ir.DataRef{Kind: kind, Checks: checksOrNil(checks)}
}

// textFormats are the formats of the texts that become other Go types.
var textFormats = map[ir.DataKind]string{ir.DataBytes: "byte", ir.DataTime: "date-time", ir.DataDate: "date"}

// leastText is the length of the shortest text of a kind.
var leastText = map[ir.DataKind]int{ir.DataTime: len("2006-01-02T15:04:05Z"), ir.DataDate: len("2006-01-02")}

// number lowers integers and numbers.
func (l *lowerer) number(f *flat, parts []*schema, h hint, self *named) ir.DataRef {
	kind, limits := ir.DataNumber, []ir.Limit(nil)
	if f.types&jsontype.Fraction == 0 {
		kind = ir.DataInt64
		if f.format != nil && formats[f.format.Value].types == jsontype.Integer {
			kind = formats[f.format.Value].kind
		}
		limits = f.integerLimits(kind)
	} else {
		limits = f.numberLimits()
	}
	checks := checksOrNil(ir.Checks{Limits: limits})
	if f.hasEnum {
		return l.enum(f, kind, checks, parts, h, self)
	}
	return ir.DataRef{Kind: kind, Checks: checks}
}

// enum lowers enumerated strings or numbers to a defined type with constants.
func (l *lowerer) enum(f *flat, base ir.DataKind, checks *ir.Checks, parts []*schema, h hint, self *named) ir.DataRef {
	n, isNew := l.declareOnce(parts, ir.DataEnum, h, self)
	if !isNew {
		ref := l.use(n)
		ref.Checks = checks
		return ref
	}
	n.t.Kind, n.t.Base, n.t.Open = ir.DataEnum, base, f.suggested
	if checks != nil {
		l.later(parts, func(problem verdict) {
			for _, v := range f.enum {
				if text := problem(json.RawMessage(v.json)); text != "" {
					l.list.Warnf(v.from.doc.pos(v.node), "bad-value", "correct it, or remove it",
						"value %s is never valid: %s", short(v.json), text)
				}
			}
		})
	}
	for _, v := range f.enum {
		if base != ir.DataString && base != ir.DataNumber {
			if r := rat(v.json); !r.IsInt() || r.Num().Cmp(intRange[base][0]) < 0 ||
				r.Num().Cmp(intRange[base][1]) > 0 {
				f.errorf(v.from, v.node, "bad-value", "", "value %s does not fit %s", short(v.json), base)
			}
		}
		n.t.Values = append(n.t.Values, ir.DataValue{Value: json.RawMessage(v.json), Doc: v.doc})
	}
	ref := l.use(n)
	if ref.Checks = checks; self != nil {
		n.t.Checks, ref.Checks = checks, nil
	}
	return ref
}

// typeName names a JSON type behind a union's name.
func typeName(t jsontype.Set) string {
	switch {
	case t&jsontype.Object != 0:
		return "Object"
	case t&jsontype.Array != 0:
		return "List"
	case t&jsontype.String != 0:
		return "String"
	case t&jsontype.Bool != 0:
		return "Bool"
	case t&jsontype.Fraction != 0:
		return "Number"
	case t&jsontype.Integer != 0:
		return "Integer"
	}
	return fmt.Sprintf("Type%d", t)
}
