// Package check is what emitted skill types decode and validate with: a [Reader] and a [Checker] that collect the
// violations of a JSON Schema, each with the JSON pointer of the value that has it, instead of stopping at the first.
package check

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/wire"
)

// MaxViolations caps the violations that one error lists.
const MaxViolations = 100

// Checker collects violations while a value is walked. Enter, Index and Leave keep the JSON pointer of the place.
type Checker struct {
	path []step
	room [6]step // the first memory of path
	list []check.Violation
	// unread are the pointers of values that could not be read: nothing more is said about them.
	unread []string
	// decoded: the value was just read, so that the keys of its objects have been checked already.
	decoded bool
}

// step is one token of a JSON pointer: a key of the source, the name of a property, or an index. It keeps what it was
// given, so that going somewhere costs nothing; only a violation renders it.
type step struct {
	key   []byte
	name  string
	index int // -1: not an index
}

// Enter goes to a member of the present object.
func (c *Checker) Enter(name string) { c.path = append(c.path, step{name: name, index: -1}) }

// Index goes to an element of the present array.
func (c *Checker) Index(i int) { c.path = append(c.path, step{index: i}) }

// Leave goes back to what was entered last.
func (c *Checker) Leave() { c.path = c.path[:len(c.path)-1] }

// full reports whether no further violation is kept.
func (c *Checker) full() bool { return len(c.list) >= MaxViolations }

// Failf records a violation of the present value, unless that could not be read anyway.
func (c *Checker) Failf(format string, args ...any) {
	if c.full() {
		return
	}
	pointer := c.pointer()
	for _, u := range c.unread {
		if rest, ok := strings.CutPrefix(pointer, u); ok && (rest == "" || rest[0] == '/') {
			return
		}
	}
	c.list = append(c.list, check.Violation{Pointer: cut(pointer), Message: cut(fmt.Sprintf(format, args...))})
}

// maxText is the longest pointer or message of a violation, in bytes: a sender's long key is not echoed a hundred times.
const maxText = 1000

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// Missing records that the member name of the present object is required.
func (c *Checker) Missing(name string) {
	c.Enter(name)
	c.unreadf("required, but missing")
	c.Leave()
}

// unreadf records a violation after which nothing else is known about the present value.
func (c *Checker) unreadf(format string, args ...any) {
	c.Failf(format, args...)
	if len(c.unread) < MaxViolations {
		c.unread = append(c.unread, c.pointer())
	}
}

// Decoded reports whether the value was just read from JSON, so that absent properties have their defaults.
func (c *Checker) Decoded() bool { return c.decoded }

// pointer renders the present place (RFC 6901).
func (c *Checker) pointer() string {
	if len(c.path) == 0 {
		return ""
	}
	var b strings.Builder
	for _, s := range c.path {
		b.WriteByte('/')
		switch {
		case s.index >= 0:
			b.WriteString(strconv.Itoa(s.index))
		case s.key != nil:
			b.WriteString(wire.EscapePointer(string(s.key)))
		default:
			b.WriteString(wire.EscapePointer(s.name))
		}
	}
	return b.String()
}

// err returns what was collected, or nil.
func (c *Checker) err() error {
	if len(c.list) == 0 {
		return nil
	}
	return &check.Error{Violations: c.list}
}

// Validate runs the emitted check of a type on a value and returns nil or a [*check.Error].
func Validate[T any](v *T, check func(*Checker, *T)) error {
	c := Checker{}
	c.path = c.room[:0]
	if v == nil {
		c.Failf("required, but not set")
		return c.err()
	}
	check(&c, v)
	return c.err()
}

// Decode reads src into v with the emitted reader and check of its type. The error is a [*check.Error]; v is then not to be used.
func Decode[T any](src []byte, v *T, read func(*Reader) T, check func(*Checker, *T)) error {
	r := Reader{}
	r.path = r.room[:0]
	r.in.Reset(src)
	*v = read(&r)
	if err := r.in.Done(); err != nil {
		return malformed(err)
	}
	r.decoded = true
	check(&r.Checker, v)
	return r.err()
}

// malformed turns a failure of the JSON reader into an Error.
func malformed(err error) error {
	if e, ok := err.(*wire.Error); ok {
		return &check.Error{Violations: []check.Violation{{Pointer: e.Pointer, Message: e.Reason}}}
	}
	return &check.Error{Violations: []check.Violation{{Message: err.Error()}}}
}

// Append validates v and appends it as JSON. The error is a [*check.Error], and dst is then unchanged.
func Append[T any](dst []byte, v *T, check func(*Checker, *T), write func([]byte, *T) []byte) ([]byte, error) {
	if err := Validate(v, check); err != nil {
		return dst, err
	}
	return write(dst, v), nil
}
