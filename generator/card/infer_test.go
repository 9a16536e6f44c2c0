package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/internal/test/growth"
)

// inferredFrom is what the examples of a skill give, as its user gets it: written to a file, read, and stated.
func inferredFrom(t *testing.T, examples ...string) (*card.Card, card.Inferred) {
	t.Helper()
	list, err := json.Marshal(examples)
	if err != nil {
		t.Fatal(err)
	}
	c, problems := card.Import("card.json", []byte(foreignCard("", `,"examples":`+string(list))))
	if c == nil || problems.HasErrors() {
		t.Fatal(problems)
	}
	inferred := c.Infer()
	if len(inferred) != 1 || inferred[0].Skill != "trip" {
		t.Fatalf("inferred %+v", inferred)
	}
	contract, problems := config.ReadContract("contract.yaml", card.InferredContract(c.Name, inferred))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	var stated []card.Stated
	for _, s := range contract.Skills {
		stated = append(stated, card.Stated{ID: s.ID, Input: s.Input, Output: s.Output, File: s.File, Pos: s.Pos})
	}
	if problems := c.State(stated, nil); problems.HasErrors() {
		t.Fatal(problems)
	}
	return c, inferred[0]
}

// TestAnInferredSchemaHoldsForItsExamples whatever is in them.
func TestAnInferredSchemaHoldsForItsExamples(t *testing.T) {
	for _, examples := range [][]string{
		{`{"to":"Rome"}`},
		{`{}`},
		{`{"a":1}`, `{"a":2.5,"b":[]}`, `{"b":[1,null,2]}`},
		{`{"a":null}`, `{"a":{"b":{"c":true}}}`},
		{`{"":1,"$ref":"x","type":{"enum":[1]},"a b":"c: d # e","\u0000":"\n","yes":"no","1":1}`},
		{`{"a":1e40,"b":-0,"c":12345678901234567890123}`},
		{strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30)},
		{`{"a":[[{"b":1}],[{"b":2,"c":"x"}],[]]}`},
	} {
		c, i := inferredFrom(t, examples...)
		if i.Input == nil || i.Examples != len(examples) || c.Skills[0].Input == nil {
			t.Errorf("%q gives %+v", examples, i)
			continue
		}
		e, err := schema.NewEvaluator(c.Skills[0].Input.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range examples {
			if problem, err := e.Problem("", []byte(example)); problem != "" || err != nil {
				t.Errorf("%s breaks what was inferred from it: %s %v", example, problem, err)
			}
		}
	}
}

func TestExamplesThatDisagreeGiveNoSchema(t *testing.T) {
	for _, tt := range []struct{ a, b, why string }{
		{`{"a":1}`, `{"a":"x"}`, `"input.a" is integer in one example and string in another`},
		{`{"a":[1]}`, `{"a":[true]}`, `"input.a[]" is integer in one example and boolean in another`},
		{`{"a":{"b":[]}}`, `{"a":{"b":{}}}`, `"input.a.b" is array in one example and object in another`},
	} {
		if _, i := inferredFrom(t, tt.a, tt.b); i.Input != nil || i.Why != tt.why {
			t.Errorf("%s and %s give %+v", tt.a, tt.b, i)
		}
	}
}

// TestContractsTakeLinearTime, those in extensions and those in examples.
func TestContractsTakeLinearTime(t *testing.T) {
	growth.Linear(t, 50, func(n int) func() {
		var contracts, skills []string
		for i := range n {
			id := fmt.Sprintf("s%d", i)
			contracts = append(contracts, `{"id":"urn:`+id+`","skillIds":["`+id+`"],"input":{"presence":"none"},"output":{"presence":"none"}}`)
			skills = append(skills, `{"id":"`+id+`","name":"n","description":"d","tags":[],"examples":["{\"a\":[1,2,{\"b\":1}]}"]}`)
		}
		src := []byte(`{"name":"n","description":"d","version":"1","skills":[` + strings.Join(skills, ",") + `],"capabilities":{"extensions":[{"uri":"https://w3id.org/a2a-schema-contract/draft/0.1",
			"params":{"catalog":{"inline":{"contracts":[` + strings.Join(contracts, ",") + `]}}}}]}}`)
		return func() {
			c, _ := card.Import("card.json", src)
			if len(c.Infer()) == 0 {
				t.Error("nothing is inferred")
			}
		}
	})
}
