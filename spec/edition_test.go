package spec

import (
	"bytes"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestEdition2024IsReadAsWhatItMeans(t *testing.T) {
	for name, tt := range map[string]struct{ is, means string }{
		"declarations that share a line": {
			`export message A { local enum E { Z = 0; } E e = 1; } local message B { A a = 1; }`,
			`message A { enum E { Z = 0; } E e = 1; } message B { A a = 1; }`,
		},
		"a comment between":       {"export /* all */\nmessage A {}", "/* all */ message A {}"},
		"features of the file":    {"option features.enforce_naming_style = STYLE_LEGACY; option features.default_symbol_visibility=LOCAL_ALL; message A {}", "message A {}"},
		"the only option":         {"message A { string a = 1 [features.enforce_naming_style = STYLE2024]; }", "message A { string a = 1; }"},
		"the first option":        {"message A { string a = 1 [features.enforce_naming_style = STYLE2024, deprecated = true]; }", "message A { string a = 1 [deprecated = true]; }"},
		"the last options":        {"message A { string a = 1 [deprecated = true, features.enforce_naming_style = STYLE2024, features.enforce_naming_style = STYLE_LEGACY]; }", "message A { string a = 1 [deprecated = true]; }"},
		"features in one literal": {"option features = { enforce_naming_style: STYLE_LEGACY, field_presence: IMPLICIT }; message A { string a = 1; }", "option features = { field_presence: IMPLICIT }; message A { string a = 1; }"},
		"an import of options":    {`import option "other.proto"; message A {}`, `message A {}`},
		"fields named like these": {`message export {} message A { export message = 1; string local = 2; }`, `message export {} message A { export message = 1; string local = 2; }`},
		"strings that look so":    {`message A { string a = 1 [default = "; export message X {}"]; }`, `message A { string a = 1 [default = "; export message X {}"]; }`},
		"a comment of an edition": {"/* edition = \"2023\"; */ message A {}", "/* edition = \"2023\"; */ message A {}"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := fstest.MapFS{"other.proto": {Data: []byte(`edition = "2024"; export message Other {}`)}}
			read := func(src string) *Document {
				doc, list := ReadIn("x.proto", []byte(src), folder)
				if list.HasErrors() {
					t.Fatalf("%s\n%v", src, list)
				}
				doc.Descriptor, doc.Files = nil, nil
				return doc
			}
			got, want := read(`edition = '2024';`+"package p;\n"+tt.is), read(`edition = "2023";`+"package p;\n"+tt.means)
			ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Pos" }, cmp.Ignore())
			got.Messages = without(got.Messages, "p.Other", "Other")
			if diff := cmp.Diff(want, got, ignore); diff != "" {
				t.Errorf("(-means +is)\n%s", diff)
			}
		})
	}
}

func without(messages []*Message, names ...string) []*Message {
	var list []*Message
	for _, m := range messages {
		if m.Name != names[0] && m.Name != names[1] {
			list = append(list, m)
		}
	}
	return list
}

func TestAnImportedFileMayBeOfEdition2024(t *testing.T) {
	folder := fstest.MapFS{"common.proto": {Data: []byte("// Common things.\nedition = \"2024\";\npackage a; export message Common { string id = 1; } local message Own {}")}}
	doc, list := ReadIn("root.proto", []byte("syntax = \"proto3\";\npackage a;\nimport \"common.proto\";\nmessage Root { Common c = 1; }"), folder)
	if list.HasErrors() {
		t.Fatal(list)
	}
	if len(doc.Messages) != 3 || doc.Messages[1].Name != "Common" || doc.Messages[1].Pos.Col != 19 {
		t.Errorf("%+v", doc.Messages[1])
	}
}

func FuzzEdition2024KeepsPlaces(f *testing.F) {
	for _, s := range []string{
		"", `edition = "2024";`, `edition = "2024"; export message A { local enum E { Z = 0; } }`, "edition='2024';[features.enforce_naming_style=A,]",
		`edition = "2024"; option features = { enforce_naming_style: A`, `edition = "2024"; message A { string a = 1 [features.enforce_naming_style = A, deprecated = true]; }`,
		"edition = \"2024\"; /* ", "edition = \"2024\"; \"\\", `edition = "`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		src := []byte(s)
		got := as2023(src)
		if string(src) != s || len(got) != len(src) {
			t.Fatalf("%d bytes became %d", len(src), len(got))
		}
		for i := range src {
			if (src[i] == '\n') != (got[i] == '\n') {
				t.Fatalf("a line ends elsewhere, at %d", i)
			}
		}
		if again := as2023(got); !bytes.Equal(again, got) {
			t.Fatalf("%q became %q and then %q", s, got, again)
		}
	})
}
