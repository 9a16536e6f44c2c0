package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/a2agen/a2agen/runtime/gen/check/format"
)

// Evaluator judges values by a contract. It is the only judge of the generator: what emitted code checks is the other
// one, and a test holds the two to the same verdicts.
type Evaluator struct {
	compiler *jsonschema.Compiler
	contract any
}

// contractURL names the one document that an evaluator has.
const contractURL = "a2agen:contract"

// NewEvaluator reads a contract as [Compile] prints it. It is compiled when the first value is judged.
func NewEvaluator(contract []byte) (*Evaluator, error) {
	doc, err := decode(contract)
	if err != nil {
		return nil, err
	}
	if strip(doc); !inRange(doc) {
		return nil, errors.New("a number of the contract is out of range")
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2019)
	c.UseLoader(nothing{})
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: contractURL + "/go", Compile: compileGo})
	c.AssertVocabs()
	return &Evaluator{compiler: c, contract: doc}, c.AddResource(contractURL, doc)
}

// nothing loads nothing.
type nothing struct{}

// Load is part of jsonschema.URLLoader.
func (nothing) Load(string) (any, error) { return nil, errors.New("a contract is self-contained") }

// Problem says why a JSON text is not valid by the schema at a JSON pointer of the contract, "" if it is. The error
// tells that the contract cannot be evaluated, which the library tells by a panic where its author did not print it.
func (e *Evaluator) Problem(pointer string, value []byte) (problem string, err error) {
	defer func() {
		if r := recover(); r != nil {
			problem, err = "", fmt.Errorf("the contract cannot be evaluated: %v", r)
		}
	}()
	v, err := decode(value)
	if err != nil {
		return "", err
	}
	if !inRange(v) {
		return "is out of range", nil
	}
	switch find(e.contract, pointer).(type) {
	case map[string]any, bool:
	default:
		return "", fmt.Errorf("the contract has no schema at %q", pointer)
	}
	s, err := e.compiler.Compile(contractURL + "#" + strings.ReplaceAll(pointer, "%", "%25"))
	if err != nil {
		return "", err
	}
	var invalid *jsonschema.ValidationError
	if err := s.Validate(v); errors.As(err, &invalid) {
		return e.complaint(invalid, v), nil
	} else if err != nil {
		return "", err
	}
	return "", nil
}

// decode reads JSON, numbers as they are written.
func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// inRange reports whether a float64 holds every number in a value. Others would be written out in full to be compared.
func inRange(v any) bool {
	switch v := v.(type) {
	case json.Number:
		_, ok := ParseNumber(v.String())
		return ok
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !inRange(e) })
	case map[string]any:
		for _, e := range v {
			if !inRange(e) {
				return false
			}
		}
	}
	return true
}

// strip takes out of a schema what says nothing about values, which need not be as the standard has it. It respells
// patterns as Go reads them, and prefixItems as draft 2019-09 does.
func strip(node any) {
	s, _ := node.(map[string]any)
	if prefix, ok := s["prefixItems"]; ok {
		if rest, ok := s["items"]; ok {
			s["additionalItems"] = rest
		}
		s["items"] = prefix
		delete(s, "prefixItems")
	}
	for name, v := range s {
		row := table[name]
		if row == nil {
			continue
		}
		if text, ok := v.(string); ok && name == "pattern" {
			s[name] = FromECMA(text)
		}
		if row.note {
			delete(s, name)
		}
		switch v := v.(type) {
		case []any:
			for _, sub := range v {
				if row.Holds == HoldsList || name == "items" {
					strip(sub)
				}
			}
		case map[string]any:
			if row.Holds == HoldsOne {
				strip(v)
			}
			for _, sub := range v {
				if row.Holds == HoldsByName {
					strip(sub)
				}
			}
		}
	}
}

// goRule is what emitted types ask of a value beyond the standard, with the keyword that has them ask it: formats, base64, and
// numbers that they can hold.
type goRule struct {
	keyword string
	problem func(v any) string // "" if there is none
}

// goRules are those of a schema.
type goRules []goRule

// compileGo is the vocabulary that makes them.
func compileGo(_ *jsonschema.CompilerContext, s map[string]any) (jsonschema.SchemaExt, error) {
	var rules goRules
	name, _ := s["format"].(string)
	text := func(keyword, name string) {
		rules = append(rules, goRule{keyword, func(v any) string {
			if s, isText := v.(string); isText && !format.Valid(name, s) {
				return "must be a valid " + name
			}
			return ""
		}})
	}
	if _, known := formats[name]; known {
		text("format", name)
	}
	if encoding, ok := s["contentEncoding"].(string); ok && strings.EqualFold(encoding, "base64") {
		text("go", "byte")
	}
	types, _ := s["type"].([]any)
	if slices.Contains(append(types, s["type"]), any("integer")) && !slices.Contains(types, any("number")) {
		_, low, high := IntegerRange(name)
		rules = append(rules, goRule{"go", func(v any) string {
			n, isNumber := v.(json.Number)
			if x := rat(n.String()); isNumber && x.IsInt() && (x.Num().Cmp(low) < 0 || x.Num().Cmp(high) > 0) {
				return fmt.Sprintf("must be a whole number from %s to %s", low, high)
			}
			return ""
		}})
	}
	if rules == nil {
		return nil, nil
	}
	return rules, nil
}

// Validate is part of jsonschema.SchemaExt.
func (rules goRules) Validate(ctx *jsonschema.ValidatorContext, v any) {
	for _, r := range rules {
		if problem := r.problem(v); problem != "" {
			ctx.AddError(&goProblem{r.keyword, problem})
		}
	}
}

// goProblem is part of an error of the library.
type goProblem struct{ keyword, problem string }

// KeywordPath is part of jsonschema.ErrorKind.
func (p *goProblem) KeywordPath() []string { return []string{p.keyword} }

// LocalizedString is part of jsonschema.ErrorKind.
func (p *goProblem) LocalizedString(*message.Printer) string { return p.problem }

// complaint says in our words what is wrong with a value: the first thing that is, where there are several.
func (e *Evaluator) complaint(err *jsonschema.ValidationError, value any) string {
	leaf := slices.MinFunc(leaves(err), func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(strings.Compare(pointer(a.InstanceLocation), pointer(b.InstanceLocation)), strings.Compare(keywordAt(a), keywordAt(b)))
	})
	text, where := leaf.ErrorKind.LocalizedString(english), pointer(leaf.InstanceLocation)
	for at := keywordAt(leaf); at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		if row := table[lastToken(at)]; row != nil && (row.says != "" || row.explain != nil) {
			text = row.problem(find(e.contract, at), find(value, where))
			break
		}
	}
	if where != "" {
		return fmt.Sprintf("%q %s", short(where[1:]), text)
	}
	return text
}

// english is for what the library says of keywords without words of ours.
var english = message.NewPrinter(language.English)

// pointer is a JSON pointer of tokens.
func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		_, _ = escape.WriteString(&b, t)
	}
	return b.String()
}

// keywordAt is the pointer of the keyword in the contract that refuses a value.
func keywordAt(err *jsonschema.ValidationError) string {
	_, schema, _ := strings.Cut(err.SchemaURL, "#")
	schema, _ = url.PathUnescape(schema) // as the library escaped it
	return schema + pointer(err.ErrorKind.KeywordPath())
}

// problem says what is wrong with a value that the keyword refuses.
func (k *Keyword) problem(arg, v any) string {
	switch {
	case k.explain != nil:
		return k.explain(arg, v)
	case !strings.Contains(k.says, "%v"):
		return k.says
	case k.unit != "":
		arg = plural(arg, k.unit)
	}
	return fmt.Sprintf(k.says, arg)
}

func typeProblem(arg, v any) string  { return "must be " + typesText(arg) + ", not " + describe(v) }
func constProblem(arg, _ any) string { return "must be " + jsonText(arg) }

// requiredProblem names the first property that is missing.
func requiredProblem(arg, v any) string {
	object, _ := v.(map[string]any)
	names, _ := arg.([]any)
	for _, name := range names {
		if text, ok := name.(string); ok && !has(object, text) {
			return fmt.Sprintf("lacks the property %q, which is required", short(text))
		}
	}
	return "lacks a required property"
}

func has(object map[string]any, name string) bool {
	_, ok := object[name]
	return ok
}

// leaves are the errors that have no others as their cause. What is wrong with each alternative of a union is not told.
func leaves(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return []*jsonschema.ValidationError{err}
	}
	if len(err.Causes) == 0 {
		return []*jsonschema.ValidationError{err}
	}
	var list []*jsonschema.ValidationError
	for _, cause := range err.Causes {
		list = append(list, leaves(cause)...)
	}
	return list
}

// find follows a JSON pointer.
func find(node any, pointer string) any {
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch in := node.(type) {
		case map[string]any:
			node = in[unescape.Replace(token)]
		case []any:
			i, _ := strconv.Atoi(token)
			node = in[min(i, len(in)-1)]
		}
	}
	return node
}

// typesText says what values of the types of a schema are.
func typesText(arg any) string {
	words := map[any]string{
		"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false",
		"array": "a list", "object": "a map", "null": "nothing",
	}
	names, isList := arg.([]any)
	if !isList {
		names = []any{arg}
	}
	var list []string
	for _, name := range names {
		list = append(list, words[name])
	}
	return strings.Join(list, " or ")
}

// describe says what a value is.
func describe(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case json.Number:
		return "the number " + short(v.String())
	case string:
		return "the text " + strconv.Quote(short(v))
	case bool:
		return strconv.FormatBool(v)
	}
	return "nothing"
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return short(string(text))
}
