package spec

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2agen/a2agen/generator/diag"
)

// node is one value of a JSON document with its place. Its methods take a nil node for an absent value.
type node struct {
	pos     diag.Pos
	kind    jsontext.Kind // '{', '[', '"', '0', 't', 'f' or 'n'
	text    string        // of a string: its value
	raw     []byte        // as written
	members []member      // of an object, in order
	elems   []*node       // of an array
	// byName finds the members of a large object; nil for others.
	byName map[string]*node
}

// largeObject is from how many members on they are found by a map.
const largeObject = 16

// member is one member of an object.
type member struct {
	name  string
	pos   diag.Pos // of the name
	value *node
}

// get returns the value of an object's member, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	if n.byName != nil {
		return n.byName[name]
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// index prepares an object that has been read whole for get.
func (n *node) index() {
	if len(n.members) < largeObject {
		return
	}
	n.byName = make(map[string]*node, len(n.members))
	for _, m := range n.members {
		n.byName[m.name] = m.value
	}
}

func (n *node) has(name string) bool { return n.get(name) != nil }

// str returns the value of a string; "" for anything else.
func (n *node) str() string {
	if n == nil {
		return ""
	}
	return n.text
}

func (n *node) isTrue() bool { return n != nil && n.kind == 't' }

// list returns the elements of an array.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.elems
}

// props returns the members of an object.
func (n *node) props() []member {
	if n == nil {
		return nil
	}
	return n.members
}

// compact returns the value as JSON without blanks; "" when it is absent.
func (n *node) compact() string {
	if n == nil {
		return ""
	}
	v := jsontext.Value(bytes.Clone(n.raw))
	if err := v.Compact(); err != nil {
		return "" // it was parsed before
	}
	return string(v)
}

// jsonParser reads a JSON document into nodes.
type jsonParser struct {
	name  string
	src   []byte
	lines []int // offset of the start of each line
	last  place // the last one that pos found
	dec   *jsontext.Decoder
}

// place is an offset with its column, which counts runes from 0.
type place struct{ line, offset, column int }

// parseJSON parses the file with the given content. Duplicate names, invalid UTF-8 and what follows the document are errors.
func parseJSON(name string, src []byte) (*node, diag.List) {
	var problems diag.List
	if len(src) > maxSource {
		problems.Errorf(diag.Pos{File: name}, "invalid-schema", "", "the file has %d bytes; at most %d are read", len(src), maxSource)
		return nil, problems
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) // a byte order mark, as some editors write it
	p := &jsonParser{name: name, src: src, lines: []int{0}, dec: jsontext.NewDecoder(bytes.NewReader(src))}
	for i, c := range src {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	n, err := p.value(0)
	if err == nil {
		if _, err = p.dec.ReadToken(); err == nil {
			err = errors.New("there is more behind the document")
		} else if errors.Is(err, io.EOF) {
			return n, nil
		}
	}
	problems.Errorf(p.errorPos(err), "invalid-json", "", "%s", p.errorText(err))
	return nil, problems
}

// value reads the next value, which is inside of depth others.
func (p *jsonParser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	kind := p.dec.PeekKind()
	n := &node{kind: kind, pos: p.next()}
	start := p.nextOffset()
	var err error
	switch kind {
	case '{':
		err = p.object(n, depth)
	case '[':
		err = p.array(n, depth)
	default:
		var token jsontext.Token
		if token, err = p.dec.ReadToken(); err == nil && kind == '"' {
			n.text = token.String()
		}
	}
	if err != nil {
		return nil, err
	}
	n.raw = p.src[start:p.dec.InputOffset()]
	return n, nil
}

var errTooDeep = errors.New("the document nests too deep")

func (p *jsonParser) object(n *node, depth int) error {
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() != '}' {
		at := p.next()
		name, err := p.dec.ReadToken()
		if err != nil {
			return err
		}
		m := member{name: name.String(), pos: at}
		if m.value, err = p.value(depth + 1); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
	n.index()
	_, err := p.dec.ReadToken()
	return err
}

func (p *jsonParser) array(n *node, depth int) error {
	if _, err := p.dec.ReadToken(); err != nil {
		return err
	}
	for p.dec.PeekKind() != ']' {
		elem, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.elems = append(n.elems, elem)
	}
	_, err := p.dec.ReadToken()
	return err
}

// nextOffset returns where the next token begins: behind blanks and a comma or colon.
func (p *jsonParser) nextOffset() int {
	at := int(p.dec.InputOffset())
	for at < len(p.src) && strings.IndexByte(" \t\r\n,:", p.src[at]) >= 0 {
		at++
	}
	return at
}

func (p *jsonParser) next() diag.Pos { return p.pos(p.nextOffset()) }

// pos turns an offset into a line and a column, which counts runes.
func (p *jsonParser) pos(offset int) diag.Pos {
	offset = min(offset, len(p.src))
	line, found := slices.BinarySearch(p.lines, offset)
	if !found {
		line--
	}
	if p.last.line != line || p.last.offset > offset || p.last.offset < p.lines[line] { // else it goes on in a line that may be very long
		p.last = place{line: line, offset: p.lines[line]}
	}
	p.last.column += utf8.RuneCount(p.src[p.last.offset:offset])
	p.last.offset = offset
	return diag.Pos{File: p.name, Line: line + 1, Col: p.last.column + 1}
}

func (p *jsonParser) errorPos(err error) diag.Pos {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return p.pos(int(syntax.ByteOffset))
	}
	return p.next()
}

// errorText says what is wrong, without the place, which the diagnostic says better.
func (p *jsonParser) errorText(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		return "the file is not JSON: " + firstLine(syntax.Err)
	}
	return "the file is not JSON: " + firstLine(err)
}
