package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// conformance is a schema with instances, in the manner of the official JSON-Schema-Test-Suite.
type conformance struct {
	name   string
	schema string // YAML or JSON
	files  map[string]string
	// ecma: the pattern is ECMAScript, which the oracle's regular expressions are not.
	ecma bool
	// rootless: a pointer leads past a nested $id to the document, which the standard does not let it do.
	rootless bool
	tests    []instance
}

// instance is a value and what emitted code says of it.
type instance struct {
	json string
	// at is the JSON pointer of the expected violation; "ok" for a valid instance, "/" as a prefix as JSON pointers have it, "" the root.
	at string
	// stricter says why our verdict differs from the standard's; the instance is then not shown to the oracle.
	stricter string
	// out is what is expected back when it is not what went in.
	out string
}

func ok(json string) instance              { return instance{json: json, at: "ok"} }
func bad(json, at string) instance         { return instance{json: json, at: at} }
func becomes(json, out string) instance    { return instance{json: json, at: "ok", out: out} }
func strict(json, at, why string) instance { return instance{json: json, at: at, stricter: why} }

// verdict is what the compiled program answers for one instance.
type verdict struct {
	Violations []struct{ Pointer, Message string }
	Out        json.RawMessage
	Encode     string // error of encoding what was decoded
	Again      string // encoded, decoded and encoded once more
}

func compileCases(t *testing.T, cases []conformance) compiled {
	t.Helper()
	var reqs []request
	files := map[string]string{}
	for i, c := range cases {
		reqs = append(reqs, request{fmt.Sprintf("Case%03dInput", i), "agent.yaml", c.schema})
		for name, text := range c.files {
			files[name] = text
		}
	}
	res, list := compile(reqs, openMap(files))
	if list.HasErrors() {
		t.Fatalf("compile: %v", list)
	}
	return res
}

func openMap(files map[string]string) schema.Opener {
	return func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
}

const program = `package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"example.com/cases/agent"
	"github.com/a2agen/a2agen/runtime/check"
)

type root interface {
	UnmarshalJSON([]byte) error
	AppendJSON([]byte) ([]byte, error)
	MarshalJSON() ([]byte, error)
	Validate() error
}

var roots = []func() root{
%s}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for {
		var q struct{ Root int; JSON string }
		if in.Decode(&q) != nil {
			return
		}
		var a struct {
			Violations []check.Violation
			Out json.RawMessage
			Encode, Again string
		}
		v := roots[q.Root]()
		if err := v.UnmarshalJSON([]byte(q.JSON)); err != nil {
			var e *check.Error
			if !errors.As(err, &e) {
				panic(err)
			}
			a.Violations = e.Violations
			out.Encode(a)
			continue
		}
		b, err := v.AppendJSON([]byte("x"))
		if err != nil {
			a.Encode = err.Error()
			out.Encode(a)
			continue
		}
		a.Out = b[1:]
		again := roots[q.Root]()
		if err := again.UnmarshalJSON(a.Out); err != nil {
			a.Again = err.Error()
		} else if b, err := again.MarshalJSON(); err != nil {
			a.Again = err.Error()
		} else {
			a.Again = string(b)
		}
		out.Encode(a)
	}
}
`

// emitted is the Go code of the types.
func emitted(t *testing.T, res compiled) []byte {
	t.Helper()
	file, err := emit.Data(res.Types, "agent", "agent/data.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	return file.Data
}

// module emits the types as package agent of a module of its own, with a main that answers for every root.
func module(t *testing.T, res compiled) (dir string) {
	t.Helper()
	code := emitted(t, res)
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(repo, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(repo, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module github.com/a2agen/a2agen", "module example.com/cases", 1)
	text, _, _ = strings.Cut(text, "\ntool ")
	text += "\nrequire github.com/a2agen/a2agen v0.0.0-00010101000000-000000000000\nreplace github.com/a2agen/a2agen => " + repo + "\n"
	var roots strings.Builder
	for _, r := range res.Roots {
		fmt.Fprintf(&roots, "\tfunc() root { return new(agent.%s) },\n", r.Ref.Name)
	}
	dir = t.TempDir()
	for name, data := range map[string][]byte{
		"go.mod": []byte(text), "go.sum": sum, "main.go": fmt.Appendf(nil, program, roots.String()), "agent/data.gen.go": code,
	} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ask vets and compiles the module once and asks it for the verdict on every instance.
func ask(t *testing.T, dir string, cases []conformance) [][]verdict {
	t.Helper()
	var in, out, stderr bytes.Buffer
	enc := json.NewEncoder(&in)
	for i, c := range cases {
		for _, test := range c.tests {
			if err := enc.Encode(struct {
				Root int
				JSON string
			}{i, test.json}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, args := range [][]string{{"vet", "./..."}, {"run", "."}} {
		cmd := gotool.Command(dir, args...)
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if args[0] == "run" {
			cmd.Stdin = &in
		}
		if err := cmd.Run(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, stderr.String())
		}
	}
	dec := json.NewDecoder(&out)
	verdicts := make([][]verdict, len(cases))
	for i, c := range cases {
		verdicts[i] = make([]verdict, len(c.tests))
		for j := range c.tests {
			if err := dec.Decode(&verdicts[i][j]); err != nil {
				t.Fatalf("answer for %s: %v", c.name, err)
			}
		}
	}
	return verdicts
}

// inquiry is what one subject asks of emitted code, and what it holds the answers to.
type inquiry struct {
	name  string
	cases []conformance
	hold  func(t *testing.T, roots []schema.Root, verdicts [][]verdict)
}

// TestEmittedCode compiles the schemas of all subjects into one program: compiling and linking take longer than all answers.
func TestEmittedCode(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	schema.AddEven(t)
	inquiries := []inquiry{standard(), limits(t), randomOnes(t), keyedOnes(t), unwritable()}
	var cases []conformance
	for _, q := range inquiries {
		cases = append(cases, q.cases...)
	}
	res := compileCases(t, cases)
	verdicts := ask(t, module(t, res), cases)
	for _, q := range inquiries {
		n := len(q.cases)
		t.Run(q.name, func(t *testing.T) { q.hold(t, res.Roots[:n], verdicts[:n]) })
		res.Roots, verdicts = res.Roots[n:], verdicts[n:]
	}
}

func standard() inquiry {
	cases := allCases()
	return inquiry{"gives the verdict of the standard", cases, func(t *testing.T, roots []schema.Root, verdicts [][]verdict) {
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				oracle := oracleFor(t, c, roots[i].Bundle)
				for j, test := range c.tests {
					checkVerdict(t, test, verdicts[i][j], oracle)
					if valid := evaluate(t, roots[i].Bundle, test.json); test.stricter == "" && valid != (test.at == "ok") {
						t.Errorf("%s: the evaluator says %v, emitted code %v", test.json, valid, !valid)
					}
				}
			})
		}
	}}
}

// evaluate is what the generator thinks of an instance.
func evaluate(t *testing.T, bundle []byte, instance string) (valid bool) {
	t.Helper()
	e, err := schema.NewEvaluator(bundle)
	if err != nil {
		t.Fatalf("%v\n%s", err, bundle)
	}
	problem, err := e.Problem("", []byte(instance))
	if err != nil {
		t.Fatalf("%v\n%s", err, bundle)
	}
	return problem == ""
}

// oracleFor compiles the schema as written, where it stands alone, and the bundle.
func oracleFor(t *testing.T, c conformance, bundle []byte) []*jsonschema.Schema {
	t.Helper()
	if c.ecma {
		return nil
	}
	texts := []string{string(bundle)}
	if c.files == nil && !c.rootless {
		node, list := yamlx.Parse("s.yaml", []byte(c.schema))
		if list.HasErrors() {
			t.Fatal(list)
		}
		// OpenAPI's spellings mean nothing to the oracle: only the bundle has them in standard words.
		if text := string(yamlx.JSON(node)); !strings.Contains(text, `"nullable"`) && !strings.Contains(text, `Minimum":true`) && !strings.Contains(text, `Maximum":true`) {
			texts = append(texts, text)
		}
	}
	var schemas []*jsonschema.Schema
	for _, text := range texts {
		comp := jsonschema.NewCompiler()
		comp.DefaultDraft(jsonschema.Draft2020)
		comp.AssertFormat()
		comp.AssertContent()
		if err := comp.AddResource("s.json", parse(t, text)); err != nil {
			t.Fatalf("oracle: %v\n%s", err, text)
		}
		s, err := comp.Compile("s.json")
		if err != nil {
			t.Fatalf("oracle: %v\n%s", err, text)
		}
		schemas = append(schemas, s)
	}
	return schemas
}

func checkVerdict(t *testing.T, test instance, got verdict, oracle []*jsonschema.Schema) {
	t.Helper()
	if len(got.Violations) == 0 {
		checkRoundTrip(t, test, got, oracle)
	}
	if test.at == "ok" && len(got.Violations) > 0 {
		t.Errorf("%s: violations %v, want none", test.json, got.Violations)
	}
	if test.at != "ok" {
		found := false
		for _, v := range got.Violations {
			found = found || v.Pointer == test.at
		}
		if !found {
			t.Errorf("%s: violations %v, want one at %q", test.json, got.Violations, test.at)
		}
	}
	if test.stricter != "" {
		return
	}
	for i, s := range oracle {
		if err := s.Validate(parse(t, test.json)); (err == nil) != (test.at == "ok") {
			t.Errorf("%s: oracle %d says %v, we say %q", test.json, i, err, test.at)
		}
	}
}

// checkRoundTrip checks that what was read is written as it came, or as expected, stays so, and is valid.
func checkRoundTrip(t *testing.T, test instance, got verdict, oracle []*jsonschema.Schema) {
	t.Helper()
	if got.Encode != "" || got.Again != string(got.Out) {
		t.Errorf("%s: encoded %s (%s), again %s", test.json, got.Out, got.Encode, got.Again)
		return
	}
	want := test.json
	if test.out != "" {
		want = test.out
	}
	if !reflect.DeepEqual(parse(t, want), parse(t, string(got.Out))) {
		t.Errorf("%s: came back as %s, want %s", test.json, got.Out, want)
	}
	for _, s := range oracle {
		if err := s.Validate(parse(t, string(got.Out))); err != nil && test.stricter == "" {
			t.Errorf("%s: wrote %s, which is not valid: %v", test.json, got.Out, err)
		}
	}
}

func parse(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestBundlesCompileToTheSameTypes(t *testing.T) {
	cases := allCases()
	res := compileCases(t, cases)
	again := make([]conformance, len(cases))
	for i := range cases {
		again[i] = conformance{name: cases[i].name, schema: string(res.Roots[i].Bundle)}
	}
	second := compileCases(t, again)
	for i := range cases {
		if a, b := res.Roots[i], second.Roots[i]; string(a.Bundle) != string(b.Bundle) || a.TextField != b.TextField || a.Ref.Name != b.Ref.Name {
			t.Errorf("%s: root %s %q\n%s\nbecame %s %q\n%s", cases[i].name, a.Ref.Name, a.TextField, a.Bundle, b.Ref.Name, b.TextField, b.Bundle)
		}
	}
	if first, other := emitted(t, res), emitted(t, second); !bytes.Equal(first, other) {
		t.Errorf("the bundles give other Go code: %s", firstDifference(first, other))
	}
}

func firstDifference(a, b []byte) string {
	la, lb := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(la), len(lb)) {
		if la[i] != lb[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, strings.Join(la[max(0, i-5):min(len(la), i+3)], "\n"), strings.Join(lb[max(0, i-5):min(len(lb), i+3)], "\n"))
		}
	}
	return "length"
}

// types returns the compiled types by Go name.
func types(res compiled) map[string]*ir.DataType {
	m := map[string]*ir.DataType{}
	for _, t := range res.Types {
		m[t.Go] = t
	}
	return m
}
