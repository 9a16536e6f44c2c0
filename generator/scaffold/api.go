package scaffold

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/runtime/openapi"
)

// API is an HTTP API that handlers call.
type API struct {
	Name   string // "petstore"
	Title  string // for people
	URL    string // "" if nobody knows
	URLEnv string
	Env    []string // variables that must be set
	Calls  []APICall
}

// APICall is an operation that is a skill.
type APICall struct {
	Skill string // its id
	Route string // "GET /pets"
	Call  openapi.Operation
}

// apiView is what the templates say of an API.
type apiView struct {
	Var, Title, URL, URLEnv              string
	QuotedTitle, QuotedURL, QuotedURLEnv string
	Env                                  []string
}

// apiFileView is the input of the template of an API's file.
type apiFileView struct {
	packages
	API apiView
}

// apiSkillView is the input of the templates of a handler that calls an operation, and of its test.
type apiSkillView struct {
	*skillView
	API          apiView
	Route        string
	OutName      string // the output's type
	Literal      string // the operation
	QuotedMethod string
	AnswerJSON   string   // what the API answers in the test, quoted
	TestEnv      []string // variables that the test sets
	Token        string   // the variable with the address of the API's tokens; "": there are none
}

// APIFiles renders the file of an API and, for each of its calls, a handler with its test.
func APIFiles(p Project, a API) ([]output.File, error) {
	ps := newPackages(p)
	view := apiView{Var: lowerCamel(a.Name) + "API", Title: inComment(a.Title), URL: a.URL, URLEnv: a.URLEnv, Env: a.Env,
		QuotedTitle: strconv.QuoteToASCII(a.Title), QuotedURL: strconv.QuoteToASCII(a.URL), QuotedURLEnv: strconv.Quote(a.URLEnv)}
	var r renderer
	r.add(path.Join(p.Packages.Skills, a.Name+"_api.go"), "api.go.tmpl", apiFileView{ps, view})
	for _, c := range a.Calls {
		s, err := p.skill(c.Skill)
		if err != nil {
			return nil, err
		}
		v := newAPISkillView(ps, s, view, c)
		files := StubFiles(p.Packages.Skills, s)
		r.add(files[0], "api_skill.go.tmpl", v)
		r.add(files[1], "api_skill_test.go.tmpl", v)
	}
	return r.files, r.err
}

func newAPISkillView(ps packages, s *ir.Skill, api apiView, c APICall) *apiSkillView {
	v := &apiSkillView{skillView: newSkillView(ps, s), API: api, Route: inComment(c.Route), Literal: operationLiteral(c.Call),
		QuotedMethod: strconv.Quote(c.Call.Method)}
	v.OutName, v.AnswerJSON = v.calledOutput(s)
	for _, cred := range c.Call.Auth {
		v.TestEnv = append(v.TestEnv, cred.Env)
		if cred.SecretEnv != "" {
			v.TestEnv = append(v.TestEnv, cred.SecretEnv)
		}
		if cred.Kind == openapi.ClientCredentials {
			v.Token = cred.TokenURLEnv
		}
	}
	return v
}

// skill returns the skill with an id.
func (p Project) skill(id string) (*ir.Skill, error) {
	i := slices.IndexFunc(p.Agent.Skills, func(s *ir.Skill) bool { return s.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("the agent has no skill %q", id)
	}
	return p.Agent.Skills[i], nil
}

// calledOutput is the type of the output of a skill whose handler calls something, and what that answers in the test, quoted.
func (v *skillView) calledOutput(s *ir.Skill) (name, answer string) {
	if v.NoAnswer = false; s.Output == nil {
		return "", ""
	}
	sample := SampleOutput(s)
	v.NoAnswer = sample == nil
	return "agent." + s.Output.Name, strconv.Quote(string(sample))
}

// inComment is text of others on one line of a comment.
func inComment(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }), " ")
	if rs := []rune(s); len(rs) > 200 {
		s = string(rs[:199]) + "…"
	}
	return s
}

// lowerCamel makes an identifier of words of a-z, 0-9 and _: "swagger_petstore" is swaggerPetstore.
func lowerCamel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words {
		if i > 0 && w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// operationLiteral writes an operation as Go.
func operationLiteral(op openapi.Operation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "openapi.Operation{\nMethod: %q,\nPath: %s,\n", op.Method, strconv.QuoteToASCII(op.Path))
	if op.Server != "" {
		fmt.Fprintf(&b, "Server: %s,\n", strconv.QuoteToASCII(op.Server))
	}
	if len(op.Params) > 0 {
		b.WriteString("Params: []openapi.Param{\n")
		for _, p := range op.Params {
			s := fmt.Sprintf("{Name: %s, In: openapi.%s", strconv.QuoteToASCII(p.Name), placeNames[p.In])
			if p.Style != openapi.Repeated && (p.Style != openapi.Commas || p.In == openapi.Query) {
				s += ", Style: openapi." + styleNames[p.Style]
			}
			if p.Member != "" {
				s += ", Member: " + strconv.QuoteToASCII(p.Member)
			}
			b.WriteString((s + "}") + ",\n")
		}
		b.WriteString("},\n")
	}
	if op.Body.From != openapi.NoBody {
		from := map[openapi.BodyFrom]string{openapi.BodyRest: "BodyRest", openapi.BodyMember: "BodyMember"}[op.Body.From]
		fmt.Fprintf(&b, "Body: openapi.Body{From: openapi.%s", from)
		if op.Body.Type != "" {
			fmt.Fprintf(&b, ", Type: %s", strconv.QuoteToASCII(op.Body.Type))
		}
		b.WriteString("},\n")
	}
	if len(op.Auth) > 0 {
		b.WriteString("Auth: []openapi.Credential{\n")
		for _, c := range op.Auth {
			b.WriteString(credentialLiteral(c) + ",\n")
		}
		b.WriteString("},\n")
	}
	if op.AuthOptional {
		b.WriteString("AuthOptional: true,\n")
	}
	if op.Text {
		b.WriteString("Text: true,\n")
	}
	return b.String() + "}"
}

// The names of the constants of package openapi.
var (
	placeNames = map[openapi.Place]string{openapi.Path: "Path", openapi.Query: "Query", openapi.Header: "Header"}
	styleNames = map[openapi.Style]string{openapi.Commas: "Commas", openapi.Spaces: "Spaces", openapi.Pipes: "Pipes",
		openapi.DeepObject: "DeepObject", openapi.JSON: "JSON"}
	kindNames = map[openapi.Kind]string{openapi.KeyInHeader: "KeyInHeader", openapi.KeyInQuery: "KeyInQuery", openapi.KeyInCookie: "KeyInCookie",
		openapi.Bearer: "Bearer", openapi.Basic: "Basic", openapi.ClientCredentials: "ClientCredentials"}
)

func credentialLiteral(c openapi.Credential) string {
	s := "{Kind: openapi." + kindNames[c.Kind]
	for _, f := range [][2]string{{"Name", c.Name}, {"Env", c.Env}, {"SecretEnv", c.SecretEnv}, {"TokenURL", c.TokenURL}, {"TokenURLEnv", c.TokenURLEnv}} {
		if f[1] != "" {
			s += fmt.Sprintf(", %s: %s", f[0], strconv.QuoteToASCII(f[1]))
		}
	}
	if len(c.Scopes) > 0 {
		s += ", Scopes: []string{"
		for i, scope := range c.Scopes {
			if i > 0 {
				s += ", "
			}
			s += strconv.QuoteToASCII(scope)
		}
		s += "}"
	}
	return s + "}"
}
