package task

import (
	"fmt"
	"strings"
)

// formatted is a text with its arguments, as [fmt.Sprintf] has it; without any it stays as it is. It takes them as a
// list, so that go vet does not find fault with callers who have always given a text that is no constant.
func formatted(text string, args []any) string {
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	return text
}

// fill puts arguments in the places that a text has for them ("%s", "%.1f") and returns those that are left. Percent
// signs of prose stay as they are: one that is followed by a space or by what is no verb of fmt, and those for which
// there is no argument.
func fill(text string, args []any) (filled string, left []any) {
	if len(args) == 0 {
		return text, nil
	}
	var b strings.Builder
	for len(args) > 0 {
		before, rest, found := strings.Cut(text, "%")
		b.WriteString(before)
		if text = rest; !found {
			return b.String(), args
		}
		n := len(rest) - len(strings.TrimLeft(rest, "+-#0123456789."))
		switch {
		case rest != "" && rest[0] == '%':
			b.WriteByte('%')
			text = rest[1:]
		case n < len(rest) && strings.IndexByte("vTtbcdoOqxXUeEfFgGs", rest[n]) >= 0:
			fmt.Fprintf(&b, "%"+rest[:n+1], args[0])
			text, args = rest[n+1:], args[1:]
		default:
			b.WriteByte('%')
		}
	}
	return b.String() + text, nil
}
