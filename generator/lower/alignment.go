package lower

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// The alignment of an older version with the hub, 1.0, is a table of words, one file a version. Every message, field, enum
// value, choice and operation of either side has a line; TestAlignmentIsTotal says which have not. What a line means:
//
//	rule NAME [TEXT]                  a member of runtime.Rules
//	operation RPC HUB [null]          a JSON-RPC method; null: an empty result is null
//	alias RPC OTHER                   another name for method OTHER
//	route RPC VERB PATH [BODY]        another route of an operation than its definition has
//	-operation HUB error              an operation that the older version has not
//	envelope OLD…                     framing of JSON-RPC, which is the runtime's
//	open OLD…                         enums whose values are plain strings in the hub
//	absent HUB drop|error             a hub type that the older version has not
//	type HUB HOOK OLD…                a hub type that hook HOOK reads and writes as a whole
//	through HUB                       a hub message whose fields stand one level higher; then its absent fields, indented
//	covered HUB HOOK OLD…             a hub type that is read and written by a hook of a type around it
//	bare HUB FIELD                    a hub message that is written as the value of FIELD
//	message OLD HUB                   an object; OLD is "-" or begins with "~" where the older version has no name for it.
//	                                  Then, indented:
//	  MEMBER same [flags]             field of the same name; also:OTHER is read for it, too
//	  MEMBER renamed PATH [flags]     field of another name, or of a message one level lower: "configuration.history_length"
//	  MEMBER hook HOOK FIELD [ARG]    a hook reads and writes the member; several members may share one
//	  MEMBER pair HOOK FIELD FIELD    a hook reads and writes the member, which holds two fields
//	  MEMBER derive HOOK FIELD        written from FIELD, ignored on reading
//	  MEMBER const VALUE              always this, ignored on reading
//	  MEMBER nested OLD               an object with more members of the same hub message
//	  MEMBER drop                     ignored on reading, not written
//	  -FIELD drop                     lost on writing, not set by reading
//	choice OLD HUB TAG                a union told apart by the member TAG. Then, indented:
//	  OLD CASE VALUE [SHAPE] [flags]  a case with its tag and the members that give it away without one
//	  -CASE drop                      cannot be written
//	enum OLD HUB                      then, indented:
//	  VALUE HUB [also:OTHER]
//	  -HUB VALUE                      written as VALUE, which reads as something else
//	  otherwise VALUE                 what is written for a value that is not known
//	loss read|write WORDS             what the lines do not say about what is lost
//
// A table vX-proto.txt aligns the proto of version X, where that is defined by a schema: members stand by their JSON names,
// and "must" says what is required, since what the proto requires may be zero.
//
// Flags: must (reading refuses its absence), filled (absent reads like {} and {} is left out),
// written (what is not set is written as {}, and absent is not {}), as:OLD (by the layout of
// message OLD, not by the first of its hub type), default:VALUE (of an enum, when absent), absent (the hook says what
// absence means), informal (the schema does not have it, peers do).
//
//go:embed align/*.txt
var alignmentFiles embed.FS

// alignment is one table.
type alignment struct {
	version    string
	rules      []ir.Rule
	operations []*alignedOperation
	types      []*alignedType
	envelopes  []string
	open       []string
	losses     []Loss
}

// alignedOperation is an operation of either side; rpc is empty if only the hub has it.
type alignedOperation struct {
	rpc, hub, how string
	null          bool
	aliases       []string
	routes        []spec.Route
}

// alignedType is a line that begins a type, with the lines below it.
type alignedType struct {
	kind  string // "message", "choice", "enum", "bare", "type", "covered", "absent"
	old   string // of a message, choice or enum
	hub   string
	arg   string   // tag, field, hook or what absence means
	olds  []string // of "type" and "covered"
	lines []*alignedLine
}

// alignedLine is a member, case or value.
type alignedLine struct {
	name, class  string // class "absent" is of the hub's side, where name is the hub's
	target       string // hub path, case or value
	value        string // constant, tag, or what is written instead
	hook, arg    string
	as, initial  string
	also, shape  []string
	must, filled bool
	written      bool
	fallback     bool // flag absent
	informal     bool
}

// alignmentOf reads the table of a version; ok is false if there is none.
func alignmentOf(version string) (a *alignment, ok bool, err error) {
	if strings.HasSuffix(version, protoTable) {
		return nil, false, nil // no version, but another table of one
	}
	return tableOf(version)
}

// tableOf reads the table called name; ok is false if there is none.
func tableOf(name string) (a *alignment, ok bool, err error) {
	version, _ := strings.CutSuffix(name, protoTable)
	src, err := alignmentFiles.ReadFile("align/v" + name + ".txt")
	if err != nil {
		return nil, false, nil
	}
	a = &alignment{version: version}
	for i, text := range strings.Split(string(src), "\n") {
		line, _, _ := strings.Cut(text, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if strings.HasPrefix(line, " ") {
			err = a.member(words)
		} else {
			err = a.entry(words)
		}
		if err != nil {
			return nil, true, fmt.Errorf("align/v%s.txt:%d: %w", name, i+1, err)
		}
	}
	return a, true, nil
}

// entry reads a line that is not indented.
func (a *alignment) entry(words []string) error {
	rest := words[1:]
	arg := func(i int) string {
		if i < len(rest) {
			return rest[i]
		}
		return ""
	}
	switch words[0] {
	case "rule":
		a.rules = append(a.rules, ir.Rule{Name: arg(0), Text: arg(1)})
	case "operation":
		a.operations = append(a.operations, &alignedOperation{rpc: arg(0), hub: arg(1), null: arg(2) == "null"})
	case "-operation":
		a.operations = append(a.operations, &alignedOperation{hub: arg(0), how: arg(1)})
	case "alias", "route":
		rpc := arg(1)
		if words[0] == "route" {
			rpc = arg(0)
		}
		i := slices.IndexFunc(a.operations, func(o *alignedOperation) bool { return o.rpc == rpc })
		if i < 0 {
			return fmt.Errorf("no operation %s", rpc)
		}
		if words[0] == "route" {
			a.operations[i].routes = append(a.operations[i].routes, spec.Route{Verb: arg(1), Path: arg(2), Body: arg(3)})
		} else {
			a.operations[i].aliases = append(a.operations[i].aliases, arg(0))
		}
	case "envelope":
		a.envelopes = append(a.envelopes, rest...)
	case "open":
		a.open = append(a.open, rest...)
	case "loss":
		a.losses = append(a.losses, Loss{Reading: arg(0) == "read", What: strings.Join(rest[1:], " ")})
	case "absent", "bare", "through":
		a.types = append(a.types, &alignedType{kind: words[0], hub: arg(0), arg: arg(1)})
	case "type", "covered":
		a.types = append(a.types, &alignedType{kind: words[0], hub: arg(0), arg: arg(1), olds: rest[min(2, len(rest)):]})
	case "message", "choice", "enum":
		a.types = append(a.types, &alignedType{kind: words[0], old: arg(0), hub: arg(1), arg: arg(2)})
	default:
		return fmt.Errorf("unknown word %q", words[0])
	}
	return nil
}

// member reads an indented line.
func (a *alignment) member(words []string) error {
	if len(a.types) == 0 || len(words) < 2 {
		return fmt.Errorf("a line of its own: %v", words)
	}
	t := a.types[len(a.types)-1]
	l := &alignedLine{name: words[0]}
	rest := l.flags(words[1:])
	t.lines = append(t.lines, l)
	if hub, ok := strings.CutPrefix(l.name, "-"); ok {
		l.name, l.class, l.value = hub, "absent", rest[0]
		return nil
	}
	arg := func(i int) string {
		if i < len(rest) {
			return rest[i]
		}
		return ""
	}
	if t.kind != "message" {
		l.class, l.target, l.value = t.kind, arg(0), arg(1)
		if len(rest) > 2 {
			l.shape = strings.Split(rest[2], ",")
		}
		return nil
	}
	l.class = rest[0]
	switch l.class {
	case "same", "drop":
	case "renamed":
		l.target = arg(1)
	case "const":
		l.value = arg(1)
	case "nested":
		l.as = arg(1)
	case "hook", "derive", "pair":
		l.hook, l.target, l.arg = arg(1), arg(2), arg(3)
	default:
		return fmt.Errorf("%s: unknown class %q", l.name, l.class)
	}
	return nil
}

// flags takes the flags out of words and returns the others.
func (l *alignedLine) flags(words []string) []string {
	var rest []string
	for _, w := range words {
		key, value, _ := strings.Cut(w, ":")
		switch key {
		case "must":
			l.must = true
		case "filled":
			l.filled = true
		case "written":
			l.written = true
		case "absent":
			l.fallback = true
		case "informal":
			l.informal = true
		case "as":
			l.as = value
		case "default":
			l.initial = value
		case "also":
			l.also = append(l.also, value)
		default:
			rest = append(rest, w)
		}
	}
	return rest
}

// message finds the lines of an older message that stands for a hub message, if hub is not empty.
func (a *alignment) message(old, hub string) *alignedType {
	for _, t := range a.types {
		if t.old == old && (hub == "" || t.hub == hub) {
			return t
		}
	}
	return nil
}
