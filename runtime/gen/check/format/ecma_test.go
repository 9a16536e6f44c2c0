package format

import (
	"strconv"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

func TestRegexIsThatOfECMA(t *testing.T) {
	for _, s := range []string{
		``, `a|b`, `|`, `([abc])+\s+$`, `a{2,3}`, `a{2,}?`, `a{2}`, `[^a-z]`, `a+?`, `^\S(|(.|\n)*\S)$`, `(?<name>x)`, `(?<n>a)\k<n>`, `\k<n>(?<n>a)`, `(?<=a+)b`,
		`(?<!a)b`, `(?=a)b`, `(?!a)`, `[]`, `[^]`, `\cA`, `[\cA]`, `(a)\1`, `\1(a)`, `\u00e9`, `\u{1F600}`, `\x41`, `\0`, `[\0-\x1f]`, `\p{L}`, `\p{Script=Greek}`, `[\p{Lu}\d]`,
		`\/`, `[\-a]`, `[a-]`, `[-a]`, `(?i:a)b`, `(?i-m:a)`, `(?:a)*`, `\bx\B`, `[\b]`, `ü+`, `(?<größe>x)`, `.`, `^$`, `[(*+?{}|)]`, `x{0,99999999999999999999999}`,
	} {
		if !Valid("regex", s) {
			t.Errorf("refused: %s", s)
		}
	}
	for _, s := range []string{
		`^(abc]`, `*a`, `[z-a]`, `\`, `a)`, `[abc`, `\a`, `\Z`, `\A`, `(?P<name>x)`, `(?P<n>a)(?P=n)`, `(?#comment)a`, `(?i)abc`, `(?ims)abc`, `(?ii:a)`, `(?x:a)`, `(?-:a)`, `a**`,
		`a{3,2}`, `a{`, `a{,2}`, `}`, `]`, `(`, `(?`, `(?<n>a)(?<n>b)`, `(?<1>a)`, `(?<>a)`, `\k<n>`, `\1`, `(a)\2`, `\u12`, `\u{110000}`, `\x4`, `\c`, `\c1`, `\01`, `\p`, `\p{}`, `\pL`,
		`[\d-z]`, `\-`, `\Q..\E`, `[[:alpha:`, `(?=a)*`, `^*`, `\b+`, `\_`,
	} {
		if Valid("regex", s) {
			t.Errorf("taken: %s", s)
		}
	}
}

func TestRegexTakesLinearTime(t *testing.T) {
	for name, piece := range map[string]string{
		"groups": "(a)", "classes": "[a-z]", "repetitions": "a{1,2}", "open groups": "(", "names": "(?<n@>x)\\k<n@>", "no names": "\\k<n@>",
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 2<<10, func(n int) func() {
				var b strings.Builder
				for i := range n {
					b.WriteString(strings.ReplaceAll(piece, "@", strconv.Itoa(i)))
				}
				src := b.String()
				return func() { Valid("regex", src) }
			})
		})
	}
}

func TestDurationsAreThoseOfTheRFC(t *testing.T) {
	for s, ok := range map[string]bool{
		"P1Y2M3DT4H5M6S": true, "P1M2D": true, "PT1H30M": true, "PT1M2S": true, "P01D": true, "P" + strings.Repeat("9", 70) + "D": true, "P1Y2M": true,
		"PT0.5S": false, "PT0,5S": false, " P1D": false, "P1D ": false, "": false, "P1Y2D": false, "PT1H2S": false, "-P1D": false, "P-1D": false, "P1D2T3H": false,
		"P1e2D": false, "P1D\n": false, "P1WT1H": false, "P0Y1W": false, "P২Y": false,
	} {
		if Valid("duration", s) != ok {
			t.Errorf("%q: %v", s, !ok)
		}
	}
}

func TestQuotedLocalPartsOfAddresses(t *testing.T) {
	for s, ok := range map[string]bool{
		`"joe bloggs"@example.com`: true, `"joe@bloggs"@example.com`: true, `""@iana.org`: true, `"\a"@iana.org`: true, `"\""@iana.org`: true, `"\\"@iana.org`: true, `a@[ipv6:::1]`: true,
		`"test\©"@iana.org`: false, `"test"test@iana.org`: false, `"test@iana.org`: false, `"\"@iana.org`: false, `test"@iana.org`: false, "\"a\tb\"@iana.org": false, `"a"b"@iana.org`: false,
	} {
		if Valid("email", s) != ok {
			t.Errorf("%s: %v", s, !ok)
		}
	}
}
