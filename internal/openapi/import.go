package openapi

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/contract"
	call "github.com/a2agen/a2agen/runtime/openapi"
)

// Request says what of a document is imported, and what it becomes.
type Request struct {
	Operations []string // operationIds, or routes such as "GET /pets"
	Tags       []string
	Name       string // of the API in the project, as by [Document.APIName]
	SchemaFile string // the path of the file with the schemas in the project
	From       string // the document's URL; "" for a file
}

// Import is what became of the chosen operations.
type Import struct {
	Name       string // of the API in the project: "petstore"
	Title      string // for messages
	URL        string // where the API is; "" if the document does not say
	URLEnv     string // the variable that says otherwise
	Operations []*Operation
	Schemas    map[string]any // the content of the file with the schemas, without what is said of the document
	// Env are the variables that must be set before operations work.
	Env []string

	file string // with the schemas
}

// operations is the member of the file with the schemas that has the contracts.
const operations = "operations"

// Import reads the chosen operations. With errors in the list nothing must be written.
func (d *Document) Import(q Request) (*Import, diag.List) {
	chosen, list := d.choose(q.Operations, q.Tags)
	if list.HasErrors() {
		return nil, list
	}
	doc, err := d.load(chosen)
	if err != nil {
		list.Errorf(diag.Pos{File: d.File}, "unresolved", "", "the operations cannot be resolved: %v", err)
		return nil, list
	}
	im := &Import{Name: q.Name, Title: cmp.Or(contract.OneLine(d.Title, 60), "The API")}
	im.URLEnv = contract.EnvName(im.Name, "URL")
	im.URL = d.server(doc.Servers, q.From)
	s := newSchemas(d)
	for _, f := range chosen {
		r := &reader{schemas: s, doc: doc, from: q.From, at: f}
		op := r.operation()
		list.Add(r.list...)
		im.Operations = append(im.Operations, op)
	}
	if s.err != nil {
		list.Errorf(diag.Pos{File: d.File}, "unresolved", "", "%v", s.err)
	}
	list.Add(d.sameSkills(im.Operations, chosen)...)
	if list.HasErrors() {
		return nil, list
	}
	im.nameVariables()
	for _, key := range contract.Sorted(s.dropped) {
		list.Warnf(diag.Pos{File: d.File}, "left-out", "", "%q is left out of schemas: it is not checked", key)
	}
	im.Schemas = fileOf(im.Operations, s.defs)
	im.file = q.SchemaFile
	list.Add(contract.Repair(q.SchemaFile, im, "import fewer operations at once")...)
	return im, list
}

// server is where the API is; "" if the document does not say.
func (d *Document) server(servers openapi3.Servers, from string) string {
	if len(servers) == 0 {
		return ""
	}
	at := serverURL(servers[0])
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	if !u.IsAbs() {
		base, err := url.Parse(from)
		if err != nil || !base.IsAbs() {
			return ""
		}
		u = base.ResolveReference(u)
	}
	if u.Host == "" || !strings.HasPrefix(u.Scheme, "http") || strings.ContainsAny(u.String(), "{}") {
		return ""
	}
	return u.String()
}

// sameSkills reports operations that would be one skill.
func (d *Document) sameSkills(ops []*Operation, chosen []found) (list diag.List) {
	first := map[string]int{}
	for i, op := range ops {
		if op.Skill == "" {
			list.Errorf(d.pos("paths", chosen[i].path, chosen[i].method), "no-name", "give it an operationId",
				"operation %s has no name for a skill", op.Route)
			continue
		}
		if j, has := first[strings.ToLower(op.Skill)]; has {
			list.Errorf(d.pos("paths", chosen[i].path, chosen[i].method), "duplicate", "import one of them",
				"operations %s and %s would both be the skill %q", ops[j].ID, op.ID, op.Skill)
			continue
		}
		first[strings.ToLower(op.Skill)] = i
	}
	return list
}

// nameVariables gives credentials their variables, by API and scheme: PETSTORE_API_KEY.
func (im *Import) nameVariables() {
	if im.URL == "" {
		im.Env = append(im.Env, im.URLEnv)
	}
	optional := false
	need := func(name string) string {
		if !optional && !slices.Contains(im.Env, name) {
			im.Env = append(im.Env, name)
		}
		return name
	}
	for _, op := range im.Operations {
		optional = op.Call.AuthOptional
		for i := range op.Call.Auth {
			c, scheme := &op.Call.Auth[i], contract.EnvName(im.Name, op.Schemes[i])
			switch c.Kind {
			case call.Basic:
				c.Env, c.SecretEnv = need(scheme+"_USER"), scheme+"_PASSWORD"
			case call.ClientCredentials:
				c.Env, c.SecretEnv = need(scheme+"_CLIENT_ID"), need(scheme+"_CLIENT_SECRET")
				c.TokenURLEnv = scheme + "_TOKEN_URL"
			case call.Bearer:
				c.Env = need(scheme + "_TOKEN")
			default:
				c.Env = need(scheme)
			}
		}
	}
}

// APIName is the name of the API in a project: the one that is given, else one made of the document's title, "Swagger
// Petstore - OpenAPI 3.0" is swagger_petstore.
func (d *Document) APIName(given string) string {
	if given != "" {
		return given
	}
	return cmp.Or(contract.APIName(d.Title), "api")
}

// fileOf is the file with the contracts of the operations, and the definitions that they share.
func fileOf(ops []*Operation, defs map[string]any) map[string]any {
	contracts := map[string]any{}
	for _, op := range ops {
		sides := map[string]any{"input": op.Input}
		if op.Output != nil {
			sides["output"] = op.Output
		}
		contracts[op.Skill] = sides
	}
	file := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "x-third-party": true,
		operations: contracts}
	if len(defs) > 0 {
		file["$defs"] = defs
	}
	return file
}

// Skills are the operations as skills, for [contract.AddSkills].
func (im *Import) Skills() (list []contract.Skill) {
	for _, op := range im.Operations {
		list = append(list, contract.Skill{ID: op.Skill, Name: op.Name, Description: op.Description, Tags: op.Tags,
			Output: op.Output != nil, Of: "operation " + op.ID})
	}
	return list
}

// Ref names the contracts.
func (im *Import) Ref() contract.Reference { return contract.Ref(im.file, operations) }

// File returns the text of the file with the schemas. pin says which document it was made of.
func (im *Import) File(pin Pin) ([]byte, error) {
	im.Schemas["x-openapi"] = pin
	return marshal(im.Schemas)
}

// Pin says of which document a file with schemas was made.
type Pin struct {
	Title    string `json:"title"`    // of the document
	Document string `json:"document"` // its path in the project
	Digest   string `json:"digest"`
	From     string `json:"from,omitempty"` // its URL; "" for a file
	// Operations are those that were imported, by their ids or routes.
	Operations []string `json:"operations"`
}
