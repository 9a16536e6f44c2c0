package generator

import (
	"path"
	"regexp"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
)

// A fake of an agent is a package beside the package of its client: client/weather/weathertest beside client/weather. The project's own client is called
// client everywhere, so that the fake of the own agent is called by the module: client/weathertest.

// major is the last element of a module's path that is its major version.
var major = regexp.MustCompile(`^v[0-9]+$`)

// ownFake is the folder of the fake of the project's own agent.
func ownFake(module string, c *config.Config) string {
	base := path.Base(module)
	if parent := path.Dir(module); major.MatchString(base) && parent != "." {
		base = path.Base(parent)
	}
	return path.Join(c.Packages.Client, names.FakePackage(base))
}

// fakeOf is the folder of the fake of the agent that a client calls.
func fakeOf(c config.Client) string { return path.Join(c.Out, names.FakePackage(path.Base(c.Out))) }

// checkFakes refuses a client whose folder is that of a fake.
func (g *generation) checkFakes(cfg *config.Config, own bool) (list diag.List) {
	fakes := map[string]string{}
	if own {
		fakes[ownFake(g.Module, cfg)] = "the project's own agent"
	}
	for _, c := range cfg.Clients {
		fakes[fakeOf(c)] = "client " + c.Name
	}
	for _, c := range cfg.Clients {
		if of, ok := fakes[c.Out]; ok {
			list.Errorf(c.Pos, "path", "choose another one with out, such as client/remote/"+c.Name,
				"the folder of client %q is that of the fake of %s: %s", c.Name, of, c.Out)
		}
	}
	return list
}

// samples are made-up outputs of an agent's skills, by the skill's id. A skill for whose output none could be made up has none.
func samples(a *ir.Agent) map[string]string {
	m := map[string]string{}
	for _, s := range a.Skills {
		if sample := scaffold.SampleOutput(s); sample != nil {
			m[s.ID] = string(sample)
		} else if s.Output == nil {
			m[s.ID] = "sample answer of " + s.ID
		}
	}
	return m
}

// emitOwnFake emits the fake of the project's own agent.
func (g *generation) emitOwnFake(m *ir.Model, cfg *config.Config, paths emit.Paths) ([]output.File, error) {
	folder := ownFake(g.Module, cfg)
	paths.Fake = path.Join(g.Module, folder)
	return emit.Fake(m.Protocol, m.Agent, paths, folder, samples(m.Agent))
}
