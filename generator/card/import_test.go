package card

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// TestImportConvertsToOneZero imports every NAME.card of testdata/import.txtar, and compares the diagnostics and the card that comes
// out with NAME.want (T22).
func TestImportConvertsToOneZero(t *testing.T) {
	const file = "testdata/import.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	updated := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
			want[name] = string(f.Data)
		}
	}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".card")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			got := imported(t, f.Data)
			updated.Files = append(updated.Files, f, txtar.File{Name: name + ".want", Data: []byte(got)})
			if diff := cmp.Diff(want[name], got); diff != "" && !*update {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// imported renders what Import makes of a card: diagnostics, skills, origin and the card.
func imported(t *testing.T, src []byte) string {
	t.Helper()
	card, list := Import("card", src)
	out := printed(t, list)
	if card == nil {
		return out
	}
	out += "origin " + card.Origin + "\n"
	for _, s := range card.Skills {
		out += "skill " + s.ID
		if s.Input != nil {
			out += " with input"
		}
		out += "\n"
	}
	var b bytes.Buffer
	if err := json.Indent(&b, public(card), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out + b.String() + "\n"
}

// TestScaffoldOfRealCardsIsWithoutMistakes scaffolds agent.yaml from cards that exist outside this project, and compares
// the text with a golden file that reads back without a diagnostic, with the same skills.
func TestScaffoldOfRealCardsIsWithoutMistakes(t *testing.T) {
	for _, name := range []string{"weatherbot", "routeplanner"} {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile("testdata/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			card, list := Import(name+".json", src)
			if list.HasErrors() {
				t.Fatal(list)
			}
			got, _ := Scaffold(card, []Offer{{"1.0", []string{"JSONRPC", "HTTP+JSON"}}})
			golden(t, "testdata/"+name+".agent.yaml", got)
			fresh, list := Read("agent.yaml", got, noFiles)
			if len(list) > 0 {
				t.Fatalf("the scaffold has mistakes:\n%s", printed(t, list))
			}
			if diff := cmp.Diff(skillsOf(card), skillsOf(fresh)); diff != "" {
				t.Errorf("skills (-imported +scaffolded):\n%s", diff)
			}
		})
	}
}

func skillsOf(c *Card) string {
	n, _ := c.Public()
	return string(yamlx.JSON(yamlx.Get(n, "skills")))
}

func public(c *Card) []byte {
	n, _ := c.Public()
	return yamlx.JSON(n)
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestFreshCardIsWithoutMistakesAndTakesAppendedSkills(t *testing.T) {
	src := Fresh("Weather: \"now\"", "Says the weather.\nAll of it.", []string{"forecast", "open_windows"}, []string{"yes"}, "")
	card, list := Read("agent.yaml", src, noFiles)
	if len(list) > 0 {
		t.Fatalf("mistakes:\n%s\n%s", printed(t, list), src)
	}
	if card.Name != "Weather: \"now\"" || card.Description != "Says the weather.\nAll of it." {
		t.Errorf("name %q, description %q", card.Name, card.Description)
	}
	first, _, _ := strings.Cut(string(src), "\n")
	if first != "# yaml-language-server: $schema=.a2agen/agent.schema.json" {
		t.Errorf("first line %q", first)
	}
	more := string(src) + "  - id: alert\n    description: Warns.\n"
	card, list = Read("agent.yaml", []byte(more), noFiles)
	if len(list) > 0 || len(card.Skills) != 4 || card.Skills[3].ID != "alert" {
		t.Errorf("an appended skill: %v, %d skills", list, len(card.Skills))
	}
}

func TestScaffoldOfACardWithoutSkillsHasOneToStartFrom(t *testing.T) {
	card, list := Import("card.json", []byte(`{"name": "A", "description": "B", "version": "1", "url": "https://a.example.com", "skills": []}`))
	if list.HasErrors() {
		t.Fatal(list)
	}
	fresh, list := Read("agent.yaml", scaffolded(card), noFiles)
	if len(list) > 0 || len(fresh.Skills) != 1 {
		t.Errorf("%d skills, %v", len(fresh.Skills), list)
	}
}

func scaffolded(c *Card) []byte {
	text, _ := Scaffold(c, []Offer{{"1.0", []string{"JSONRPC", "HTTP+JSON"}}})
	return text
}

func itemsOf(c *Card, key string) []*yaml.Node { return yamlx.Items(yamlx.Get(c.Root, key)) }
