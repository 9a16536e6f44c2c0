package shell

import "testing"

func TestWords(t *testing.T) {
	if got := Words([]string{"npx", "-y", "a b", ""}); got != "npx -y 'a b' ''" {
		t.Errorf("got %s", got)
	}
}

func TestWord(t *testing.T) {
	for in, want := range map[string]string{
		"a/b-c_1.0": "a/b-c_1.0", "http://127.0.0.1:8080": "http://127.0.0.1:8080", "": "''",
		"my agent": "'my agent'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "https://a.example/?x=1&y": "'https://a.example/?x=1&y'",
	} {
		if got := Word(in); got != want {
			t.Errorf("Word(%q) = %s, want %s", in, got, want)
		}
	}
}
