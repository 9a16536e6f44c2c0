package format

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// validRegex reports whether s is a regular expression of ECMA-262 (§22.2.1, with the flag u, as JSON Schema 2020-12 §6.4
// recommends), which is what the format regex means. Whether Go can run it is another question.
func validRegex(s string) bool {
	e := ecma{rest: s, names: map[string]bool{}}
	e.disjunction(0)
	if e.bad || e.rest != "" || !utf8.ValidString(s) {
		return false
	}
	known := func(name string) bool {
		if n, err := strconv.Atoi(name); err == nil {
			return n <= e.groups
		}
		return e.names[name]
	}
	return !slices.ContainsFunc(e.refers, func(name string) bool { return !known(name) })
}

// ecma reads a regular expression from left to right.
type ecma struct {
	rest   string
	bad    bool
	groups int             // that capture
	names  map[string]bool // of them
	refers []string        // names and numbers that back references name
}

// maxGroups is how deep groups may be nested.
const maxGroups = 250

// take cuts prefix off the front, if it is there.
func (e *ecma) take(prefix string) bool {
	rest, ok := strings.CutPrefix(e.rest, prefix)
	e.rest = rest
	return ok
}

// char cuts one character off the front; -1 at the end.
func (e *ecma) char() rune {
	if e.rest == "" {
		return -1
	}
	r, n := utf8.DecodeRuneInString(e.rest)
	e.rest = e.rest[n:]
	return r
}

// digits cuts digits off the front.
func (e *ecma) digits() string {
	n := 0
	for n < len(e.rest) && e.rest[n] >= '0' && e.rest[n] <= '9' {
		n++
	}
	text := e.rest[:n]
	e.rest = e.rest[n:]
	return text
}

// disjunction reads up to the end or a closing bracket.
func (e *ecma) disjunction(depth int) {
	if depth > maxGroups {
		e.bad = true
	}
	for !e.bad && e.rest != "" && e.rest[0] != ')' {
		if !e.take("|") {
			e.term(depth)
		}
	}
}

func (e *ecma) term(depth int) {
	switch c := e.char(); c {
	case '^', '$':
		return
	case '(':
		if !e.group(depth) {
			return // an assertion, which nothing repeats
		}
	case '[':
		e.class()
	case '\\':
		if e.take("b") || e.take("B") {
			return
		}
		e.escape(false)
	case '*', '+', '?', '{', '}', ']':
		e.bad = true
	}
	e.quantifier()
}

func (e *ecma) quantifier() {
	switch {
	case e.take("*"), e.take("+"), e.take("?"):
	case e.take("{"):
		least, most := e.digits(), ""
		if e.take(",") {
			most = e.digits()
		}
		if least == "" || !e.take("}") || most != "" && less(most, least) {
			e.bad = true
		}
	default:
		return
	}
	e.take("?")
}

// less compares numbers of any length.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return len(a) < len(b) || len(a) == len(b) && a < b
}

// group reads what is after an opening bracket, and reports whether it may be repeated.
func (e *ecma) group(depth int) (repeats bool) {
	repeats = true
	switch {
	case !e.take("?"):
		e.groups++
	case e.take(":"):
	case e.take("="), e.take("!"), e.take("<="), e.take("<!"):
		repeats = false
	case e.take("<"):
		e.groups++
		name := e.name()
		e.bad = e.bad || e.names[name]
		e.names[name] = true
	default:
		e.modifiers()
	}
	e.disjunction(depth + 1)
	e.bad = e.bad || !e.take(")")
	return repeats
}

// modifiers reads the flags of a group: (?i:…), (?i-m:…).
func (e *ecma) modifiers() {
	flags, _, ok := strings.Cut(e.rest, ":")
	on, off, minus := strings.Cut(flags, "-")
	all := on + off
	if !ok || all == "" && minus || len(all) > 3 || strings.Trim(all, "ims") != "" {
		e.bad = true
		return
	}
	for i := range all {
		e.bad = e.bad || strings.Count(all, all[i:i+1]) > 1
	}
	e.rest = e.rest[len(flags)+1:]
}

// name reads the name of a group up to ">".
func (e *ecma) name() string {
	name, rest, ok := strings.Cut(e.rest, ">")
	e.rest = rest
	start := true
	for _, r := range name {
		if !(r == '$' || r == '_' || letter(r) || !start && (digit(r) || r == 0x200C || r == 0x200D)) {
			ok = false
		}
		start = false
	}
	e.bad = e.bad || !ok || name == ""
	return name
}

// class reads a class of characters, whose bracket was opened.
func (e *ecma) class() {
	e.take("^")
	for !e.take("]") {
		low := e.classAtom()
		if e.bad {
			return
		}
		if !strings.HasPrefix(e.rest, "-") || strings.HasPrefix(e.rest, "-]") {
			continue
		}
		e.take("-")
		high := e.classAtom()
		if low < 0 || high < 0 || low > high { // a class of its own is no end of a range
			e.bad = true
			return
		}
	}
}

// classAtom reads one character of a class; -1 for an escape that stands for several.
func (e *ecma) classAtom() rune {
	switch c := e.char(); c {
	case -1:
		e.bad = true
		return -1
	case '\\':
		return e.escape(true)
	default:
		return c
	}
}

// escape reads what is after a backslash. It returns the character that it stands for; -1 for several, or none.
func (e *ecma) escape(class bool) rune {
	if e.rest != "" && e.rest[0] >= '1' && e.rest[0] <= '9' && !class {
		e.refers = append(e.refers, e.digits())
		return -1
	}
	switch c := e.char(); c {
	case 'd', 'D', 's', 'S', 'w', 'W':
		return -1
	case 'p', 'P':
		e.property()
		return -1
	case 'f', 'n', 'r', 't', 'v':
		return rune("\f\n\r\t\v"[strings.IndexRune("fnrtv", c)])
	case '0':
		e.bad = e.bad || e.rest != "" && digit(rune(e.rest[0]))
		return 0
	case 'c':
		c := e.char()
		e.bad = e.bad || c > 'z' || !letter(c)
		return c % 32
	case 'x':
		return e.hex(2)
	case 'u':
		return e.unicode()
	case 'k':
		if class || !e.take("<") {
			e.bad = true
			return -1
		}
		e.refers = append(e.refers, e.name())
		return -1
	default:
		e.bad = e.bad || c < 0 || !strings.ContainsRune(`^$\.*+?()[]{}|/`, c) && (c != '-' || !class) && (c != 'b' || !class)
		return c
	}
}

// property reads the braces of \p{…}: what is named there is not looked up.
func (e *ecma) property() {
	name, rest, ok := strings.Cut(strings.TrimPrefix(e.rest, "{"), "}")
	known := strings.TrimFunc(name, func(r rune) bool { return r == '_' || r == '=' || r < 0x80 && (letter(r) || digit(r)) }) == ""
	e.bad = e.bad || !ok || !strings.HasPrefix(e.rest, "{") || name == "" || !known
	e.rest = rest
}

// unicode reads what is after \u: four hexadecimal digits, or any number of them in braces.
func (e *ecma) unicode() rune {
	if !e.take("{") {
		return e.hex(4)
	}
	digits, rest, ok := strings.Cut(e.rest, "}")
	e.rest = rest
	n, err := strconv.ParseUint(digits, 16, 64)
	e.bad = e.bad || !ok || err != nil || n > utf8.MaxRune
	return rune(n)
}

// hex reads a number of n hexadecimal digits.
func (e *ecma) hex(n int) rune {
	if len(e.rest) < n {
		e.bad = true
		return -1
	}
	v, err := strconv.ParseUint(e.rest[:n], 16, 32)
	e.bad, e.rest = e.bad || err != nil, e.rest[n:]
	return rune(v)
}

func letter(r rune) bool { return unicode.IsLetter(r) }
func digit(r rune) bool  { return r >= '0' && r <= '9' }
