package emit

import (
	"cmp"
	doccomment "go/doc/comment"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/generator/output"
)

// A skill's types are most of what is emitted. They are printed as text that gofmt leaves as it is, because parsing and
// printing it once more would take longer than everything else in a run. What follows are the few shapes that they are made of. A text
// of several lines is indented by what encloses it; literals never hold a line break.

// goText is a Go file in the making.
type goText struct {
	imports map[string]string // spec by quoted path, as [importBlock] wants them
	decls   []string
}

// qualified names an identifier of another package, whose name is the last element of its path.
func (f *goText) qualified(path, name string) string {
	quoted := strconv.Quote(path)
	f.imports[quoted] = quoted
	return path[strings.LastIndexByte(path, '/')+1:] + "." + name
}

// add adds declarations; an empty one is none.
func (f *goText) add(decls ...string) {
	for _, d := range decls {
		if d != "" {
			f.decls = append(f.decls, d)
		}
	}
}

// file is the owned file at path.
func (f *goText) file(pkgName, path string) output.File {
	head := slices.Concat([]byte("// "+header+"\n\npackage "+pkgName), importBlock(f.imports))
	size := len(head)
	for _, d := range f.decls {
		size += len(d) + 2
	}
	b := append(make([]byte, 0, size), head...)
	for _, d := range f.decls {
		b = append(append(append(b, '\n'), d...), '\n')
	}
	return output.File{Path: path, Kind: output.Owned, Data: b}
}

// indented is text one step further in, but for its first line.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n\t") }

// block is what a head says of statements: "if ok", "func f()", "for range n".
func block(head string, body ...string) string {
	if len(body) == 0 {
		return head + " " + emptyBody(head)
	}
	return head + " {" + inner(body) + "\n}"
}

// emptyBody is a block without statements: gofmt leaves none on a line with so long a function's head.
func emptyBody(head string) string {
	if line := head[strings.LastIndexByte(head, '\n')+1:]; strings.HasPrefix(line, "func ") && len(line) > 100 {
		return "{\n}"
	}
	return "{}"
}

// inner are statements on lines of their own, one step further in.
func inner(body []string) string {
	var b strings.Builder
	for _, s := range body {
		b.WriteString("\n\t")
		b.WriteString(indented(s))
	}
	return b.String()
}

// choose is a switch over its arms.
func choose(value string, arms ...string) string {
	return "switch " + value + " {\n" + strings.Join(arms, "\n") + "\n}"
}

// arm is a case of a switch: "case 1", "default".
func arm(head string, body ...string) string { return head + ":" + inner(body) }

// call is a call or conversion.
func call(function string, args ...string) string {
	return function + "(" + strings.Join(args, ", ") + ")"
}

// entry is a member of a composite literal.
type entry struct{ key, value string }

// composite is a composite literal, by key: on one line up to one member, with the values below each other from two on.
func composite(typ string, entries ...entry) string {
	switch len(entries) {
	case 0:
		return typ + "{}"
	case 1:
		return typ + "{" + entries[0].key + ": " + entries[0].value + "}"
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	var rows []row
	for _, e := range entries {
		long := strings.Contains(e.value, "\n")
		rows = append(rows, row{cells: []string{e.key + ":", e.value + ","}, alone: long})
	}
	return typ + "{" + inner(columns(rows)) + "\n}"
}

// list is a composite literal of elements, on one line unless an element has more.
func list(typ string, elements []string) string {
	return typ + "{" + strings.Join(elements, ", ") + "}"
}

// texts is a []string.
func texts(values []string) string { return list("[]string", quotedAll(values)) }

func quotedAll(values []string) []string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return quoted
}

// row is a line of columns, such as a struct's field, below its comment.
type row struct {
	comment string
	cells   []string
	alone   bool // its columns are not those of its neighbours
}

// columns sets the cells of rows below each other as gofmt does: a column goes on as long as rows without a comment
// between them have it.
func columns(rows []row) []string {
	lines := make([]string, len(rows))
	widths := make([]int, len(rows)) // of the column, by row
	for column := 0; ; column++ {
		more := false
		for i := 0; i < len(rows); {
			end := i + 1
			if len(rows[i].cells) > column+1 {
				more = true
				for end < len(rows) && len(rows[end].cells) > column+1 && rows[end].comment == "" && !rows[end].alone && !rows[end-1].alone {
					end++
				}
			}
			width := 0
			for _, r := range rows[i:end] {
				if len(r.cells) > column+1 {
					width = max(width, utf8.RuneCountInString(r.cells[column])+1)
				}
			}
			for ; i < end; i++ {
				widths[i] = width
			}
		}
		for i, r := range rows {
			if column < len(r.cells) {
				pad := max(0, widths[i]-utf8.RuneCountInString(r.cells[column]))
				lines[i] += r.cells[column] + strings.Repeat(" ", pad)
			}
		}
		if !more {
			break
		}
	}
	for i, r := range rows {
		lines[i] = r.comment + lines[i]
	}
	return lines
}

// comment is text as the lines of a comment above a declaration, laid out as gofmt does; empty text is no comment. As with
// [doc] it can never become code or a directive.
func comment(text string) string {
	var parser doccomment.Parser
	var printer doccomment.Printer
	var b strings.Builder
	for line := range strings.Lines(string(printer.Comment(parser.Parse(cleanText(text) + "\n")))) {
		b.WriteString("//")
		if line != "\n" && line[0] != '\t' {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}
