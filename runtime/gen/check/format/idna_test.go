package format

import "testing"

// What an A-label stands for keeps to RFC 5892 and RFC 5891 §4.2.3. These are the cases of the official suite of JSON Schema.
func TestAHostnameOfOtherScriptsKeepsToIDNA(t *testing.T) {
	for _, test := range []struct {
		name, label string
		ok          bool
	}{
		{"not punycode", "xn--X", false},
		{"two hyphens in the third and fourth place", "xn--XN--aa---o47jg78q", false},
		{"an empty part before the delimiter", "xn---4gbwdl", false},
		{"a spacing mark first", "xn--hello-txk", false},
		{"a nonspacing mark first", "xn--hello-zed", false},
		{"an enclosing mark first", "xn--hello-6bf", false},
		{"exceptions that are valid, left to right", "xn--zca29lwxobi7a", true},
		{"exceptions that are valid, right to left", "xn--qmbc", true},
		{"exceptions that are not valid, right to left", "xn--chb89f", false},
		{"exceptions that are not valid, left to right", "xn--07jceefgh4c", false},
		{"a middle dot after another letter", "xn--al-0ea", false},
		{"a middle dot after nothing", "xn--l-fda", false},
		{"a middle dot before another letter", "xn--la-0ea", false},
		{"a middle dot before nothing", "xn--l-gda", false},
		{"a middle dot between l and l", "xn--ll-0ea", true},
		{"keraia before another script", "xn--S-jib3p", false},
		{"keraia before nothing", "xn--wva3j", false},
		{"keraia before Greek", "xn--wva3je", true},
		{"geresh after another script", "xn--A-2hc5h", false},
		{"geresh after nothing", "xn--5db1e", false},
		{"geresh after Hebrew", "xn--4dbc5h", true},
		{"gershayim after another script", "xn--A-2hc8h", false},
		{"gershayim after nothing", "xn--5db3e", false},
		{"gershayim after Hebrew", "xn--4dbc8h", true},
		{"a katakana middle dot among Latin", "xn--defabc-k64e", false},
		{"a katakana middle dot alone", "xn--vek", false},
		{"a katakana middle dot and hiragana", "xn--k8j5u", true},
		{"a katakana middle dot and katakana", "xn--bck0j", true},
		{"a katakana middle dot and Han", "xn--vek778f", true},
		{"digits of two Arabic kinds", "xn--ngb6iyr", false},
		{"Arabic digits", "xn--ngba1o", true},
		{"extended Arabic digits", "xn--0-gyc", true},
		{"a joiner after no virama", "xn--11b2er09f", false},
		{"a joiner after nothing", "xn--02b508i", false},
		{"a joiner after a virama", "xn--11b2ezcw70k", true},
		{"a non-joiner after a virama", "xn--11b2ezcs70k", true},
		{"a non-joiner between Arabic letters", "xn--ngba5hb2804a", true},
		{"German", "xn--bcher-kva", true},
		{"an emoji", "xn--i-7iq", false},
		{"a ligature", "xn--ab-2b1n", false},
		{"Japanese", "xn--r8jz45g.xn--zckzah", true},
		{"Korean", "xn--9n2bp8q.xn--9t4b11yi5a", true},
		{"Hindi", "xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g", true},
		{"Tamil", "xn--zkc6cc5bi7f6e.xn--hlcj6aya9esc7a", true},
		{"Russian", "xn--e1afmkfd.xn--80akhbyknj4f", true},
		{"Persian, with a non-joiner", "xn--hgbk6aj7f53bba.com", true},
	} {
		if got := Valid("hostname", test.label); got != test.ok {
			label, _ := fromPunycode(test.label[4:])
			t.Errorf("%s: %s (%q): %v", test.name, test.label, string(label), got)
		}
	}
}
