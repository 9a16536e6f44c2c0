package yamlx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

func parseText(t *testing.T, file, src string) (*yaml.Node, string) {
	t.Helper()
	n, list := Parse(file, []byte(src))
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return n, strings.TrimSuffix(b.String(), "\n")
}

func TestParseGivesPlainValues(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"numbers keep their digits", "a: 1.10\nb: 12345678901234567890123\nc: 1e3\nd: -0\n", `{"a":1.10,"b":12345678901234567890123,"c":1e3,"d":-0}`},
		{"numbers JSON spells otherwise", "a: 0x1F\nb: 1_000\nc: +5\nd: .5\ne: 0o17\nf: 5.\n", `{"a":31,"b":1000,"c":5,"d":0.5,"e":15,"f":5}`},
		{"dates are text", "a: 2024-01-02\nb: 2024-01-02T03:04:05Z\n", `{"a":"2024-01-02","b":"2024-01-02T03:04:05Z"}`},
		{"yes and no are text, true and null are not", "a: yes\nb: no\nc: True\nd: ~\ne:\n", `{"a":"yes","b":"no","c":true,"d":null,"e":null}`},
		{"keys are text", "1: a\ntrue: b\n2024-01-01: c\n", `{"1":"a","true":"b","2024-01-01":"c"}`},
		{"aliases stand for what they name", "a: &x [1, {b: c}]\nd: *x\n", `{"a":[1,{"b":"c"}],"d":[1,{"b":"c"}]}`},
		{"an alias as a key", "&k a: 1\nb: {*k : 2}\n", `{"a":1,"b":{"a":2}}`},
		{"block texts", "a: |\n  x\n  y\nb: >-\n  x\n  y\n", `{"a":"x\ny\n","b":"x y"}`},
		{"a byte order mark", "\ufeffa: 1\n", `{"a":1}`},
		{"an explicit text tag", "a: !!str 12\n", `{"a":"12"}`},
		{"JSON with tabs, surrogate pairs and escaped slashes", "{\n\t\"a\": \"\\ud83d\\ude00\\/\"\n}", `{"a":"😀/"}`},
		{"JSON with a key longer than YAML allows", `{"` + strings.Repeat("k", 2000) + `":1}`, `{"` + strings.Repeat("k", 2000) + `":1}`},
		{"YAML that begins like JSON", "{a: b, c: [d]}", `{"a":"b","c":["d"]}`},
		{"U+2028 in a text", "a: \"x\u2028y\"\n", "{\"a\":\"x\u2028y\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, problems := parseText(t, "f.yaml", tt.src)
			if problems != "" {
				t.Fatalf("problems: %s", problems)
			}
			if diff := cmp.Diff(tt.want, string(JSON(n))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefusesWithPosition(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
	}
	tower := "a0: &a0 x\n"
	for i := 1; i < 105; i++ {
		tower += fmt.Sprintf("a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	tests := []struct{ name, file, src, want string }{
		{"duplicate keys at every level", "f.yaml", "a: 1\nb: {c: 1, c: 2}\na: 2\n",
			"f.yaml:2:11: key \"c\" is written twice\n\tf.yaml:2:5: first here\nf.yaml:3:1: key \"a\" is written twice\n\tf.yaml:1:1: first here"},
		{"duplicate keys in JSON, also when escaped", "f.json", "{\"a\": 1,\n \"\\u0061\": 2}",
			"f.json:2:2: key \"a\" is written twice\n\tf.json:1:2: first here"},
		{"columns count characters, not bytes", "f.yaml", "é: 1\n\"ü\": [ä, !x ö]\n", "f.yaml:2:10: tag !x is not supported (remove it)"},
		{"columns count characters in JSON too", "f.json", `{"é": "ä", "é": 1}`, "f.json:1:12: key \"é\" is written twice\n\tf.json:1:2: first here"},
		{"bytes that are not UTF-8", "f.yaml", "a: 1\nb: \xff\n", "f.yaml:2:4: byte 0xff is not UTF-8 (save the file as UTF-8)"},
		{"a control character", "f.yaml", "a: x\x00y\n", "f.yaml:1:5: control character U+0000 (remove it, or write it as an escape inside double quotes)"},
		{"a tab", "f.yaml", "a:\n\tb: 1\n", "f.yaml:2:1: a tab cannot indent YAML (use spaces)"},
		{"a reserved character", "f.yaml", "a: @b\n", "f.yaml:1:4: a plain text cannot begin with '@' (put the text in quotes)"},
		{"an unknown anchor", "f.yaml", "a: *b\n", "f.yaml:1:4: unknown anchor 'b' referenced"},
		{"an alias bomb", "f.yaml", bomb, "f.yaml:6:14: aliases expand to more than 200000 values"},
		{"a tower of aliases", "f.yaml", tower, "f.yaml:100:12: nested deeper than 100 levels"},
		{"deep nesting", "f.yaml", strings.Repeat("[", 101) + strings.Repeat("]", 101), "f.yaml:1:101: nested deeper than 100 levels"},
		{"very deep nesting in JSON", "f.json", strings.Repeat("[", 50_000), "f.json:1:101: nested deeper than 100 levels"},
		{"very deep block nesting", "f.yaml", strings.Repeat("- ", 20_000), "f.yaml:1:20001: nested deeper than 100 levels"},
		{"a file too large", "f.yaml", strings.Repeat("#", MaxBytes+1), "f.yaml:1:1: the file has 4194305 bytes, more than the 4194304 that are read"},
		{"too many values", "f.yaml", "[" + strings.Repeat("{a: 1},", 100_001) + "]", "f.yaml:1:466664: the file holds more than 200000 values"},
		{"a second document", "f.yaml", "a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document begins here (one file holds one document: remove the --- line)"},
		{"broken YAML after the first document", "f.yaml", "a: 1\n---\nb: [\n", "f.yaml:4:1: did not find expected node content"},
		{"a quote that only another one closes", "f.yaml", "a:\n  - b: \"x\n    c: 'it''s'\n    d: {e: \"y.\"}\n", "f.yaml:2:8: the text in quotes that begins here ends only in line 4 (close the quote)"},
		{"a single quote that only another one closes", "f.yaml", "é: 'x\nb: \"it's\"\nc: 1\n", "f.yaml:1:4: the text in quotes that begins here ends only in line 2 (close the quote)"},
		{"a quote in a list that only another one closes", "f.yaml", "a: [b, \"c]\nd: e # \"\nf: \"g\"\n", "f.yaml:1:8: the text in quotes that begins here ends only in line 2 (close the quote)"},
		{"a quote that nothing closes", "f.yaml", "a: 1\nb: \"x\nc: 1\n", "f.yaml:2:4: a quoted text is not closed"},
		{"a mistake after texts of several lines", "f.yaml", "a: \"x\n  y\"\nt: |\n  \"it\n  - 'is\nb: [\"c\"\nd: @\n", "f.yaml:7:4: a plain text cannot begin with '@' (put the text in quotes)"},
		{"nothing", "f.yaml", "", "f.yaml:1:1: the file is empty"},
		{"only a document marker", "f.yaml", "---\n", ""},
		{"JSON that stops", "f.json", "{\"a\": [1,\n 2", "f.json:2:3: not JSON: the text ends too early"},
		{"JSON with a comma too many", "f.json", "{\"a\": 1,\n}", "f.json:1:8: not JSON: a comma too many (remove it)"},
		{"JSON followed by more", "f.json", "{} {}", "f.json:1:4: not JSON: text follows the JSON value"},
		{"a map as a key", "f.yaml", "{a: b}: c\n", "f.yaml:1:1: a key must be text"},
		{"a null key", "f.yaml", "~: c\n", "f.yaml:1:1: a key must be text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := parseText(t, tt.file, tt.src)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a: 1\n", "a: &x [1]\nb: *x\n", `{"a": "\ud83d\ude00"}`, "a: !!binary x\n", "? [a]\n: b\n", "<<: {a: 1}\n", "a: 0x1\nb: .inf\n", "---\n", "a: |\n x\n", "a: \"\\U0001F600\u2028\"", "&a [*a]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n, list := Parse("f.yaml", src)
		for _, d := range list {
			if d.Pos.Line < 1 || d.Pos.Col < 1 {
				t.Errorf("no position: %v", d)
			}
		}
		if list.HasErrors() {
			return
		}
		text := JSON(n)
		again, list := Parse("f.json", text)
		if list.HasErrors() {
			t.Fatalf("its own JSON %s: %v", text, list)
		}
		if diff := cmp.Diff(string(text), string(JSON(again))); diff != "" {
			t.Errorf("read again (-first +second):\n%s", diff)
		}
		wrapped := NewMap(n)
		Set(wrapped, "k", n)
		written := Block(wrapped, 0)
		back, list := Parse("f.yaml", []byte(written))
		if list.HasErrors() {
			t.Fatalf("its own YAML %q: %v", written, list)
		}
		if diff := cmp.Diff(string(text), string(JSON(Get(back, "k")))); diff != "" {
			t.Errorf("written as %q (-first +second):\n%s", written, diff)
		}
	})
}
