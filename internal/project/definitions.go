package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/spec"
)

// Fetched is a definition that an update fetched and that differs from the stored one.
type Fetched struct {
	Protocol string `json:"protocol"` // version
	URL      string `json:"url"`
	File     string `json:"file"` // where it is kept
	// Compared reports whether there was one before, which the changes are to.
	Compared bool          `json:"compared"`
	Changes  []spec.Change `json:"changes,omitempty"`
}

// definitions are what an update fetched.
type definitions struct {
	over     map[string][]byte // contents by path, nil where a file goes
	fetched  []Fetched
	problems diag.List
}

// fetchDefinitions fetches the definitions that the configuration names by URL, and compares them with the stored
// ones. It writes nothing. An invalid configuration names none: generating reports its mistakes.
func (p *project) fetchDefinitions(ctx context.Context, allowPrivate bool) (definitions, error) {
	d := definitions{over: map[string][]byte{}}
	src, err := p.ReadFile(config.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	cfg, list := config.Read(config.File, src)
	if list.HasErrors() {
		return d, nil
	}
	for _, v := range cfg.Protocol {
		if v.URL == "" {
			continue
		}
		src, _, err := remote.Get(ctx, v.URL, remote.Options{AllowPrivate: allowPrivate})
		if err != nil {
			return d, fmt.Errorf("the definition of version %q: %w", v.Version, err)
		}
		if err := p.compareDefinition(v, src, &d); err != nil {
			return d, err
		}
	}
	return d, nil
}

// compareDefinition reads a fetched definition and says how it differs from the stored one.
func (p *project) compareDefinition(v config.Protocol, src []byte, d *definitions) error {
	file := keptAs(v, src)
	doc, list := generator.ReadFetched(file, v, src)
	for i := range list {
		list[i].Pos.File = v.URL // it is not kept yet
	}
	d.problems.Add(list...)
	if list.HasErrors() {
		return nil
	}
	for _, name := range v.Kept() {
		d.over[name] = nil
	}
	d.over[file] = src
	oldFile, old, err := v.ReadKept(p.ReadFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && oldFile == file && output.Digest(old) == output.Digest(src) {
		return nil
	}
	f := Fetched{Protocol: v.Version, URL: v.URL, File: file}
	if err == nil {
		if before, list := generator.ReadFetched(oldFile, v, old); !list.HasErrors() {
			f.Compared, f.Changes = true, spec.Diff(before, doc)
		}
	}
	d.fetched = append(d.fetched, f)
	return nil
}

// keptAs returns the path of a fetched definition: its ending is that of the URL, or fits the content.
func keptAs(v config.Protocol, src []byte) string {
	proto, schema := v.Kept()[0], v.Kept()[1]
	if u, err := url.Parse(v.URL); err == nil {
		switch strings.ToLower(path.Ext(u.Path)) {
		case ".proto":
			return proto
		case ".json":
			return schema
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("{")) {
		return schema
	}
	return proto
}
