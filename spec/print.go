package spec

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// WriteText prints a definition for people: its operations, then its types.
func (d *Document) WriteText(w io.Writer) error {
	p := &printer{}
	p.head(d)
	for _, op := range d.Operations {
		p.operation(op)
	}
	for _, m := range d.Messages {
		p.message(m)
	}
	for _, c := range d.Choices {
		p.choice(c)
	}
	for _, e := range d.Enums {
		p.enum(e)
	}
	p.errors(d.Errors)
	return p.flush(w)
}

// printer collects text.
type printer struct{ text strings.Builder }

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

// flush writes the text without control characters: names come from files and may hold anything.
func (p *printer) flush(w io.Writer) error {
	_, err := io.WriteString(w, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return unicode.ReplacementChar
		}
		return r
	}, p.text.String()))
	return err
}

func (p *printer) head(d *Document) {
	name := d.Path
	if d.Version != "" {
		name = "A2A " + d.Version
	}
	p.printf("%s (%s", name, d.Syntax)
	if d.Package != "" {
		p.printf(", package %s", d.Package)
	}
	p.printf(")\n")
}

func (p *printer) operation(op *Operation) {
	stream := map[bool]string{true: "stream of "}
	p.printf("\noperation %s(%s%s) %s%s%s\n", op.Name, stream[op.RequestStream], op.Request, stream[op.Stream], op.Response, deprecated(op.Deprecated))
	switch {
	case op.RequestStream:
		p.printf("  answers UnsupportedOperation: a stream of requests has no binding here\n")
	case op.Foreign != "":
		p.printf("  answers UnsupportedOperation: %s is no message of the definition\n", op.Foreign)
	}
	if op.RPC != "" {
		p.printf("  JSON-RPC %s\n", op.RPC)
	}
	if op.GRPC != "" {
		p.printf("  gRPC %s\n", op.GRPC)
	}
	for _, r := range op.HTTP {
		body := ""
		if r.Body != "" {
			body = ", body: " + bodyOf(r)
		}
		p.printf("  %s %s%s\n", r.Verb, r.Path, body)
	}
}

func (p *printer) message(m *Message) {
	p.printf("\nmessage %s%s\n", m.Name, deprecated(m.Deprecated))
	names, types := 0, 0
	for _, f := range m.Fields {
		names, types = max(names, len(f.JSON)), max(types, len(f.Type.String()))
	}
	for _, f := range m.Fields {
		line := fmt.Sprintf("  %-*s  %-*s  %s", names, f.JSON, types, f.Type, strings.Join(notesOf(f), ", "))
		p.printf("%s\n", strings.TrimRight(line, " "))
	}
	if m.Extra != nil {
		p.printf("  and members of other names: %s\n", m.Extra)
	}
}

// notesOf says what there is to know of a field besides its name and type.
func notesOf(f *Field) []string {
	var notes []string
	note := func(is bool, format string, args ...any) {
		if is {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	note(f.Required, "required")
	note(f.Always, "written when zero")
	note(f.Expanded, "not packed")
	note(f.Optional, "optional")
	note(f.Nullable, "or null")
	note(f.Union != "", "in union %s", f.Union)
	note(f.Const != "", "always %s", f.Const)
	note(f.Default != "" && f.Default != f.Const, "%s by default", f.Default)
	note(f.Deprecated, "deprecated")
	note(f.Number != 0, "number %d", f.Number)
	return notes
}

func (p *printer) choice(c *Choice) {
	p.printf("\nchoice %s, by %s\n", c.Name, tagOf(c))
	for _, t := range c.Types {
		p.printf("  %s\n", t)
	}
	if c.Nullable {
		p.printf("  null\n")
	}
}

func (p *printer) enum(e *Enum) {
	closed := ""
	if e.Closed {
		closed = ", closed"
	}
	p.printf("\nenum %s%s%s\n", e.Name, closed, deprecated(e.Deprecated))
	for _, v := range e.Values {
		p.printf("  %s%s\n", v.Name, deprecated(v.Deprecated))
	}
}

func (p *printer) errors(list []*ErrorCode) {
	if len(list) == 0 {
		return
	}
	p.printf("\nerrors\n")
	for _, e := range list {
		p.printf("  %d %s: %s\n", e.Code, e.Name, e.Message)
	}
}

func deprecated(is bool) string {
	if is {
		return ", deprecated"
	}
	return ""
}

// WriteChanges prints differences for people, those that break most first, and how many there are.
func WriteChanges(w io.Writer, changes []Change) error {
	p := &printer{}
	for _, group := range []struct {
		title          string
		server, client Effect
	}{
		{"breaking for servers and clients", Breaking, Breaking},
		{"breaking for servers", Breaking, Compatible},
		{"breaking for clients", Compatible, Breaking},
		{"compatible", Compatible, Compatible},
	} {
		title := group.title
		for _, c := range changes {
			if c.Server != group.server || c.Client != group.client {
				continue
			}
			if title != "" {
				p.printf("%s:\n", title)
				title = ""
			}
			p.printf("  %s\n", c.Text)
		}
	}
	p.printf("%s\n", summary(changes))
	return p.flush(w)
}

// summary counts changes in words.
func summary(changes []Change) string {
	if len(changes) == 0 {
		return "no differences"
	}
	servers, clients, harmless := 0, 0, 0
	for _, c := range changes {
		if c.Server == Breaking {
			servers++
		}
		if c.Client == Breaking {
			clients++
		}
		if !c.Breaking() {
			harmless++
		}
	}
	return fmt.Sprintf("breaking: %d for servers, %d for clients; compatible: %d", servers, clients, harmless)
}
