package project

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
)

// errSplice says that the style of a file does not allow to add an entry safely.
var errSplice = errors.New("the list cannot be extended automatically")

// addClient adds a client to the text of a2agen.yaml, and keeps the user's comments, order and style.
func addClient(src []byte, c config.Client) ([]byte, error) {
	entry := clientEntry(c)
	edited, err := splice(src, "clients", entry)
	if err == nil {
		err = verifyClient(src, edited, c)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w (add under clients: yourself: - %s)", config.File, err, entry)
	}
	return edited, nil
}

// clientEntry returns the client as a YAML flow mapping on one line.
func clientEntry(c config.Client) string {
	key := "url"
	switch {
	case c.Catalog != "":
		key = "catalog"
	case c.URL == "":
		key = "file"
	}
	entry := "{name: " + c.Name + ", " + key + ": " + strconv.QuoteToASCII(c.Target())
	if c.Out != "client/"+c.Name {
		entry += ", out: " + strconv.QuoteToASCII(c.Out)
	}
	if len(c.Bindings) > 0 {
		entry += ", bindings: [" + strings.Join(c.Bindings, ", ") + "]"
	}
	if v := c.Verify; v != nil {
		entry += ", verify: " + verifyEntry(v)
	}
	return entry + "}"
}

// verifyEntry returns what is said of the keys of a client, on one line.
func verifyEntry(v *config.Verify) string {
	var parts []string
	if v.Keys != "" {
		parts = append(parts, "keys: "+strconv.QuoteToASCII(v.Keys))
	}
	if len(v.URLs) > 0 {
		quoted := make([]string, len(v.URLs))
		for i, u := range v.URLs {
			quoted[i] = strconv.QuoteToASCII(u)
		}
		parts = append(parts, "urls: ["+strings.Join(quoted, ", ")+"]")
	}
	if v.Strict {
		parts = append(parts, "strict: true")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// addExtensions adds files to the list extensions, those that are not in it, the last one first.
func addExtensions(src []byte, files []string) ([]byte, error) {
	for _, file := range files {
		before, _ := config.Read(config.File, src)
		if slices.ContainsFunc(before.Extensions, func(x config.FileRef) bool { return x.Path == file }) {
			continue
		}
		edited, err := splice(src, "extensions", file)
		if err == nil {
			err = verifyExtension(before, edited, file)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w (add under extensions: yourself: - %s)", config.File, err, file)
		}
		src = edited
	}
	return src, nil
}

// verifyExtension reads the text that was edited and checks that the file is the only difference.
func verifyExtension(before *config.Config, edited []byte, file string) error {
	now, list := config.Read(config.File, edited)
	if list.HasErrors() {
		return errors.New(list[0].Message)
	}
	found := slices.IndexFunc(now.Extensions, func(x config.FileRef) bool { return x.Path == file })
	if found < 0 {
		return errSplice
	}
	if now.Extensions = slices.Delete(now.Extensions, found, found+1); len(now.Extensions) == 0 {
		now.Extensions = nil
	}
	if !reflect.DeepEqual(withoutPositions(before), withoutPositions(now)) {
		return errSplice
	}
	return nil
}

// splice inserts the entry at the head of a list, or a new list at the end.
func splice(src []byte, list, entry string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" {
		return appendLine(src, list+":\n  - "+entry), nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, errSplice
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == list {
			return spliceList(src, root.Content[i], root.Content[i+1], entry)
		}
	}
	return appendLine(src, list+":\n  - "+entry), nil
}

func spliceList(src []byte, key, list *yaml.Node, entry string) ([]byte, error) {
	switch {
	case list.Kind == yaml.ScalarNode && list.Tag == "!!null" && list.Value == "":
		return insertLine(src, key.Line+1, "  - "+entry)
	case list.Kind != yaml.SequenceNode:
		return nil, errSplice
	case list.Style&yaml.FlowStyle != 0:
		return insertInFlow(src, list, entry)
	case len(list.Content) == 0:
		return nil, errSplice
	}
	first := list.Content[0]
	line := lineAt(src, first.Line)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if !strings.HasPrefix(line[len(indent):], "- ") {
		return nil, errSplice
	}
	return insertLine(src, first.Line, indent+"- "+entry)
}

// insertInFlow inserts behind the opening bracket of [a, b].
func insertInFlow(src []byte, list *yaml.Node, entry string) ([]byte, error) {
	start := offset(src, list.Line)
	line := []rune(lineAt(src, list.Line))
	if list.Column < 1 || list.Column > len(line) || line[list.Column-1] != '[' {
		return nil, errSplice
	}
	at := start + len(string(line[:list.Column]))
	if len(list.Content) > 0 {
		entry += ", "
	}
	return slices.Concat(src[:at], []byte(entry), src[at:]), nil
}

func appendLine(src []byte, text string) []byte {
	out := slices.Clone(src)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return append(out, text+"\n"...)
}

// insertLine puts text before the line with the given number, counting from 1.
func insertLine(src []byte, line int, text string) ([]byte, error) {
	at := offset(src, line)
	head := slices.Clone(src[:at])
	if len(head) > 0 && head[len(head)-1] != '\n' {
		head = append(head, '\n')
	}
	return slices.Concat(head, []byte(text+"\n"), src[at:]), nil
}

// offset returns where a line begins; the end of the text for a line behind the last.
func offset(src []byte, line int) int {
	at := 0
	for n := 1; n < line; n++ {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return len(src)
		}
		at += i + 1
	}
	return at
}

func lineAt(src []byte, line int) string {
	text, _, _ := bytes.Cut(src[offset(src, line):], []byte("\n"))
	return string(text)
}

// verifyClient reads both texts and checks that the entry is the only difference.
func verifyClient(before, after []byte, c config.Client) error {
	old, _ := config.Read(config.File, before)
	now, list := config.Read(config.File, after)
	if list.HasErrors() {
		return errors.New(list[0].Message)
	}
	found := slices.IndexFunc(now.Clients, func(n config.Client) bool { return n.Name == c.Name })
	if found < 0 || now.Clients[found].Source() != c.Source() || now.Clients[found].Path != c.Path || now.Clients[found].Out != c.Out ||
		!sameKeys(now.Clients[found].Verify, c.Verify) {
		return errSplice
	}
	now.Clients = slices.Delete(now.Clients, found, found+1)
	if !reflect.DeepEqual(withoutPositions(old), withoutPositions(now)) {
		return errSplice
	}
	return nil
}

func withoutPositions(c *config.Config) config.Config {
	n := *c
	n.CardPos = diag.Pos{}
	n.Protocol, n.Clients, n.Extensions = slices.Clone(c.Protocol), slices.Clone(c.Clients), slices.Clone(c.Extensions)
	for i := range n.Extensions {
		n.Extensions[i].Pos = diag.Pos{}
	}
	for i := range n.Protocol {
		n.Protocol[i].Pos.Line, n.Protocol[i].Pos.Col = 0, 0
	}
	n.Bindings, n.Encodings = slices.Clone(c.Bindings), slices.Clone(c.Encodings)
	for i := range n.Bindings {
		n.Bindings[i].Pos = diag.Pos{}
	}
	for i := range n.Encodings {
		n.Encodings[i].Pos = diag.Pos{}
	}
	for i := range n.Clients {
		n.Clients[i].Pos.Line, n.Clients[i].Pos.Col = 0, 0
		n.Clients[i].Contract = n.Clients[i].Contract.WithoutPositions()
		if v := n.Clients[i].Verify; v != nil {
			elsewhere := *v
			elsewhere.Pos = diag.Pos{}
			n.Clients[i].Verify = &elsewhere
		}
	}
	if len(n.Clients) == 0 {
		n.Clients = nil
	}
	return n
}
