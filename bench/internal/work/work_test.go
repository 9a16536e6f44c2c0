package work

import (
	"strings"
	"testing"
)

func TestParseReadsWhatTextWrites(t *testing.T) {
	for name, want := range map[string]Command{
		"message": {Kind: Message},
		"task":    {Kind: Task},
		"stream":  {Kind: Stream, N: 100},
		"paced":   {Kind: Paced, N: 7},
		"burst":   {Kind: Burst, N: 4000},
		"hold":    {Kind: Hold},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Parse(Text(want.Kind, want.N)); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestParseRefusesOtherText(t *testing.T) {
	for _, text := range []string{"", "message", "hello | there"} {
		if got := Parse(text); got.Kind != Unknown {
			t.Errorf("Parse(%q) = %+v", text, got)
		}
	}
}

func TestAnswersCarryTheToken(t *testing.T) {
	for _, s := range []string{Reply("abc"), Chunk("abc", 7), CardName("abc")} {
		if !strings.Contains(s, "abc") {
			t.Errorf("%q lacks the token", s)
		}
	}
	if got, want := Chunk("abc", 7), "abc chunk 7 of the answer"; got != want {
		t.Errorf("Chunk = %q, want %q", got, want)
	}
}
