package carddiff

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Has reports whether one of the findings has an effect.
func Has(list []Finding, e Effect) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Effect == e })
}

// Count says how many findings there are of each effect: "2 breaking, 1 cosmetic".
func Count(list []Finding) string {
	var parts []string
	for _, e := range effects {
		n := 0
		for _, f := range list {
			if f.Effect == e {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, e))
		}
	}
	if parts == nil {
		return "no difference for callers"
	}
	return strings.Join(parts, ", ")
}

// WriteText prints findings for people, each with what to do, and how many there are.
func WriteText(w io.Writer, list []Finding) error {
	for _, f := range list {
		if _, err := fmt.Fprintf(w, "%-10s  %s: %s\n", f.Effect, f.Path, f.Text); err != nil {
			return err
		}
		if f.Do == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-10s  -> %s\n", "", f.Do); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, Count(list))
	return err
}

// maxText is how many characters of a text are shown.
const maxText = 300

// clean makes a text of a card one line without control characters, which a terminal would obey.
func clean(s string) string {
	if rs := []rune(s); len(rs) > maxText {
		s = string(rs[:maxText-1]) + "…"
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
