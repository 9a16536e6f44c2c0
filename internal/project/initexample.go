package project

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/output"
)

// checkExample rejects an example that is not there, and options that it leaves nothing to decide for.
func (o *InitOptions) checkExample() error {
	if o.Example == "" {
		return nil
	}
	if !slices.Contains(a2agen.Examples(), o.Example) {
		return badArgument("--example %.40q: it is one of %s", o.Example, strings.Join(a2agen.Examples(), ", "))
	}
	for flag, given := range map[string]bool{
		"--card": o.CardFile != "", "--name": o.Name != "", "--skill": len(o.Skills) > 0, "--text": len(o.Texts) > 0, "--store": o.Store != "",
		"--auth": o.Auth != "" && o.Auth != "none", "--binding": len(o.Bindings) > 0, "--protocol": len(o.Protocol) > 0,
	} {
		if given {
			return badArgument("--example brings its own card, configuration and handlers: leave out %s, and edit agent.yaml and %s afterwards", flag, config.File)
		}
	}
	return nil
}

// written are the files of an example beside its card and its configuration, in the module of the project: those that are
// not there yet. The lock does not name them, so that no later run takes them for stubs that nobody has edited.
func (p *project) written(name string, example map[string][]byte) (files []output.File) {
	for _, file := range slices.Sorted(maps.Keys(example)) {
		if file == "agent.yaml" || file == config.File {
			continue
		}
		if _, err := p.ReadFile(file); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data := example[file]
		if path.Ext(file) == ".go" {
			data = bytes.ReplaceAll(data, []byte(`"example.com/`+name+`/`), []byte(`"`+p.module+`/`))
		}
		files = append(files, output.File{Path: file, Kind: output.Merged, Data: data, NoBase: true})
	}
	return files
}
