package schema

import (
	"encoding/json"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// verdict says why a JSON text is not valid, or "".
type verdict func(value json.RawMessage) string

// question is about values for which all parts hold. It waits until the types are complete, so that one document
// answers all questions of a request.
type question struct {
	parts  []*schema
	answer func(problem verdict)
}

// later asks about values for which all parts hold. Parts that were made here, not read, say nothing about a value that
// is in a schema.
func (l *lowerer) later(parts []*schema, answer func(problem verdict)) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *schema) bool { return p.doc.schemas[p.ptr] != p })
	if len(parts) > 0 {
		l.questions = append(l.questions, question{parts, answer})
	}
}

// answer answers all questions.
func (l *lowerer) answer() {
	if len(l.questions) == 0 {
		return
	}
	var e *Evaluator
	var err error
	for i, q := range l.questions {
		q.answer(func(value json.RawMessage) string {
			if e == nil && err == nil {
				e, err = NewEvaluator(l.asked())
			}
			if err != nil {
				return ""
			}
			problem := ""
			problem, err = e.Problem("/allOf/"+strconv.Itoa(i), value)
			return problem
		})
	}
	if err != nil {
		l.errorf(l.root.doc, l.root.node, "unjudged", "", "defaults and examples cannot be judged: %v", err)
	}
}

// asked prints the schemas that questions are about.
func (l *lowerer) asked() []byte {
	w := &bundler{l: l, known: map[*schema]bool{}, asked: true}
	w.b = append(w.b, `{"allOf":[`...)
	for i, q := range l.questions {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, `{"allOf":[`...)
		for j, p := range q.parts {
			if j > 0 {
				w.b = append(w.b, ',')
			}
			w.place(p, false)
		}
		w.b = append(w.b, "]}"...)
	}
	w.b = append(w.b, ']')
	w.definitions()
	return append(w.b, '}')
}

// askDefault takes the default of a field back if it is not valid, and settles how the field tells absence.
func (l *lowerer) askDefault(field *ir.DataField, p *flatProperty, def *yaml.Node, doc *document) {
	field.Default = yamlx.JSON(def)
	l.presence(field, false)
	l.later(p.parts, func(problem verdict) {
		if text := problem(field.Default); text != "" {
			l.list.Warnf(doc.pos(def), "bad-default", "correct it, or remove it",
				"the default is not valid and has no effect: %s", text)
			field.Default = nil
			return
		}
		if zero := zeroOf(&field.Type); zero != "" && field.Pointer {
			isDefault := def.Kind == yaml.ScalarNode && canonical(def) == zero
			l.presence(field, isDefault || problem(json.RawMessage(zero)) != "")
		}
	})
}

// zeroOf is the Go zero value of a scalar as JSON, "" of what is none.
func zeroOf(t *ir.DataRef) string {
	kind := t.Kind
	if kind == ir.DataNamed && t.Type.Kind == ir.DataEnum {
		kind = t.Type.Base
	}
	switch kind {
	case ir.DataString:
		return `""`
	case ir.DataBool:
		return "false"
	case ir.DataInt32, ir.DataInt64, ir.DataUint32, ir.DataUint64, ir.DataNumber:
		return "0"
	}
	return ""
}

// askExamples warns of examples that are not valid, once for each schema.
func (l *lowerer) askExamples(parts []*schema) {
	for _, s := range parts {
		if len(s.examples) == 0 || l.exampled[s.key] {
			continue
		}
		l.exampled[s.key] = true
		l.later([]*schema{s}, func(problem verdict) {
			for _, n := range s.examples {
				if text := problem(yamlx.JSON(n)); text != "" {
					l.list.Warnf(s.doc.pos(n), "bad-example", "correct it, or remove it",
						"the example is not valid: %s", text)
				}
			}
		})
	}
}
