package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/a2agen/a2agen"
)

// component is a module that at least one of the programs links, or Go's library.
type component struct {
	path, version, sum string
	licences           []string // SPDX ids
	texts              []byte   // of its licences and notices
}

// known are the licences that a linked module may have, by words of their texts. All let a program be passed on with their text beside it.
var known = []struct {
	id    string
	words *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License,? Version 2\.0`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"BSD-3-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms.* (Neither|nor) the names? `)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and(/or)? distribute this software`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
}

// components returns what the programs link, with the licences. A module without a licence that is known is an error.
func (b builder) components(programs []program) ([]component, error) {
	parts := map[string]component{}
	for _, p := range programs {
		for _, m := range p.info.Deps {
			parts[m.Path] = component{path: m.Path, version: m.Version, sum: m.Sum}
		}
	}
	list := []component{{path: "std", version: strings.TrimPrefix(runtime.Version(), "go")}}
	for _, c := range parts {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b component) int { return cmp.Compare(a.path, b.path) })
	root, err := goEnv("GOROOT")
	if err != nil {
		return nil, err
	}
	for i := range list {
		c := &list[i]
		dir := root[0]
		if c.path != "std" {
			escaped, err := module.EscapePath(c.path)
			if err != nil {
				return nil, err
			}
			dir = filepath.Join(b.dir, "pkg", "mod", filepath.FromSlash(escaped)+"@"+c.version)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() || !regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|NOTICE|PATENTS)`).MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			c.texts = fmt.Appendf(c.texts, "---- %s %s, %s ----\n\n%s\n\n", c.path, c.version, e.Name(), bytes.TrimSpace(text))
			words := strings.Join(strings.Fields(string(text)), " ")
			for _, l := range known {
				if l.words.MatchString(words) && !slices.Contains(c.licences, l.id) {
					c.licences = append(c.licences, l.id)
				}
			}
		}
		if slices.Contains(c.licences, "BSD-3-Clause") { // its text holds that with two clauses
			c.licences = slices.DeleteFunc(c.licences, func(id string) bool { return id == "BSD-2-Clause" })
		}
		if len(c.licences) == 0 {
			return nil, fmt.Errorf("%s %s has no licence that is known to be good: see %s", c.path, c.version, dir)
		}
	}
	return list, nil
}

// notices are the texts that go along with the programs.
func notices(parts []component) []byte {
	b := []byte("a2agen links these libraries. Their licences and notices follow.\n\n")
	for _, c := range parts {
		b = fmt.Appendf(b, "%s %s: %s\n", c.path, c.version, strings.Join(c.licences, ", "))
	}
	b = append(b, '\n')
	for _, c := range parts {
		b = append(b, c.texts...)
	}
	return b
}

// writeBill writes the bill of materials, as CycloneDX has it.
func (r release) writeBill(file string, parts []component) error {
	type licence struct {
		License map[string]string `json:"license"`
	}
	type part struct {
		Type       string              `json:"type"`
		Ref        string              `json:"bom-ref"`
		Name       string              `json:"name"`
		Version    string              `json:"version"`
		URL        string              `json:"purl"`
		Licenses   []licence           `json:"licenses,omitempty"`
		Properties []map[string]string `json:"properties,omitempty"`
	}
	of := func(kind, path, version string) part {
		url := "pkg:golang/" + path + "@" + version
		return part{Type: kind, Ref: url, Name: path, Version: version, URL: url}
	}
	main := of("application", a2agen.Module, r.version)
	main.Licenses = []licence{{map[string]string{"id": "Apache-2.0"}}}
	var components []part
	for _, c := range parts {
		p := of("library", c.path, c.version)
		for _, id := range c.licences {
			p.Licenses = append(p.Licenses, licence{map[string]string{"id": id}})
		}
		if c.sum != "" {
			p.Properties = []map[string]string{{"name": "go.sum", "value": c.sum}}
		}
		components = append(components, p)
	}
	bill, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":   map[string]any{"timestamp": r.time, "component": main},
		"components": components,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(bill, '\n'), 0o644)
}
