package yamlx

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
)

// parseJSON reads a JSON text into the same nodes as YAML gives. Duplicate keys are left for the normalizer, which
// reports all of them.
func parseJSON(file string, src []byte) (*yaml.Node, *diag.Diagnostic) {
	p := jsonParser{
		file: file, src: src, line: 1, col: 1,
		dec: jsontext.NewDecoder(bytes.NewReader(src), jsontext.AllowDuplicateNames(true)),
	}
	root, err := p.value(1)
	if err == nil {
		p.end = int(p.dec.InputOffset())
		if _, err = p.dec.ReadToken(); err == nil {
			err = errTrailing
		} else if errors.Is(err, io.EOF) {
			return root, nil
		}
	}
	return nil, p.problem(err)
}

var (
	errTrailing = errors.New("text follows the JSON value")
	errTooDeep  = errors.New("nested too deep")
)

type jsonParser struct {
	file string
	src  []byte
	dec  *jsontext.Decoder
	// The last offset whose position was asked for: offsets only grow, so finding all positions is linear.
	offset, line, col int
	end               int // offset behind the value
}

// value reads the next value with everything in it.
func (p *jsonParser) value(depth int) (*yaml.Node, error) {
	if depth > MaxDepth {
		return nil, errTooDeep
	}
	switch p.dec.PeekKind() {
	case '{':
		return p.container(yaml.MappingNode, "!!map", depth)
	case '[':
		return p.container(yaml.SequenceNode, "!!seq", depth)
	default:
		return p.scalar()
	}
}

func (p *jsonParser) container(kind yaml.Kind, tag string, depth int) (*yaml.Node, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: kind, Tag: tag, Style: yaml.FlowStyle}
	n.Line, n.Column = p.at(p.dec.InputOffset() - 1)
	for {
		switch p.dec.PeekKind() {
		case '}', ']':
			_, err := p.dec.ReadToken()
			return n, err
		}
		child, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child)
	}
}

var scalarTags = map[jsontext.Kind]string{'n': "!!null", 't': "!!bool", 'f': "!!bool"}

func (p *jsonParser) scalar() (*yaml.Node, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: string(raw)}
	n.Line, n.Column = p.at(p.dec.InputOffset() - int64(len(raw)))
	switch kind := raw.Kind(); kind {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, err
		}
		n.Tag, n.Value, n.Style = "!!str", string(text), yaml.DoubleQuotedStyle
	case '0':
		n.Tag = "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	default:
		n.Tag = scalarTags[kind]
	}
	return n, nil
}

// at returns the line and column of an offset that is not before the last one.
func (p *jsonParser) at(offset int64) (line, col int) {
	for p.offset < int(offset) {
		_, size := utf8.DecodeRune(p.src[p.offset:])
		p.col++
		if p.src[p.offset] == '\n' {
			p.line, p.col = p.line+1, 1
		}
		p.offset += size
	}
	return p.line, p.col
}

func (p *jsonParser) problem(err error) *diag.Diagnostic {
	offset := int(p.dec.InputOffset())
	d := &diag.Diagnostic{Code: "syntax", Severity: diag.Error, Message: "not JSON: " + err.Error()}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, errTooDeep):
		d.Code, d.Message = "too-deep", tooDeep
	case errors.Is(err, errTrailing):
		rest := bytes.TrimLeft(p.src[p.end:], blanks)
		offset = len(p.src) - len(rest)
		d.Message = "not JSON: " + err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		offset = len(p.src)
		d.Message = "not JSON: the text ends too early"
	case errors.As(err, &syntax):
		offset = int(syntax.ByteOffset)
		d.Message = "not JSON: " + syntax.Err.Error()
		if p.commaTooMany(offset) {
			d.Message, d.Hint = "not JSON: a comma too many", "remove it"
		}
	}
	if at := p.src[min(offset, len(p.src)):]; bytes.HasPrefix(at, []byte("//")) || bytes.HasPrefix(at, []byte("/*")) {
		d.Code, d.Message, d.Hint = commented, "not JSON: a comment", "JSON has none: remove it; or name the file .yaml and begin the comment with #"
	}
	d.Pos = posAt(p.file, p.src, min(offset, len(p.src)))
	return d
}

const blanks = " \t\r\n"

// commented is the code of a comment in JSON.
const commented = "comment"

// commaTooMany reports whether a comma stands before the end of a list or map.
func (p *jsonParser) commaTooMany(offset int) bool {
	if offset >= len(p.src) || p.src[offset] != ',' {
		return false
	}
	next := bytes.TrimLeft(p.src[offset+1:], blanks)
	return len(next) > 0 && (next[0] == ']' || next[0] == '}')
}
