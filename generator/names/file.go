package names

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// FileBase returns the base name of a Go file for id, without extension: "Forecast-Daily" gives "forecast_daily". It
// is made of lower-case ASCII letters, digits and single underscores, begins with a letter or digit, is never a path,
// never a name that Windows reserves and never one that Go treats specially (a test file, or one that is built for a
// single system only).
func FileBase(id string) string {
	name := ascii(id)
	if name == "" {
		name = "x"
	}
	name = capped(name, id)
	if special(name) {
		name += "_file"
	}
	return name
}

// ascii renders s as lower snake case in ASCII. Accents are dropped; any other foreign letter becomes its code point
// in hexadecimal.
func ascii(s string) string {
	ws, _ := words(s)
	var b strings.Builder
	for _, w := range ws {
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		for _, r := range norm.NFKD.String(strings.ToLower(w)) {
			switch {
			case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
				b.WriteRune(r)
			case unicode.Is(unicode.Mn, r):
			default:
				fmt.Fprintf(&b, "u%04x", r)
			}
		}
	}
	return strings.Trim(b.String(), "_")
}

// special reports whether Go or Windows gives the file base name a meaning of its own.
func special(name string) bool {
	if i := strings.LastIndexByte(name, '_'); i >= 0 {
		last := name[i+1:]
		if last == "test" || slices.Contains(goos, last) || slices.Contains(goarch, last) {
			return true
		}
	}
	return slices.Contains(windowsDevices, name)
}

// The systems and architectures, past, present and announced, that end the name of a constrained Go file.
var (
	goos = []string{
		"aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl", "netbsd", "openbsd",
		"plan9", "solaris", "wasip1", "wasip2", "windows", "zos",
	}
	goarch = []string{
		"386", "amd64", "amd64p32", "arm", "armbe", "arm64", "arm64be", "loong64", "mips", "mipsle", "mips64", "mips64le", "mips64p32",
		"mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x", "sparc", "sparc64", "wasm",
	}
)

// windowsDevices cannot be file names on Windows, with or without an extension.
var windowsDevices = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}
