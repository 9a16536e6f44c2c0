package pass_test

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/bench/internal/pass"
)

func TestTheBareCheckLooksAtTheSignature(t *testing.T) {
	dir := t.TempDir()
	o, err := pass.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, alg := range []string{pass.ES256, pass.RS256} {
		good, err := pass.Checker(dir, alg)
		if err != nil {
			t.Fatal(err)
		}
		one, two := o.Token(alg), o.Token(alg)
		if one == two || len(one) != len(two) {
			t.Errorf("%s: tokens are %q and %q", alg, one, two)
		}
		end := strings.LastIndexByte(one, '.')
		if !good(one) || !good(two) || good(one[:end]+two[end:]) {
			t.Errorf("%s: the check tells nothing", alg)
		}
	}
}
