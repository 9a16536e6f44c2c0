package dev

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"github.com/a2agen/a2agen/internal/dev/snippet"
	"github.com/a2agen/a2agen/internal/project"
)

// snippetProject returns what copies of an agent's calls must know of its project. Of somebody else's agent that is
// where it is.
func (s *session) snippetProject(ctx context.Context, agent int) (*snippet.Project, error) {
	a := s.agents[agent].status()
	if a.Folder == "" {
		return &snippet.Project{URL: a.URL}, nil
	}
	out, imports, list, err := project.InspectImports(ctx, project.Options{Tool: s.Tool, Dir: a.Folder})
	switch {
	case err != nil:
		return nil, err
	case list.HasErrors():
		return nil, errors.New("the project has errors: call it again when they are mended")
	case out.Model.Agent == nil:
		return nil, errors.New("the project has no agent card")
	}
	return &snippet.Project{
		URL: a.URL, Agent: out.Model.Agent, Client: imports.Client, Server: imports.Server, Handlers: imports.Handlers,
		Helper: hasHelper(filepath.Join(a.Folder, filepath.FromSlash(out.Config.Packages.Skills))),
	}, nil
}

// helper is how the tests of a new project begin one.
var helper = regexp.MustCompile(`(?m)^func newClient\(t \*testing\.T\) \*\w+\.Client\b`)

// hasHelper reports whether the tests in a folder have a function that makes a client.
func hasHelper(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go")) // the pattern is a good one
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && helper.Match(text) {
			return true
		}
	}
	return false
}
