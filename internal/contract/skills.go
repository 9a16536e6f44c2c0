package openapi

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

// AddSkills adds the skills of an import to the text of agent.yaml, behind those that are there, and keeps everything
// else byte for byte. Skills of an earlier import stay as they are. added are the ids of the new ones.
func AddSkills(file string, src []byte, im *Import, schemas string) (edited []byte, added []string, list diag.List) {
	root, list := yamlx.Parse(file, src)
	if root == nil || list.HasErrors() {
		return nil, nil, list
	}
	var items strings.Builder
	key, skills := yamlx.Pair(root, "skills")
	column := columnOf(skills)
	for _, op := range im.Operations {
		at := skillWith(skills, op.Skill)
		switch {
		case at == nil:
			added = append(added, op.Skill)
			items.WriteString("\n" + yamlx.Item(skillNode(im, op, schemas), column-1))
		case !strings.HasPrefix(yamlx.Text(yamlx.Get(at, "input")), schemas+"#"):
			list.Errorf(yamlx.Pos(file, at), "duplicate", "rename it, or leave out the operation",
				"there is a skill %q already, and operation %s would be another one", op.Skill, op.ID)
		}
	}
	if list.HasErrors() || len(added) == 0 {
		return src, added, list
	}
	end, ok := endOfSkills(src, root, key, skills)
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

// skillNode is a skill as agent.yaml has it.
func skillNode(im *Import, op *Operation, schemas string) *yaml.Node {
	at := &yaml.Node{}
	n := yamlx.NewMap(at)
	set := func(key, value string) { yamlx.Set(n, key, yamlx.NewText(at, value)) }
	set("id", op.Skill)
	set("name", clean(op.Name, 100))
	set("description", clean(op.Description, maxText))
	tags := []string{}
	for _, t := range op.Tags[:min(len(op.Tags), 10)] {
		tags = append(tags, clean(t, 100))
	}
	if len(tags) == 0 {
		tags = append(tags, im.Name)
	}
	yamlx.Set(n, "tags", yamlx.NewTexts(at, tags))
	set("input", Contract(schemas, op.Skill, "input"))
	if op.Output != nil {
		set("output", Contract(schemas, op.Skill, "output"))
	}
	return n
}
