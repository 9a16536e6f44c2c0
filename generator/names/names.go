// Package names decides what generated code is called. It turns any text into Go identifiers and file names that are
// safe to emit, and gives names to what an agent's packages declare: its types, methods and files. Lowering calls it;
// what was read has no Go names before, and emitters take the names as they are. The unexported helpers that they print
// are called by a word of their own in front of such a name ("readForecastInput"), so that no two can meet.
//
// Text comes from protocol definitions and from agent cards, so it may be hostile: for any input, the output
// is a valid identifier or a plain file name of bounded length, and equal text always gives equal names.
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest identifier or file base name that is made, in bytes. A longer one is cut and ends in a hash of
// the whole text, so that long names which differ stay different.
const maxName = 64

// Go returns the exported Go identifier for s: "context_id" gives "ContextID", "oauth2MetadataUrl" gives
// "OAuth2MetadataURL". Snake, kebab and camel case, blanks and punctuation all separate words. Text that cannot begin
// an exported identifier (digits, scripts without upper case) is put behind an "X"; text without any letter or digit
// gives "X".
func Go(s string) string {
	ws, screaming := words(s)
	var b strings.Builder
	for _, w := range ws {
		b.WriteString(exportedWord(w, screaming))
	}
	name := b.String()
	if first, _ := utf8.DecodeRuneInString(name); !unicode.IsUpper(first) {
		name = "X" + name
	}
	return capped(name, s)
}

// Package returns the Go package name for s: lower-case ASCII letters and digits, never a keyword or predeclared name.
func Package(s string) string {
	name := strings.ReplaceAll(ascii(s), "_", "")
	switch {
	case name == "" || name[0] < 'a' || name[0] > 'z':
		name = "x" + name
	case token.IsKeyword(name) || slices.Contains(predeclared, name) || name == "main" || name == "internal" || name == "vendor" || name == "testdata":
		name += "pkg"
	}
	return capped(name, s)
}

// FakePackage returns the name of the package with the fake of what s names: "weather" gives "weathertest".
func FakePackage(s string) string { return Package(s + "test") }

// exportedWord renders one word inside an identifier: an initialism in its usual spelling, else with its first letter
// upper. In text without lower case ("TASK_STATE") the rest of the word is lowered, unless it is a code ("EMEA_SOUTH");
// otherwise it is kept ("JSONSchema").
func exportedWord(w string, screaming bool) string {
	lower := strings.ToLower(w)
	if s, ok := initialisms[lower]; ok {
		return s
	}
	if stem, ok := strings.CutSuffix(lower, "s"); ok && initialisms[stem] != "" {
		return initialisms[stem] + "s"
	}
	switch {
	case screaming && codes[lower] != "":
		return codes[lower]
	case screaming:
		w = lower
	}
	first, size := utf8.DecodeRuneInString(w)
	return string(unicode.ToUpper(first)) + w[size:]
}

// capped cuts name to maxName bytes, marking a cut with a hash of source.
func capped(name, source string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(source))
	mark := hex.EncodeToString(sum[:4])
	cut := maxName - len(mark)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return strings.TrimRight(name[:cut], "_") + mark
}
