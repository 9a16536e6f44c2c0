// Package yamlx reads YAML and JSON into nodes that know their line and column, and refuses what a user did not mean or
// an attacker did: duplicate keys, several documents, alias bombs, deep nesting, oversized files, broken UTF-8.
//
// A node that [Parse] returns is simple: aliases are resolved (shared subtrees), keys are text, numbers are spelled as
// JSON spells them, dates are strings, and tags are one of !!map, !!seq, !!str, !!int, !!float, !!bool and !!null.
package yamlx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
)

// What a file may hold. The limits are far above any real card and far below what hurts.
const (
	MaxBytes = 4 << 20 // size of a file
	MaxDepth = 100     // nesting of maps and lists
	MaxNodes = 200_000 // keys and values, each alias counted as often as it is used
)

// Parse reads one YAML document, or a JSON text, into its root node. With an error in the list the node may be nil or
// miss what is wrong; without one it is complete. An empty document is an error.
func Parse(file string, src []byte) (*yaml.Node, diag.List) {
	var list diag.List
	if len(src) > MaxBytes {
		list.Errorf(diag.Pos{File: file, Line: 1, Col: 1}, "too-large", "", "the file has %d bytes, more than the %d that are read", len(src), MaxBytes)
		return nil, list
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if checkText(file, src, &list); list.HasErrors() {
		return nil, list
	}
	if checkConflicts(file, src, &list); list.HasErrors() {
		return nil, list
	}
	root := parse(file, src, &list)
	if root == nil {
		return nil, list
	}
	n := normalizer{file: file, list: &list, seen: map[*yaml.Node]measure{}}
	n.walk(root, 1)
	list.Sort()
	return root, list
}

// Pos returns where n stands in file.
func Pos(file string, n *yaml.Node) diag.Pos {
	return diag.Pos{File: file, Line: n.Line, Col: n.Column}
}

// parse tries JSON for what looks like it, because JSON has escapes and long keys that YAML refuses.
func parse(file string, src []byte, list *diag.List) *yaml.Node {
	if trimmed := bytes.TrimLeft(src, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		root, problem := parseJSON(file, src)
		if problem == nil {
			return root
		}
		if strings.HasSuffix(strings.ToLower(file), ".json") || problem.Code == "too-deep" {
			list.Add(*problem)
			return nil
		}
		root, problems := parseYAML(file, src)
		if problems.HasErrors() && problem.Code == commented {
			problems = diag.List{*problem} // it is JSON but for that
		}
		list.Add(problems...)
		return root
	}
	root, problems := parseYAML(file, src)
	list.Add(problems...)
	return root
}

func parseYAML(file string, src []byte) (root *yaml.Node, list diag.List) {
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		list.Errorf(diag.Pos{File: file}, "syntax", "", "%v", err)
		return nil, list
	}
	var first, second yaml.Node
	if err := loader.Load(&first); err != nil {
		list.Add(syntaxError(file, src, err))
		return nil, list
	}
	if len(first.Content) == 0 {
		list.Add(syntaxError(file, src, io.EOF))
		return nil, list
	}
	switch err := loader.Load(&second); {
	case err == nil:
		list.Errorf(Pos(file, &second), "several-documents", "one file holds one document: remove the --- line", "a second document begins here")
	case !errors.Is(err, io.EOF):
		list.Add(syntaxError(file, src, err))
	}
	return first.Content[0], list
}

// checkText reports the first byte that is not UTF-8 and the first control character.
func checkText(file string, src []byte, list *diag.List) {
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			list.Errorf(posAt(file, src, i), "not-utf8", "save the file as UTF-8", "byte 0x%02x is not UTF-8", src[i])
			return
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			list.Errorf(posAt(file, src, i), "control-character", "remove it, or write it as an escape inside double quotes", "control character U+%04X", r)
			return
		}
		i += size
	}
}

// conflict is the first line of a place where two branches met in a merge and nobody decided.
var conflict = regexp.MustCompile(`(?m)^<{7}( .*)?$`)

func checkConflicts(file string, src []byte, list *diag.List) {
	for _, at := range conflict.FindAllIndex(src, 20) {
		list.Errorf(posAt(file, src, at[0]), "conflict", "decide what stands here, and remove the lines with <<<<<<<, ======= and >>>>>>>", "two branches met here in a merge")
	}
}

// posAt returns the position of a byte offset.
func posAt(file string, src []byte, offset int) diag.Pos {
	before := src[:offset]
	line := 1 + bytes.Count(before, []byte("\n"))
	start := bytes.LastIndexByte(before, '\n') + 1
	return diag.Pos{File: file, Line: line, Col: 1 + utf8.RuneCount(before[start:])}
}

// syntaxError turns an error of the YAML reader into a diagnostic with a remedy.
func syntaxError(file string, src []byte, err error) diag.Diagnostic {
	d := diag.Diagnostic{Code: "syntax", Severity: diag.Error, Pos: diag.Pos{File: file, Line: 1, Col: 1}, Message: err.Error()}
	if errors.Is(err, io.EOF) {
		d.Code, d.Message = "empty", "the file is empty"
		return d
	}
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return d
	}
	d.Message = load.Message
	if mark := load.Mark; mark.Line > 0 {
		d.Pos.Line, d.Pos.Col = mark.Line, mark.Column
	} else if mark := load.ContextMark; mark.Line > 0 {
		d.Pos.Line, d.Pos.Col = mark.Line, mark.Column
	}
	explain(&d, load, lineAt(src, d.Pos.Line))
	blameQuote(&d, src)
	return d
}

// explain says in a user's words what the YAML reader says in its own.
func explain(d *diag.Diagnostic, load *yaml.LoadError, line string) {
	char := runeAt(line, d.Pos.Col)
	switch {
	case char == '\t':
		d.Code, d.Message, d.Hint = "tab", "a tab cannot indent YAML", "use spaces"
	case strings.Contains(load.Message, "cannot start any token"):
		d.Message, d.Hint = fmt.Sprintf("a plain text cannot begin with %q", char), "put the text in quotes"
	case strings.Contains(load.Message, "mapping values are not allowed"):
		d.Message, d.Hint = `": " is not allowed here`, "put a text that holds a colon in quotes, or check the indentation"
	case strings.Contains(load.Message, "max depth"):
		d.Code, d.Message = "too-deep", fmt.Sprintf("nested deeper than %d levels", MaxDepth)
	case strings.Contains(load.Message, "escape"):
		d.Message, d.Hint = "a double-quoted text holds an escape that is none", "write the character itself, or use single quotes"
	case strings.Contains(load.Message, "unknown anchor"):
		d.Code = "unknown-anchor"
	case strings.Contains(load.Message, "did not find expected key"), strings.Contains(load.Message, "did not find expected '-' indicator"):
		d.Message, d.Hint = "this line does not fit the ones above", "check its indentation and quotes"
	case strings.Contains(load.Message, "unexpected end of stream"), strings.Contains(load.Message, "unexpected document indicator"):
		d.Message = "a quoted text is not closed"
		if m := load.ContextMark; m.Line > 0 {
			d.Pos.Line, d.Pos.Col = m.Line, m.Column
		}
	}
}

func lineAt(src []byte, line int) string {
	for i := 1; i < line; i++ {
		_, rest, ok := bytes.Cut(src, []byte("\n"))
		if !ok {
			return ""
		}
		src = rest
	}
	first, _, _ := bytes.Cut(src, []byte("\n"))
	return string(first)
}

func runeAt(line string, col int) rune {
	for _, r := range line {
		if col--; col == 0 {
			return r
		}
	}
	return 0
}
