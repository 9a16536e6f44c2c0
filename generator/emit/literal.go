package emit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/a2agen/a2agen/generator/ir"
)

// literal is the members of a composite literal in the order in which they are set, which is that of the type's
// declaration. (jennifer's own dictionary sorts them by name.)
type literal []jen.Code

// members is a literal of names and values in turn.
func members(pairs ...any) *literal {
	l := &literal{}
	for i := 0; i < len(pairs); i += 2 {
		l.set(pairs[i].(string), pairs[i+1].(jen.Code))
	}
	return l
}

// set adds a member.
func (l *literal) set(name string, value jen.Code) {
	*l = append(*l, jen.Id(name).Op(":").Add(value))
}

// flags adds a member with constants of a package, if there are any.
func (l *literal) flags(name, path string, flags []string) {
	if len(flags) == 0 {
		return
	}
	all := jen.Qual(path, flags[0])
	for _, flag := range flags[1:] {
		all.Op("|").Qual(path, flag)
	}
	l.set(name, all)
}

// code is what stands in the braces. Members that are too much for a line have one each.
func (l *literal) code() []jen.Code {
	const room = 90
	if len(*l) > 3 && len(fmt.Sprintf("%#v", jen.Id("T").Values(*l...))) > room {
		return l.lines()
	}
	return *l
}

// lines is code with a line for each member, for members that take several lines themselves.
func (l *literal) lines() []jen.Code { return multiline(*l) }

// together puts what belongs together on a line each: the members of each literal that has some.
func together(parts ...*literal) []jen.Code {
	var out []jen.Code
	for i, l := range slices.DeleteFunc(parts, func(l *literal) bool { return len(*l) == 0 }) {
		if i > 0 {
			(*l)[0] = jen.Line().Add((*l)[0])
		}
		out = append(out, *l...)
	}
	return out
}

// wrappedList is a list of short texts of code, as many on a line as there is room for.
func wrappedList(texts []string) []jen.Code {
	var lines []jen.Code
	for line := range strings.Lines(wrapped(strings.Join(texts, ", "))) {
		lines = append(lines, jen.Op(strings.TrimRight(line, ",\n")))
	}
	return multiline(lines)
}

// multiline puts every value on a line of its own.
func multiline(values []jen.Code) []jen.Code {
	out := make([]jen.Code, 0, len(values)+1)
	for _, v := range values {
		out = append(out, jen.Line().Add(v))
	}
	return append(out, jen.Line())
}

// described is a field of a struct or a constant, with its comment.
type described struct {
	comment string
	cells   []string // what gofmt aligns, in front of the comment
	code    *jen.Statement
}

// withComments puts the comments of a declaration behind its lines if every one is a line that has room there, and otherwise in front of
// them. Tools find out what is deprecated by comments in front.
func withComments(all []described) (lines []jen.Code) {
	var widths []int
	longest := 0
	for i := range all {
		all[i].comment = cleanText(all[i].comment)
		if strings.Contains(all[i].comment, "\n") || strings.HasPrefix(all[i].comment, "Deprecated:") {
			longest = maxColumns
		}
		longest = max(longest, utf8.RuneCountInString(all[i].comment))
		for at, cell := range all[i].cells {
			if at == len(widths) {
				widths = append(widths, 0)
			}
			widths[at] = max(widths[at], utf8.RuneCountInString(cell)+1)
		}
	}
	width := len("\t// ") + longest
	for _, w := range widths {
		width += w
	}
	for _, d := range all {
		switch {
		case d.comment == "":
			lines = append(lines, d.code)
		case width <= maxColumns:
			lines = append(lines, d.code.Comment("// "+d.comment))
		default:
			lines = append(lines, jen.Add(doc(d.comment)).Add(d.code))
		}
	}
	return lines
}

// unknownCase is the case of u that keeps a member which the definition does not know.
func unknownCase(u *ir.Union, name, value jen.Code) *jen.Statement {
	return jen.Op("&").Id(u.Unknown).Values(*members("Name", name, "Value", value)...)
}

func stringsOf(list []string) jen.Code { return jen.Index().String().Values(lits(list)...) }

func lits(list []string) []jen.Code {
	var out []jen.Code
	for _, x := range list {
		out = append(out, jen.Lit(x))
	}
	return out
}
