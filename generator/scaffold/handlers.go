package scaffold

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
)

// Handlers is what package skills of a project says about handlers. It is read for reports, and to find missing
// stubs; user files are never changed.
type Handlers struct {
	self     string // import path of the package
	hasAgent bool
	embedded []string             // types of other packages, by the type Agent
	methods  map[string][]handler // exported methods of any type by name
	broken   []Finding            // files that do not parse
	files    map[string][]byte
}

type handler struct {
	file  string
	line  int
	agent bool // a method of Agent
	task  bool // takes an *agent.Task: it is a handler, or was one
	stub  bool // as the tool wrote it
	has   signature
}

// stubMark is in every stub until somebody writes the handler.
const stubMark = "a2agen:stub"

// ReadHandlers reads the Go files of package skills by path. Of a file that does not parse it uses the part that
// does. self is the import path of the package.
func ReadHandlers(self string, files map[string][]byte) Handlers {
	h := Handlers{self: self, methods: map[string][]handler{}, files: files}
	fset := token.NewFileSet()
	parsed := map[string]*ast.File{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, files[name], parser.SkipObjectResolution)
		if err != nil {
			h.broken = append(h.broken, broken(name, err))
		}
		if f != nil {
			parsed[name] = f
		}
	}
	scopes := h.scopes(self, parsed)
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		for _, d := range parsed[name].Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				h.method(fset, name, d, scopes[name])
			}
		}
	}
	return h
}

// scopes returns what names mean in each file, and which types the package declares.
func (h *Handlers) scopes(self string, parsed map[string]*ast.File) map[string]*scope {
	scopes := map[string]*scope{}
	aliases, declared := map[string]alias{}, map[string]bool{}
	for name, f := range parsed {
		s := newScope(self, f)
		s.aliases, s.declared = aliases, declared
		scopes[name] = s
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				t := spec.(*ast.TypeSpec)
				declared[t.Name.Name] = true
				if t.Name.Name == "Agent" {
					h.embedded = embedded(t.Type)
				}
				if t.Assign.IsValid() {
					aliases[t.Name.Name] = alias{t.Type, s}
				}
			}
		}
	}
	h.hasAgent = declared["Agent"]
	return scopes
}

// embedded are the types of other packages that a struct embeds.
func embedded(typ ast.Expr) (types []string) {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range s.Fields.List {
		if sel, ok := f.Type.(*ast.SelectorExpr); ok && len(f.Names) == 0 {
			types = append(types, sel.Sel.Name)
		}
	}
	return types
}

func (h *Handlers) method(fset *token.FileSet, file string, d *ast.FuncDecl, s *scope) {
	if d.Recv == nil || !d.Name.IsExported() || len(d.Recv.List) == 0 {
		return
	}
	src, from := h.files[file], fset.Position(d.Pos()).Offset
	text := src[from:min(max(from, fset.Position(d.End()).Offset), len(src))] // where it does not parse, the end may be nowhere
	h.methods[d.Name.Name] = append(h.methods[d.Name.Name], handler{
		file: file, line: fset.Position(d.Name.Pos()).Line,
		agent: receiver(d) == "Agent", task: takesTask(d.Type), stub: bytes.Contains(text, []byte(stubMark)),
		has: s.signature(d.Type),
	})
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// takesTask reports whether a parameter is a *agent.Task, under any import name.
func takesTask(f *ast.FuncType) bool {
	for _, p := range f.Params.List {
		star, ok := p.Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "Task" {
			return true
		}
	}
	return false
}

// HasAgent reports whether the package declares the type Agent, of which stubs are methods. Without it, the user
// organizes handlers in another way.
func (h Handlers) HasAgent() bool { return h.hasAgent }

// Embeds reports whether the type Agent embeds a type of that name of another package.
func (h Handlers) Embeds(name string) bool { return slices.Contains(h.embedded, name) }

// Empty reports whether there is no Go code at all.
func (h Handlers) Empty() bool {
	return !slices.ContainsFunc(slices.Collect(maps.Keys(h.files)), func(name string) bool { return strings.HasSuffix(name, ".go") })
}

// Edited reports whether there is a Go file that is none of those.
func (h Handlers) Edited(untouched []string) bool {
	known := map[string]bool{}
	for _, name := range untouched {
		known[name] = true
	}
	for name := range h.files {
		if strings.HasSuffix(name, ".go") && !known[name] {
			return true
		}
	}
	return false
}

// Missing returns the Go names of the skills without a method, in the card's order.
func (h Handlers) Missing(skills []*ir.Skill) []string {
	var names []string
	for _, s := range skills {
		if len(h.methods[s.Go]) == 0 {
			names = append(names, s.Go)
		}
	}
	return names
}

// Serves reports whether a file has the handler of one of the skills, or code that is not a handler.
func (h Handlers) Serves(file string, skills []*ir.Skill) bool {
	for name, methods := range h.methods {
		wanted := slices.ContainsFunc(skills, func(s *ir.Skill) bool { return s.Go == name })
		if slices.ContainsFunc(methods, func(m handler) bool { return m.file == file && (wanted || !m.task) }) {
			return true
		}
	}
	return false
}

// Finding is something about a handler that its author should know.
type Finding struct {
	Code    FindingCode `json:"code"`
	File    string      `json:"file"` // slash-separated, relative to the project
	Line    int         `json:"line,omitempty"`
	Method  string      `json:"method,omitempty"`
	Message string      `json:"message"`
	Hint    string      `json:"hint,omitempty"`
}

// FindingCode says what was found.
type FindingCode string

// What is found about handlers.
const (
	Signature FindingCode = "signature" // it does not fit the skill's contract, and does not compile
	Syntax    FindingCode = "syntax"    // the file does not parse
	Orphaned  FindingCode = "orphan"    // its skill is gone
	Unwritten FindingCode = "stub"      // still as the tool wrote it
	Build     FindingCode = "build"     // it does not compile, says the compiler
	Elsewhere FindingCode = "elsewhere" // the handlers are in another folder than the configuration says
	Moved     FindingCode = "moved"     // it imports a package of this module by a path that it no longer has
)

// Where returns the position as file:line.
func (f Finding) Where() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// String renders the finding on one line.
func (f Finding) String() string {
	s := f.Where() + ": " + f.Message
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// Breaks reports whether the project does not compile, or does not do what its configuration says.
func (f Finding) Breaks() bool { return f.Code != Orphaned && f.Code != Unwritten }

func broken(file string, err error) Finding {
	f := Finding{Code: Syntax, File: file, Message: "this does not parse: " + err.Error()}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		f.Line, f.Message = list[0].Pos.Line, "this does not parse: "+list[0].Msg
	}
	return f
}

// Findings returns what is to be reported about the handlers, by file and line: files that do not parse, signatures
// that do not fit, methods without a skill, and stubs.
func (h Handlers) Findings(wanted []Method) []Finding {
	fs := slices.Clone(h.broken)
	known := map[string]bool{}
	for _, m := range wanted {
		known[m.Name] = true
		fs = append(fs, h.judge(m)...)
	}
	for name, methods := range h.methods {
		for _, m := range methods {
			if m.task && !known[name] {
				fs = append(fs, Finding{Code: Orphaned, File: m.file, Line: m.line, Method: name, Message: "method " + name + " belongs to no skill any more", Hint: h.remedy(m.file)})
			}
		}
	}
	SortFindings(fs)
	return fs
}

// SortFindings sorts by file and line.
func SortFindings(fs []Finding) {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
}

// remedy says what to do with a method without a skill, and names the test beside it, which does not compile without
// the skill.
func (h Handlers) remedy(file string) string {
	test := strings.TrimSuffix(file, ".go") + "_test.go"
	if _, ok := h.files[test]; ok {
		return "delete it, and " + path.Base(test) + ", when you do not need them"
	}
	return "delete it when you do not need it"
}

// judge checks the methods with the name of a skill's handler. Those of other types than Agent count only if they
// look like handlers.
func (h Handlers) judge(m Method) (fs []Finding) {
	for _, got := range h.methods[m.Name] {
		f := Finding{File: got.file, Line: got.line, Method: m.Name}
		switch {
		case !got.agent && !got.task, slices.ContainsFunc(h.broken, func(b Finding) bool { return b.File == got.file }):
			continue
		case !got.has.fits(m.want, func(pkg string) bool { return m.known[pkg] || pkg == h.self }):
			f.Code, f.Message = Signature, m.Name+" wants "+m.want.String()
		case got.stub:
			f.Code, f.Message, f.Hint = Unwritten, m.Name+" is a stub", "write it, and remove the line with "+stubMark
		default:
			continue
		}
		fs = append(fs, f)
	}
	return fs
}
