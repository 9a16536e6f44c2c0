package contract

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// maxText is how much of a description is taken, in characters.
const maxText = 1000

// Skill is a skill that is added.
type Skill struct {
	ID, Name, Description string
	Tags                  []string // none: the name of what is imported
	Output                bool     // it has a contract for its output
	Of                    string   // what it is made of, for messages: "operation getPet"
}

// Reference names the contract of a skill in the file with the schemas: side is "input" or "output".
type Reference func(skill, side string) string

// Ref names contracts below a member of a file: "apis/petstore.json#/operations/getPet/input".
func Ref(file, member string) Reference {
	return func(skill, side string) string {
		return file + "#/" + member + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(skill) + "/" + side
	}
}

// AddSkills adds the skills of an import to the text of agent.yaml, behind those that are there, and keeps everything
// else byte for byte. Skills of an earlier import, whose contracts are in the file with the schemas, stay as they are. added
// are the ids of the new ones.
func AddSkills(file string, src []byte, skills []Skill, ref Reference, tag string) (edited []byte, added []string, list diag.List) {
	root, list := yamlx.Parse(file, src)
	if root == nil || list.HasErrors() {
		return nil, nil, list
	}
	var items strings.Builder
	key, there := yamlx.Pair(root, "skills")
	column := columnOf(there)
	for _, s := range skills {
		at := skillWith(there, s.ID)
		switch {
		case at == nil:
			added = append(added, s.ID)
			items.WriteString("\n" + yamlx.Item(skillNode(s, ref, tag), column-1))
		case !sameFile(yamlx.Text(yamlx.Get(at, "input")), ref(s.ID, "input")):
			list.Errorf(yamlx.Pos(file, at), "duplicate", "rename it, or leave out the "+kindOf(s.Of),
				"there is a skill %q already, and %s would be another one", s.ID, s.Of)
		}
	}
	if list.HasErrors() || len(added) == 0 {
		return src, added, list
	}
	end, ok := endOfSkills(src, root, key, there)
	if !ok {
		at := root
		if key != nil {
			at = key
		}
		list.Errorf(yamlx.Pos(file, at), "style", "write the list as lines that begin with a hyphen",
			"the list of skills cannot be extended as it is written")
		return nil, nil, list
	}
	text := items.String()
	if end > 0 && src[end-1] != '\n' {
		text = "\n" + text
	}
	return slices.Concat(src[:end], []byte(text), src[end:]), added, nil
}

// columnOf is the column of the hyphens of a list.
func columnOf(skills *yaml.Node) int {
	if items := yamlx.Items(skills); len(items) > 0 && skills.Column > 0 {
		return skills.Column
	}
	return 3
}

func skillWith(skills *yaml.Node, id string) *yaml.Node {
	for _, s := range yamlx.Items(skills) {
		if yamlx.Text(yamlx.Get(s, "id")) == id {
			return s
		}
	}
	return nil
}

// endOfSkills is where the list of skills ends: before the next key of the card, or at the end of the file.
func endOfSkills(src []byte, root, key, skills *yaml.Node) (int, bool) {
	if skills == nil || skills.Kind != yaml.SequenceNode || skills.Style&yaml.FlowStyle != 0 || len(skills.Content) == 0 {
		return 0, false
	}
	next := 0
	for k := range yamlx.Pairs(root) {
		if k.Line > key.Line && (next == 0 || k.Line < next) {
			next = k.Line
		}
	}
	if next == 0 {
		return len(src), true
	}
	lines := bytes.SplitAfter(src, []byte("\n"))
	last := next - 1 // lines before the next key
	for last > 0 && comment(lines[last-1]) {
		last--
	}
	return len(bytes.Join(lines[:last], nil)), true
}

// comment reports whether a line is a comment or blank: what stands above a key belongs to it.
func comment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// sameFile reports whether two references name the same file.
func sameFile(a, b string) bool {
	fileA, _, inside := strings.Cut(a, "#")
	fileB, _, _ := strings.Cut(b, "#")
	return inside && fileA == fileB
}

// kindOf is the kind of what a skill is made of: "operation".
func kindOf(of string) string {
	kind, _, _ := strings.Cut(of, " ")
	return kind
}

// skillNode is a skill as agent.yaml has it.
func skillNode(s Skill, ref Reference, tag string) *yaml.Node {
	at := &yaml.Node{}
	n := yamlx.NewMap(at)
	set := func(key, value string) { yamlx.Set(n, key, yamlx.NewText(at, value)) }
	set("id", s.ID)
	set("name", Clean(s.Name, 100))
	set("description", Clean(s.Description, maxText))
	tags := []string{}
	for _, t := range s.Tags[:min(len(s.Tags), 10)] {
		tags = append(tags, Clean(t, 100))
	}
	if len(tags) == 0 {
		tags = append(tags, tag)
	}
	yamlx.Set(n, "tags", yamlx.NewTexts(at, tags))
	set("input", ref(s.ID, "input"))
	if s.Output {
		set("output", ref(s.ID, "output"))
	}
	return n
}
