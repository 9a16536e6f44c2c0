package project

import "testing"

func TestVersionsThatGoBack(t *testing.T) {
	for _, test := range []struct {
		version, than string
		want          bool
	}{
		{"1.2", "1.10", true}, {"1.10", "1.2", false}, {"1.2", "1.2.0", false}, {"1.2", "1.2.1", true}, {"v1.2", "1.3", true},
		{"1.0-beta", "1.0", true}, {"1.0", "1.0-beta", false}, {"1.0+a", "1.0+b", false}, {"2.0-beta", "1.0", false},
		{"2026-11-01", "2026-12-01", false}, {"", "1.0", false}, {"summer", "1.0", false}, {"1.0", "summer", false},
		{"99999999999999999999", "1", false},
	} {
		if got := isOlder(test.version, test.than); got != test.want {
			t.Errorf("%q is older than %q: %v", test.version, test.than, got)
		}
	}
}
