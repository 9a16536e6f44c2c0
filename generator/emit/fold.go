package emit

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxColumns is how wide a line of emitted code may be; a tab counts as one.
const maxColumns = 120

// folded breaks the lines of a formatted file that are too wide: comments between words, code at the outermost list of
// the line, text in quotes into several. How wide a line is depends on names that nobody can foresee, which is why this
// is not the business of what prints them. A line that is one long word stays as it is.
func folded(src []byte) ([]byte, error) {
	var out []byte
	for len(src) > 0 {
		n := firstDeclaration(src)
		d, err := foldedDeclaration(src[:n])
		if err != nil {
			return nil, fmt.Errorf("fold long lines: %w", err)
		}
		out, src = append(out, d...), src[n:]
	}
	return out, nil
}

// firstDeclaration is the length of the first declaration of a file, its comment and the blank line after it included:
// everything up to a blank line that is followed by one without indentation. (No emitted string spans lines.)
func firstDeclaration(src []byte) int {
	for at := 0; ; {
		i := bytes.Index(src[at:], []byte("\n\n"))
		if i < 0 {
			return len(src)
		}
		at += i + 2
		if at < len(src) && src[at] != '\t' && src[at] != '}' && src[at] != ')' {
			return at
		}
	}
}

// foldedDeclaration folds one declaration: formatting again is what costs. What comes after it stays as it is.
func foldedDeclaration(src []byte) ([]byte, error) {
	after := src[len(bytes.TrimRight(src, "\n")):]
	for range maxFolds {
		edits := foldsOf(src)
		if len(edits) == 0 {
			break
		}
		formatted, err := format.Source(apply(src, edits))
		if err != nil {
			return nil, err
		}
		src = slices.Concat(bytes.TrimRight(formatted, "\n"), after)
	}
	return src, nil
}

// maxFolds bounds how deep the lists are that are looked into.
const maxFolds = 8

// edit replaces src[from:to].
type edit struct {
	from, to int
	text     string
}

func apply(src []byte, edits []edit) []byte {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, src[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, src[at:]...)
}

// foldsOf finds the edits that break what is too wide, in order.
func foldsOf(src []byte) (edits []edit) {
	if !anyWide(src) {
		return nil
	}
	words := wordsOf(src)
	for at, n := 0, 0; at < len(src); {
		end := at + bytes.IndexByte(src[at:], '\n')
		if end < at {
			end = len(src)
		}
		begun := n // the words of the line
		for n < len(words) && words[n].at < end {
			n++
		}
		if within := begun > 0 && words[begun-1].end > at; !within && wide(src[at:end]) && n > begun {
			edits = append(edits, newLine(src, at, end, words[begun:n]).folds()...)
		}
		at = end + 1
	}
	return edits
}

func wide(line []byte) bool { return len(line) > maxColumns && utf8.RuneCount(line) > maxColumns }

func anyWide(src []byte) bool {
	for line := range bytes.Lines(src) {
		if wide(bytes.TrimSuffix(line, []byte("\n"))) {
			return true
		}
	}
	return false
}

// word is a token with its place.
type word struct {
	at, end int
	tok     token.Token
}

// wordsOf are the tokens and comments of a source.
func wordsOf(src []byte) (words []word) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return words
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		if lit == "" {
			lit = tok.String()
		}
		at := file.Offset(pos)
		words = append(words, word{at, at + len(lit), tok})
	}
}

// line is one that is too wide.
type line struct {
	src     []byte
	at, end int
	words   []word
	columns []int // by offset from at; nil where each byte is a column
}

func newLine(src []byte, at, end int, words []word) *line {
	l := &line{src: src, at: at, end: end, words: words}
	text := src[at:end]
	if utf8.RuneCount(text) == len(text) {
		return l
	}
	l.columns = make([]int, len(text)+1)
	for i, column := 0, 0; i < len(text); column++ {
		_, size := utf8.DecodeRune(text[i:])
		for ; size > 0; size-- {
			i++
			l.columns[i] = column + 1
		}
	}
	return l
}

// indent is the white space before the first word.
func (l *line) indent() string { return string(l.src[l.at:l.words[0].at]) }

// column is how many columns of the line are before an offset.
func (l *line) column(offset int) int {
	if l.columns == nil {
		return offset - l.at
	}
	return l.columns[offset-l.at]
}

func (l *line) folds() []edit {
	if l.words[0].tok == token.COMMENT {
		return l.comment()
	}
	var any []edit
	for _, g := range l.groups() {
		edits := l.fold(g)
		if len(edits) > 0 && l.column(edits[0].from) <= maxColumns {
			return edits
		}
		if any == nil {
			any = edits
		}
	}
	if any == nil {
		any = l.text()
	}
	return any
}

// comment wraps a line comment of prose. What is code, or might be a directive, is left alone.
func (l *line) comment() []edit {
	text, prose := strings.CutPrefix(string(l.src[l.at:l.end]), l.indent()+"// ")
	if !prose || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, " ") {
		return nil
	}
	var b strings.Builder
	width := 0
	for i, w := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(w)
		switch {
		case i == 0:
		case len(l.indent())+3+width+1+n > maxColumns && !directive(w):
			b.WriteString("\n" + l.indent() + "// ")
			width = 0
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(w)
		width += n
	}
	if b.Len() == len(text) {
		return nil
	}
	return []edit{{l.words[0].at + len("// "), l.end, b.String()}}
}

// group is a list of items on the line: what is between brackets, or what stands in the line outside of all.
type group struct {
	open, close int // words; -1: not on this line
	depth       int
	items       []int // words that begin an item
	kind        token.Token
}

// groups are the lists of the line that may be broken, the best ones first.
func (l *line) groups() []group {
	base := group{open: -1, close: -1, depth: -1, items: []int{0}, kind: token.ILLEGAL}
	open, all := []*group{&base}, []*group{&base}
	for i, w := range l.words {
		top := open[len(open)-1]
		switch w.tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			g := &group{open: i, close: -1, depth: len(open), items: []int{i + 1}, kind: w.tok}
			open, all = append(open, g), append(all, g)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) > 1 {
				top.close = i
				open = open[:len(open)-1]
			}
		case token.COMMA:
			if i+1 < len(l.words) && !closes(l.words[i+1].tok) {
				top.items = append(top.items, i+1)
			}
		case token.ADD, token.LAND, token.LOR:
			if top == &base && i+1 < len(l.words) {
				base.items = append(base.items, i+1)
			}
		}
	}
	var groups []group
	for _, g := range all {
		if len(g.items) > 1 || l.call(g) || l.body(g) {
			groups = append(groups, *g)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(l.rank(a), l.rank(b)), cmp.Compare(a.depth, b.depth), cmp.Compare(l.length(b), l.length(a)))
	})
	return groups
}

func closes(tok token.Token) bool {
	return tok == token.RPAREN || tok == token.RBRACK || tok == token.RBRACE
}

// rank tells what is broken first: lists, then what has one item, then what no bracket encloses, then type arguments.
func (l *line) rank(g group) int {
	switch {
	case g.kind == token.LBRACK:
		return 3
	case g.open < 0:
		return 2
	case len(g.items) == 1:
		return 1
	}
	return 0
}

// length is how much of the line a group is.
func (l *line) length(g group) int {
	if g.open < 0 || g.close < 0 {
		return l.end - l.at
	}
	return l.words[g.close].end - l.words[g.open].at
}

// call reports whether a group is the one argument of a call.
func (l *line) call(g *group) bool {
	return g.kind == token.LPAREN && g.open > 0 && g.close > g.open+1 && l.words[g.open-1].tok == token.IDENT &&
		l.words[g.open-1].end == l.words[g.open].at
}

// body reports whether a group is a function's body, which has blanks inside of its braces.
func (l *line) body(g *group) bool {
	return g.kind == token.LBRACE && g.close > g.open+1 && l.src[l.words[g.open].end] == ' '
}

// fold breaks a group. The members of a struct have a line each, unless it is a row of a table. Where more than
// brackets comes after a group, its items have lines to themselves; else they fill lines.
func (l *line) fold(g group) []edit {
	within := "\n" + l.indent() + "\t"
	if l.body(&g) {
		first, last := l.words[g.open], l.words[g.close]
		return []edit{{first.end, first.end + 1, within}, {last.at - 1, last.at, "\n" + l.indent()}}
	}
	if g.open < 0 || g.close < 0 || len(g.items) < 2 {
		return l.fill(g, within)
	}
	first, last := l.words[g.open], l.words[g.close]
	edits := []edit{{first.end, first.end, within}, {last.at, last.at, ",\n" + l.indent()}}
	switch {
	case l.members(g):
		for _, item := range g.items[1:] {
			edits = slices.Insert(edits, len(edits)-1, edit{l.words[item-1].end, l.words[item].at, within})
		}
	case !l.goesOn(g.close + 1):
		return l.fill(g, within)
	}
	return edits
}

// members reports whether a group are the members of a literal that says its type.
func (l *line) members(g group) bool {
	if g.kind != token.LBRACE || g.open == 0 || l.words[g.items[0]+1].tok != token.COLON {
		return false
	}
	typ := l.words[g.open-1].tok
	return typ == token.IDENT || typ == token.RBRACK
}

// goesOn reports whether something comes after the brackets and commas from word i on.
func (l *line) goesOn(i int) bool {
	for ; i < len(l.words); i++ {
		if tok := l.words[i].tok; !closes(tok) && tok != token.COMMA {
			return true
		}
	}
	return false
}

// fill breaks a group before the items that do not fit any more.
func (l *line) fill(g group, within string) (edits []edit) {
	begun := 0 // column at which what is on the present line would begin at its left
	for i, item := range g.items {
		end := l.end
		if i+1 < len(g.items) {
			end = l.words[g.items[i+1]-1].end
		}
		if item >= len(l.words) || l.column(end)-begun <= maxColumns || i == 0 && g.open < 0 {
			continue
		}
		before, at := l.words[item-1].end, l.words[item].at
		if i == 0 && len(g.items) > 1 && l.column(end) <= 2*maxColumns/3 {
			continue
		}
		edits = append(edits, edit{before, at, within})
		begun = l.column(at) - len(within) + 1
	}
	return edits
}

// text breaks the first string of the line that does not fit.
func (l *line) text() []edit {
	for i, w := range l.words {
		if w.tok != token.STRING || l.column(w.end) <= maxColumns || l.tag(i) {
			continue
		}
		lit := string(l.src[w.at:w.end])
		pieces := pieces(lit, maxColumns-l.column(w.at)-len(`"" +`), maxColumns-len(l.indent())-1-len(`"" +,`))
		if len(pieces) < 2 {
			continue
		}
		return []edit{{w.at, w.end, strings.Join(pieces, " +\n"+l.indent()+"\t")}}
	}
	return nil
}

// tag reports whether a string is a struct's tag, or an import path: these must stay whole.
func (l *line) tag(i int) bool {
	if i == 0 {
		return false
	}
	switch l.words[i-1].tok {
	case token.IDENT, token.RBRACK, token.RBRACE, token.RPAREN, token.IMPORT:
		return true
	}
	return false
}

// pieces cuts a literal into several of at most the given numbers of columns: for the first, and for the rest.
func pieces(lit string, first, rest int) (list []string) {
	quote, text := strconv.Quote, ""
	if lit[0] == '`' {
		quote, text = func(s string) string { return "`" + s + "`" }, lit[1:len(lit)-1]
	} else if s, err := strconv.Unquote(lit); err == nil {
		text = s
	}
	for room := first; text != ""; room = rest {
		n := cut(text, max(room, rest/3), func(s string) int { return utf8.RuneCountInString(quote(s)) - 2 })
		list = append(list, quote(text[:n]))
		text = text[n:]
	}
	return list
}

// cut is how many bytes of text fit into some columns, up to a word's or a list item's end if there is one near.
func cut(text string, room int, width func(string) int) int {
	n, used, word := 0, 0, 0
	for n < len(text) {
		_, size := utf8.DecodeRuneInString(text[n:])
		if used += width(text[n : n+size]); used > room {
			break
		}
		n += size
		if c := text[n-1]; c == ' ' || c == ',' {
			word = n
		}
	}
	if n < len(text) && word > n/2 {
		return word
	}
	return max(n, 1)
}
