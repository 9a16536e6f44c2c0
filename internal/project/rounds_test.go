package project

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// player is a user who edits a project at random, with what the card says by now.
type player struct {
	*rapid.T
	dir    string
	skills []playedSkill
	next   int  // for names that were never used
	edited bool // a generated file
	unsure bool // the lock is gone
}

type playedSkill struct {
	id, name string
	fields   []string
	contract bool
}

func (p *player) card() string {
	var b strings.Builder
	b.WriteString("name: played\ndescription: Played.\nversion: \"1\"\nskills:\n")
	for _, s := range p.skills {
		fmt.Fprintf(&b, "  - id: %s\n    name: %s\n    description: x\n    tags: [x]\n", s.id, s.name)
		if s.contract {
			b.WriteString("    input:\n      type: object\n      properties:\n        first: {type: string}\n")
			for _, f := range s.fields {
				fmt.Fprintf(&b, "        %s: {type: integer}\n", f)
			}
		}
	}
	return b.String()
}

func (p *player) must(err error) {
	if err != nil {
		p.Fatal(err)
	}
}

func (p *player) save(name, text string) {
	full := filepath.Join(p.dir, name)
	p.must(os.MkdirAll(filepath.Dir(full), 0o755))
	p.must(os.WriteFile(full, []byte(text), 0o644))
}

// fresh is a word that was not used before.
func (p *player) fresh(word string) string {
	p.next++
	return fmt.Sprintf("%s%d", word, p.next)
}

// pick draws a file, or "" when there is none.
func (p *player) pick(what string, keep func(string) bool, files map[string]string) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if keep(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return rapid.SampledFrom(names).Draw(p.T, what)
}

func (p *player) skill() *playedSkill {
	return &p.skills[rapid.IntRange(0, len(p.skills)-1).Draw(p.T, "skill")]
}

// edits are what a user does between two runs.
var edits = map[string]func(*player){
	"add a skill": func(p *player) {
		id := p.fresh("skill")
		p.skills = append(p.skills, playedSkill{id: id, name: id, contract: rapid.Bool().Draw(p.T, "contract")})
	},
	"remove a skill": func(p *player) {
		if len(p.skills) > 1 {
			i := rapid.IntRange(0, len(p.skills)-1).Draw(p.T, "skill")
			p.skills = slices.Delete(p.skills, i, i+1)
		}
	},
	"rename a skill's id":    func(p *player) { p.skill().id = p.fresh("id") },
	"rename a skill's name":  func(p *player) { p.skill().name = p.fresh("name") },
	"add a field":            func(p *player) { s := p.skill(); s.fields = append(s.fields, p.fresh("field")) },
	"give or take contracts": func(p *player) { s := p.skill(); s.contract = !s.contract },
	"edit an own file": func(p *player) {
		if f := p.pick("own", func(n string) bool { return !strings.HasSuffix(n, ".yaml") && n != "go.mod" }, p.mine()); f != "" {
			p.save(f, allFiles(p, p.dir)[f]+"\n// "+p.fresh("mine")+"\n")
		}
	},
	"delete an own file": func(p *player) {
		if f := p.pick("own", func(n string) bool { return !strings.HasSuffix(n, ".yaml") && n != "go.mod" }, p.mine()); f != "" {
			p.must(os.Remove(filepath.Join(p.dir, f)))
		}
	},
	"move a handler": func(p *player) {
		if f := p.pick("handler", func(n string) bool { return strings.HasPrefix(n, "skills/") && !strings.HasSuffix(n, "_test.go") }, p.mine()); f != "" {
			p.must(os.Rename(filepath.Join(p.dir, f), filepath.Join(p.dir, "skills", p.fresh("moved")+".go")))
		}
	},
	"add an own file": func(p *player) {
		p.save(rapid.SampledFrom([]string{"skills", "agent", "internal"}).Draw(p.T, "where")+"/"+p.fresh("own")+".go", "package x\n")
	},
	"require a module": func(p *player) {
		m := p.fresh("example.org/m")
		p.save("go.mod", allFiles(p, p.dir)["go.mod"]+"\nrequire "+m+" v0.0.0\n\nreplace "+m+" => ./dep\n")
	},
	"delete a generated file": func(p *player) {
		if f := p.pick("generated", isGenerated, allFiles(p, p.dir)); f != "" {
			p.must(os.Remove(filepath.Join(p.dir, f)))
		}
	},
	"edit a generated file": func(p *player) {
		if f := p.pick("generated", isGenerated, allFiles(p, p.dir)); f != "" {
			p.save(f, "// "+p.fresh("edited")+"\n"+allFiles(p, p.dir)[f])
			p.edited = true
		}
	},
	"delete the lock": func(p *player) {
		os.Remove(filepath.Join(p.dir, output.LockName))
		p.unsure = true
	},
	"move a package": func(p *player) {
		p.save("a2agen.yaml", sharedProtocol+"packages: {client: "+p.fresh("sdk")+"}\n")
	},
	"leave what a killed run leaves": func(p *player) {
		if data, ok := allFiles(p, p.dir)[output.LockName]; ok {
			p.save(output.LockName+".new", data)
		}
	},
}

func isGenerated(name string) bool { return strings.HasSuffix(name, ".gen.go") }

// generate runs and holds every invariant of a run.
func (p *player) generate(tool Tool) {
	o := Options{Tool: tool, Dir: p.dir}
	before := allFiles(p, p.dir)
	mine, untouched := p.mine(), p.untouched()
	r, err := Run(p.Context(), o)
	var refused *disk.RefusedError
	if errors.As(err, &refused) {
		// Without a lock, lines that a change of the inputs takes out may be somebody's: then asking is right.
		if !p.edited && (!p.unsure || refused.Files[0].State != disk.Doubtful) {
			p.Fatalf("refused for nothing: %v", err)
		}
		if diff := cmp.Diff(before, allFiles(p, p.dir)); diff != "" {
			p.Fatalf("a refused run wrote: %s", diff)
		}
		o.Force = true
		r, err = Run(p.Context(), o)
	}
	p.must(err)
	for _, c := range r.Left { // generated no longer, but edited: the user's to delete
		if !p.edited && !r.Fresh {
			p.Fatalf("%s was left for nothing", c.Path)
		}
		p.must(os.Remove(filepath.Join(p.dir, c.Path)))
		_, err = Run(p.Context(), o)
		p.must(err)
	}
	after := allFiles(p, p.dir)
	p.edited, p.unsure = false, false
	for name, text := range mine {
		if after[name] != text && !slices.Contains(untouched, name) {
			p.Fatalf("%s is the user's and changed", name)
		}
	}
	out, list, err := Inspect(p.Context(), o)
	if err != nil || list.HasErrors() {
		p.Fatal(err, list)
	}
	for _, f := range out.Files {
		if after[f.Path] != string(f.Data) {
			p.Fatalf("%s is not what is generated afresh", f.Path)
		}
	}
	c, err := Check(p.Context(), o)
	p.must(err)
	if len(c.Drift) > 0 {
		p.Fatalf("drift after a run: %v", c.Drift)
	}
	again := allFiles(p, p.dir)
	if _, err := Run(p.Context(), o); err != nil {
		p.Fatal(err)
	}
	if diff := cmp.Diff(again, allFiles(p, p.dir)); diff != "" {
		p.Fatalf("a second run wrote: %s", diff)
	}
}

// untouched are the stubs and tests that follow agent.yaml, as nobody edited them.
func (p *player) untouched() []string {
	d, err := disk.Open(p.dir)
	p.must(err)
	defer d.Close()
	return d.Untouched("skills")
}

// mine are the user's files, told by name, so that a lost lock does not make everything his.
func (p *player) mine() map[string]string {
	files := map[string]string{}
	for name, data := range allFiles(p, p.dir) {
		if !strings.HasSuffix(name, ".gen.go") && !strings.HasPrefix(name, ".a2agen/") && !strings.HasPrefix(name, output.LockName) {
			files[name] = data
		}
	}
	return files
}

// sharedProtocol spares every round the protocol's package.
const sharedProtocol = "protocol_import: github.com/a2agen/a2agen/a2a\n"

// rounds of editing and generating; each is a project of its own with a few edits in a row.
func TestRandomRoundsLoseNothing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := t.TempDir()
	tool := Tool{Version: "v1.0.0"}
	n, checks := 0, flag.Lookup("rapid.checks").Value
	old := checks.String()
	defer func() { _ = checks.Set(old) }()
	if err := checks.Set(strconv.Itoa(gotool.Tries(25, 4))); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		n++
		p := &player{T: rt, dir: filepath.Join(root, fmt.Sprint(n)), skills: []playedSkill{{id: "echo", name: "Echo", contract: true}}}
		p.must(os.Mkdir(p.dir, 0o755))
		p.save("go.mod", "module example.com/played\n\nrequire github.com/a2agen/a2agen v1.0.0\n")
		p.save("skills/agent.go", "package skills\n\ntype Agent struct{}\n")
		p.save("main.go", "package main\n")
		p.save("Makefile", "run:\n\ttrue\n")
		p.save("a2agen.yaml", sharedProtocol)
		p.save("agent.yaml", p.card())
		p.generate(tool)
		names := slices.Sorted(maps.Keys(edits))
		for range rapid.IntRange(1, 4).Draw(rt, "edits") {
			edits[rapid.SampledFrom(names).Draw(rt, "edit")](p)
		}
		p.save("agent.yaml", p.card())
		p.generate(tool)
		os.RemoveAll(p.dir)
	})
	if n < gotool.Tries(25, 4) && !testing.Short() {
		t.Errorf("only %d rounds", n)
	}
}
