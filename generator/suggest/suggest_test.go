package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"description", "defaultInputModes", "defaultOutputModes", "name", "tags", "id", "url"}
	tests := []struct{ name, word, want string }{
		{"a missing letter", "descripton", "description"},
		{"two swapped letters", "nmae", "name"},
		{"snake case of a camel case key", "default_input_modes", "defaultInputModes"},
		{"wrong capitals", "Tags", "tags"},
		{"singular for plural", "tag", "tags"},
		{"a short word one letter off", "ids", "id"},
		{"a short word two letters off is another word", "abc", ""},
		{"nothing alike", "temperature", ""},
		{"the empty word", "", ""},
		{"a word too long to be a slip", strings.Repeat("name", 50), ""},
		{"the exact word", "url", "url"},
		{"the end of one known word", "modes", ""},
		{"the beginning of one known word", "desc", "description"},
		{"three letters of a known word", "des", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Nearest(tt.word, known); got != tt.want {
				t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
			}
		})
	}
}

func TestKeyHint(t *testing.T) {
	if got, want := Key("nam", []string{"name", "id"}), `did you mean "name"?`; got != want {
		t.Errorf("close word: %q, want %q", got, want)
	}
	if got, want := Key("zzz", []string{"name", "id"}), "one of id, name"; got != want {
		t.Errorf("no close word: %q, want %q", got, want)
	}
	if got := Key("zzzzzz", strings.Split("aa bb cc dd ee ff gg hh ii jj kk ll mm nn oo pp qq", " ")); got != "" {
		t.Errorf("too many to list: %q, want none", got)
	}
	if got, want := OneOf([]string{"JSONRPC"}), "write JSONRPC"; got != want {
		t.Errorf("a single choice: %q, want %q", got, want)
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("descripton", "description")
	f.Add("é", "e")
	f.Fuzz(func(t *testing.T, word, known string) {
		if got := Nearest(word, []string{known}); got != "" && got != known {
			t.Errorf("Nearest invented %q", got)
		}
		if len(word) > maxWord || len(known) > maxWord {
			return
		}
		if d, back := distance(word, known), distance(known, word); d != back {
			t.Errorf("distance is not symmetric: %d and %d", d, back)
		}
	})
}
