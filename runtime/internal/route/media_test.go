package route

import "testing"

// T48: a mode of 0.1 is a word such as text.
func TestMediaTypesAreMatchedWithWildcardsAndOldNames(t *testing.T) {
	for _, c := range []struct {
		modes []string
		media string
		want  bool
	}{
		{nil, "x/y", true}, {[]string{"text/plain"}, "text/plain; charset=utf-8", true}, {[]string{"TEXT/Plain"}, "text/plain", true}, {[]string{"image/*"}, "image/png", true},
		{[]string{"image/*"}, "imagex/png", false}, {[]string{"*/*"}, "a/b", true}, {[]string{"text"}, "text/plain", true}, {[]string{"data"}, "application/json", true},
		{[]string{"text/plain"}, "text/html", false}, {[]string{"text/plain"}, "", true},
	} {
		if got := Accepts(c.modes, c.media); got != c.want {
			t.Errorf("Accepts(%q, %q) is %v", c.modes, c.media, got)
		}
	}
}
