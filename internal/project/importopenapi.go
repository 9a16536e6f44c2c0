package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/openapi"
	"github.com/a2agen/a2agen/internal/project/remote"
)

// apisFolder holds the documents of APIs and the schemas that were made of them.
const apisFolder = "apis"

// OpenAPIOptions say which operations of which document become skills.
type OpenAPIOptions struct {
	Options
	Target       string   // a file, or a URL
	Operations   []string // operationIds, or routes such as "GET /pets"; with Tags none: those that were imported before
	Tags         []string
	Name         string // of the API in the project; "": made of the document's title
	AllowPrivate bool   // fetch from private addresses too
}

// OpenAPIReport is what an import did.
type OpenAPIReport struct {
	Report
	Skills []string `json:"skills"` // that were added
	Env    []string `json:"env"`    // the variables that must be set before they work
}

// ImportOpenAPI makes skills of operations of an HTTP API: their contracts, and handlers that call it. The document is
// kept, and a check tells when it changes. The user's files are not changed, but for the new skills in the card.
func ImportOpenAPI(ctx context.Context, o OpenAPIOptions) (OpenAPIReport, error) {
	if o.Name != "" && !clientName(o.Name) {
		return OpenAPIReport{}, badArgument("--name %.40q: write a-z, 0-9 and _, such as petstore", o.Name)
	}
	src, from, err := o.fetch(ctx)
	if err != nil {
		return OpenAPIReport{}, fmt.Errorf("read the document: %w", err)
	}
	doc, list := openapi.Read(o.Target, src)
	if list.HasErrors() {
		return OpenAPIReport{Report: Report{Diagnostics: list}}, &InvalidError{list}
	}
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return OpenAPIReport{}, err
	}
	defer p.Close()
	im := &apiImport{project: p, o: o, doc: doc, src: src, from: from}
	return im.run(ctx)
}

// fetch reads the document. from is its URL, "" for a file.
func (o OpenAPIOptions) fetch(ctx context.Context) (src []byte, from string, err error) {
	limits := remote.Options{AllowPrivate: o.AllowPrivate, MaxBytes: openapi.MaxBytes}
	if strings.Contains(o.Target, "://") {
		src, _, err := remote.Get(ctx, o.Target, limits)
		return src, o.Target, err
	}
	src, _, err = remote.Fetch(ctx, o.Target, limits)
	return src, "", err
}

// apiImport is one import.
type apiImport struct {
	*project
	o    OpenAPIOptions
	doc  *openapi.Document
	src  []byte
	from string
	pin  openapi.Pin // of the import before; the zero value if there is none
}

func (im *apiImport) run(ctx context.Context) (r OpenAPIReport, err error) {
	file, old, err := im.cardToExtend(im.o.Options)
	if err != nil {
		return r, err
	}
	name := im.doc.APIName(im.o.Name)
	schemas := path.Join(apisFolder, name+".json")
	if im.pin, err = im.pinOf(schemas); err != nil {
		return r, err
	}
	if im.pin.Document != "" && im.pin.Title != im.doc.Title && !im.sameDocument() {
		return r, badArgument("%s was made of the API %.60q, and this is %.60q: give it another --name", schemas,
			im.pin.Title, im.doc.Title)
	}
	api, list := im.doc.Import(openapi.Request{Operations: im.operations(), Tags: im.o.Tags, Name: name,
		SchemaFile: schemas, From: im.from})
	if list.HasErrors() {
		r.Diagnostics = list
		return r, &InvalidError{list}
	}
	return im.write(ctx, &imported{Import: api, card: file, old: old, schemas: schemas, list: list})
}

// sameDocument reports whether the document is where the one of the import before was.
func (im *apiImport) sameDocument() bool {
	if im.from != "" {
		return im.from == im.pin.From
	}
	return im.inside(im.o.Target) == im.pin.Document
}

// operations are those that were asked for, and those that were imported before.
func (im *apiImport) operations() []string {
	all := slices.Clone(im.o.Operations)
	for _, op := range im.pin.Operations {
		if !slices.Contains(all, op) {
			all = append(all, op)
		}
	}
	return all
}

// pinOf reads of which document a file with schemas was made.
func (p *project) pinOf(schemas string) (openapi.Pin, error) {
	src, err := p.ReadFile(schemas)
	if errors.Is(err, fs.ErrNotExist) {
		return openapi.Pin{}, nil
	}
	if err != nil {
		return openapi.Pin{}, err
	}
	pin, is := readPin(src)
	if !is {
		return pin, badArgument("%s is there already, and was not made by an import: give the API another --name", schemas)
	}
	return pin, nil
}

// readPin reads the pin in a file with schemas; is is false for any other file.
func readPin(src []byte) (pin openapi.Pin, is bool) {
	if !bytes.Contains(src, []byte(`"x-openapi"`)) {
		return pin, false
	}
	var file struct {
		Pin *openapi.Pin `json:"x-openapi"`
	}
	if json.Unmarshal(src, &file) != nil || file.Pin == nil || output.CheckPath(file.Pin.Document) != nil {
		return pin, false
	}
	return *file.Pin, true
}

// document is where the document is kept in the project: where it is, if it is inside.
func (im *apiImport) document(name string) string {
	if im.from == "" {
		if inside := im.inside(im.o.Target); inside != "" {
			return inside
		}
	}
	ext := ".yaml"
	if bytes.HasPrefix(bytes.TrimLeft(im.src, "\ufeff \t\r\n"), []byte("{")) {
		ext = ".json"
	}
	return path.Join(apisFolder, name+".openapi"+ext)
}

// imported is what was read of a document, and where it goes.
type imported struct {
	*openapi.Import
	card    string // the file of the agent's card
	old     []byte // its text
	schemas string // the file with the contracts
	list    diag.List
}

// write generates the project with the new skills, and writes all of it at once.
func (im *apiImport) write(ctx context.Context, api *imported) (r OpenAPIReport, err error) {
	pin := openapi.Pin{Title: im.doc.Title, Document: im.document(api.Name), Digest: output.Digest(im.src), From: im.from}
	for _, op := range api.Operations {
		pin.Operations = append(pin.Operations, op.ID)
	}
	contracts, err := api.File(pin)
	if err != nil {
		return r, err
	}
	r.Report, r.Skills, err = im.addSkills(ctx, im.o.Options, &importedSkills{card: api.card, old: api.old, schemas: api.schemas,
		contracts: contracts, document: pin.Document, src: im.src, skills: api.Skills(), ref: api.Ref(), tag: api.Name,
		handlers: func(out generator.Output, missing map[string]bool) ([]output.File, error) {
			return im.handlerFiles(out, api.Import, missing)
		}}, api.list)
	if err == nil {
		r.Env = api.Env
	}
	return r, err
}

// handlerFiles are the handlers and tests of operations whose skills have none, and the file of their API.
func (im *apiImport) handlerFiles(out generator.Output, api *openapi.Import, missing map[string]bool) ([]output.File, error) {
	a := scaffold.API{Name: api.Name, Title: api.Title, URL: api.URL, URLEnv: api.URLEnv, Env: api.Env}
	for _, op := range api.Operations {
		if missing[op.Skill] {
			a.Calls = append(a.Calls, scaffold.APICall{Skill: op.Skill, Route: op.Route, Call: op.Call})
		}
	}
	return scaffold.APIFiles(im.scaffold(out), a)
}
