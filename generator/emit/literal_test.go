package emit

import (
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"
)

func TestCommentsAreBehindTheirFieldsWhereAllHaveRoom(t *testing.T) {
	room := maxColumns - len("\tName string // ")
	for what, test := range map[string]struct{ comment, want string }{
		"none":       {"", "\tName string\n\tA    string // of a\n"},
		"short":      {"What\tit is.", "\tName string // What it is.\n\tA    string // of a\n"},
		"as long":    {strings.Repeat("é", room), "\tName string // " + strings.Repeat("é", room) + "\n\tA    string // of a\n"},
		"longer":     {strings.Repeat("é", room+1), "\t// " + strings.Repeat("é", room+1) + "\n\tName string\n\t// of a\n\tA string\n"},
		"two lines":  {"a\nb", "\t// a\n\t// b\n\tName string\n\t// of a\n\tA string\n"},
		"directive":  {"go:embed x", "\tName string // “go:embed x”\n\tA    string // of a\n"},
		"deprecated": {"Deprecated: gone.", "\t// Deprecated: gone.\n\tName string\n\t// of a\n\tA string\n"},
	} {
		field := func(name, comment string) described {
			return described{comment, []string{name, "string"}, jen.Id(name).String()}
		}
		f := newFile("example.com/x", "x")
		f.Type().Id("T").Struct(withComments([]described{field("Name", test.comment), field("A", "of a")})...)
		out, err := render(f, "x/x.gen.go")
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(string(out.Data), "struct {\n"); got != test.want+"}\n" {
			t.Errorf("%s:\n%s", what, got)
		}
	}
}
