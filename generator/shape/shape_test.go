package shape

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/yamlx"
)

var pet = &Object{
	Name: "pet", Doc: "An animal.",
	Fields: []*Field{
		{Key: "name", Type: &Type{Kind: Text, Min: 1, Max: 10}, Required: true, Doc: "What it is called."},
		{Key: "kind", Type: &Type{Kind: Text, Choices: []string{"cat", "dog"}}, Doc: "What it is.", Default: "cat"},
		{Key: "legs", Type: &Type{Kind: Int, Min: 1, Max: 8}, Doc: "How many."},
		{Key: "friends", Type: &Type{Kind: List, Min: 1, Max: 2, Elem: &Type{Kind: Struct}}, Doc: "Others."},
	},
}

func init() { pet.Field("friends").Type.Elem.Object = pet } // declarations may recurse

func check(t *testing.T, src string, lenient bool) (left, problems string) {
	t.Helper()
	root, list := yamlx.Parse("f", []byte(src))
	if list.HasErrors() {
		t.Fatal(list)
	}
	c := &Checker{File: "f", Lenient: lenient}
	c.Check(root, pet)
	c.List.Sort()
	var b strings.Builder
	if err := c.List.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return string(yamlx.JSON(root)), b.String()
}

func TestStrictCheckChangesNothing(t *testing.T) {
	const src = `{name: Tom, kind: bird, legs: 9, friends: [{name: ""}, {name: Spike}, {}], color: blue}`
	left, problems := check(t, src, false)
	want := `f:1:19: "kind" cannot be "bird" (one of cat, dog)
f:1:31: "legs" must be between 1 and 8, not 9
f:1:43: "friends" has 3 elements, more than 2
f:1:51: "name" is empty
f:1:71: pet lacks the key "name"
f:1:76: unknown key "color" in pet (one of friends, kind, legs, name)
`
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`{"name":"Tom","kind":"bird","legs":9,"friends":[{"name":""},{"name":"Spike"},{}],"color":"blue"}`, left); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
}

func TestMistakesBelowAMisspeltKeyAreReportedToo(t *testing.T) {
	_, problems := check(t, `{name: Tom, freinds: [{nmae: x, legs: 9}]}`, false)
	want := `f:1:13: unknown key "freinds" in pet (did you mean "friends"?)
f:1:24: unknown key "nmae" in pet (did you mean "name"?)
f:1:39: "legs" must be between 1 and 8, not 9
`
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLenientCheckLeavesOutWhatDoesNotFit(t *testing.T) {
	tests := []struct{ name, src, left, problems string }{
		{"values and keys", `{name: Tom, kind: bird, legs: null, color: blue, friends: [{name: ""}, {name: Spike}]}`,
			`{"name":"Tom","friends":[{"name":"Spike"}]}`,
			"f:1:19: warning: \"kind\" cannot be \"bird\": left out\nf:1:37: warning: unknown key \"color\" in pet: left out\nf:1:60: warning: pet lacks the key \"name\": left out\nf:1:67: warning: \"name\" is empty: left out\n"},
		{"a list of which nothing is left", `{name: Tom, friends: [{}]}`, `{"name":"Tom"}`, "f:1:23: warning: pet lacks the key \"name\": left out\n"},
		{"a required key is not forgiven", `{name: [], legs: 3}`, `{"legs":3}`, "f:1:1: pet lacks the key \"name\"\nf:1:8: warning: \"name\" must be text, not a list: left out\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			left, problems := check(t, tt.src, true)
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("the tree (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportsEndSomewhere(t *testing.T) {
	root, _ := yamlx.Parse("f", []byte("name: Tom\n"+strings.Repeat("a", 3)+": 1\nfriends: ["+strings.Repeat("{},", 5000)+"]\n"))
	c := &Checker{File: "f"}
	c.Check(root, pet)
	if len(c.List) != maxReports || !c.List.HasErrors() {
		t.Errorf("%d diagnostics, want %d", len(c.List), maxReports)
	}
}

func TestAnErrorIsReportedAfterAnyNumberOfWarnings(t *testing.T) {
	var src strings.Builder
	for i := range 2 * maxReports {
		fmt.Fprintf(&src, "key%d: 1\n", i)
	}
	root, _ := yamlx.Parse("f", []byte(src.String()))
	c := &Checker{File: "f", Lenient: true}
	c.Check(root, pet)
	if !c.List.HasErrors() || len(c.List) > maxReports+1 {
		t.Errorf("%d diagnostics, errors %v", len(c.List), c.List.HasErrors())
	}
}

func TestOrderedFollowsTheDeclarationAndDropsTheRest(t *testing.T) {
	root, _ := yamlx.Parse("f", []byte(`{legs: 4, x: 1, friends: [{kind: dog, name: Spike}], name: Tom}`))
	want := `{"name":"Tom","legs":4,"friends":[{"name":"Spike","kind":"dog"}]}`
	if diff := cmp.Diff(want, string(yamlx.JSON(Ordered(root, pet)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMarkdownHasOneTableAnObject(t *testing.T) {
	got := string(Markdown(pet))
	if strings.Count(got, "### pet") != 1 || !strings.Contains(got, "| `kind` | text: `cat`, `dog` | cat | What it is. |\n") || !strings.Contains(got, "| **required** |") {
		t.Errorf("tables:\n%s", got)
	}
}

func TestReplaceSection(t *testing.T) {
	doc := "a\n<!-- begin x: how -->\nold\n<!-- end x -->\nb\n"
	got, err := ReplaceSection([]byte(doc), "x", []byte("new\n"))
	if err != nil || string(got) != "a\n<!-- begin x: how -->\nnew\n<!-- end x -->\nb\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ReplaceSection([]byte(doc), "y", nil); err == nil {
		t.Error("a section that is not there is replaced")
	}
}

func TestBadURL(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://example.com/a?b#c", ""},
		{"http://127.0.0.1:8080", ""},
		{"HTTP://example.com", ""},
		{"example.com", "it does not begin with https://"},
		{"ftp://example.com", "its scheme is ftp"},
		{"https:///path", "it names no host"},
		{"https://u@example.com", "it holds credentials"},
		{"https://exa mple.com", "it cannot be parsed"},
		{"https://example.com/a\nb", "it cannot be parsed"},
		{`https://example.com\@evil.example`, "it cannot be parsed"},
		{"https://example.com:port", "it cannot be parsed"},
	}
	for _, tt := range tests {
		if got := BadURL(tt.url); got != tt.want {
			t.Errorf("BadURL(%q) = %q, want %q", tt.url, got, tt.want)
		}
	}
}

func TestAnElementMayBeShortOrLong(t *testing.T) {
	long := &Object{Name: "long form", Fields: []*Field{{Key: "b", Type: &Type{Kind: Text}}, {Key: "a", Type: &Type{Kind: Text}, Required: true}}}
	root := &Object{Name: "thing", Fields: []*Field{{Key: "list", Type: &Type{Kind: List, Elem: &Type{Kind: Text, Or: &Type{Kind: Struct, Object: long}, NotScalar: "write one"}}}}}
	for src, want := range map[string]string{
		"list: [x, {a: y}]":   "",
		"list: [x, {b: y}]":   `x.yaml:1:11: long form lacks the key "a"`,
		"list: [[x], {a: y}]": `x.yaml:1:8: an element of "list" must be text, not a list (write one)`,
	} {
		n, list := yamlx.Parse("x.yaml", []byte(src))
		if len(list) > 0 {
			t.Fatal(list)
		}
		c := &Checker{File: "x.yaml"}
		c.Check(n, root)
		got := ""
		if len(c.List) > 0 {
			got = c.List[0].String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
		if want == "" {
			n, _ := yamlx.Parse("x.yaml", []byte("list: [x, {a: y, b: z}]"))
			if got := string(yamlx.JSON(Ordered(n, root))); got != `{"list":["x",{"b":"z","a":"y"}]}` {
				t.Errorf("ordered: %s", got)
			}
		}
	}
	if doc := string(Markdown(root)); !strings.Contains(doc, "| `list` | list of text or long form |") || !strings.Contains(doc, "### long form\n") {
		t.Errorf("the tables are %s", doc)
	}
}
