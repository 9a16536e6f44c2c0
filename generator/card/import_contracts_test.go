package card_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/card"
)

const tripSchema = `{"type":"object","required":["to"],"properties":{"to":{"type":"string"}}}`

// foreignCard is a card of two skills, with extensions, and with more members of the first skill.
func foreignCard(extensions, members string) string {
	return fmt.Sprintf(`{"name":"Desk","description":"d","version":"1","capabilities":{"extensions":[%s]},
		"supportedInterfaces":[{"url":"https://desk.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"skills":[{"id":"trip","name":"Trip","description":"d","tags":[]%s},{"id":"talk","name":"Talk","description":"d","tags":[]}]}`, extensions, members)
}

func TestSchemasAreTakenFromWhereCardsHaveThem(t *testing.T) {
	const contracts = "https://w3id.org/a2a-schema-contract/draft/0.1"
	const invoke = "https://example.com/extensions/skill-direct-invoke/v1"
	catalog := func(list string) string {
		return `{"uri":"` + contracts + `","params":{"catalog":{"inline":{"contracts":[` + list + `]}}}}`
	}
	json := func(id string) string {
		return `{"id":"` + id + `","mediaType":"application/json","schema":{"inline":` + tripSchema + `,"mediaType":"application/schema+json"}}`
	}
	contract := func(id, skills, in, out string) string {
		return `{"id":"` + id + `","skillIds":[` + skills + `],"input":` + in + `,"output":` + out + `}`
	}
	forms := func(list string) string { return `{"presence":"required","representations":[` + list + `]}` }
	tests := []struct {
		name, extensions, members string
		// want is what became of the first skill: its types, the convention, and a part of what is said of it.
		input, output bool
		convention    string
		said          string
	}{
		{"nowhere", "", "", false, false, "", ""},
		{"in members of the skill", "", `,"inputSchema":` + tripSchema + `,"outputSchema":` + tripSchema, true, true, "", `the inputSchema of skill "trip" is taken`},
		{"in snake case", "", `,"input_schema":` + tripSchema, true, false, "", `is taken`},
		{"a name is no schema", "", `,"inputSchema":"trip.json"`, false, false, "", ""},
		{"one that cannot be compiled", "", `,"inputSchema":{"type":"nonsense"}`, false, false, "", `are left out`},
		{"under skill-direct-invoke, in a map", `{"uri":"` + invoke + `","params":{"skills":{"trip":{"inputSchema":` + tripSchema + `}}}}`, "", true, false, "ByInvocation " + invoke, "taken from the extension"},
		{"under skill-direct-invoke, in the skill", `{"uri":"` + invoke + `"}`, `,"inputSchema":` + tripSchema, true, false, "ByInvocation " + invoke, ""},
		{"under another extension, in a list", `{"uri":"https://x.example/intents","params":{"skills":[{"id":"trip","inputSchema":` + tripSchema + `}]}}`, "", true, false, "", `taken from the extension "https://x.example/intents"`},
		{"in a contract", catalog(contract("urn:trip:1", `"trip"`, forms(json("j")), forms(json("rich")))), "", true, true, "ByContract " + contracts + " urn:trip:1 j rich", `called by the contract "urn:trip:1"`},
		{"in a contract whose text is the other form", catalog(contract("urn:trip:1", `"trip"`, forms(`{"id":"t","mediaType":"text/plain"},`+json("j")), `{"presence":"none"}`)), "",
			true, false, "ByContract " + contracts + " urn:trip:1 j ", ""},
		{"in a contract of text", catalog(contract("urn:trip:1", `"trip"`, forms(`{"id":"t","mediaType":"text/plain"}`), forms(json("j")))), "", false, true, "ByContract " + contracts + " urn:trip:1 t j", ""},
		{"in two contracts", catalog(contract("urn:trip:1", `"trip"`, forms(json("j")), forms(json("j"))) + "," + contract("urn:trip:2", `"trip"`, forms(json("j")), forms(json("j")))), "", false, false, "",
			`skill "trip" has 2 contracts`},
		{"in a contract of two forms", catalog(contract("urn:trip:1", `"trip"`, forms(json("j")+","+json("k")), forms(json("j")))), "", false, false, "", `has 2 forms`},
		{"in a contract of no skill", catalog(contract("urn:trip:1", "", forms(json("j")), forms(json("j")))), "", false, false, "", ""},
		{"in a contract elsewhere", `{"uri":"` + contracts + `","params":{"catalog":{"uri":"https://desk.example/catalog","mediaType":"application/json"}}}`, "", false, false, "", "are not in the card, and are not fetched"},
		{"in a contract that cannot be compiled", catalog(contract("urn:trip:1", `"trip"`, forms(strings.Replace(json("j"), `"object"`, `"nonsense"`, 1)), forms(json("j")))), "", false, false, "", "are left out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, list := card.Import("card.json", []byte(foreignCard(tt.extensions, tt.members)))
			if c == nil || list.HasErrors() {
				t.Fatal(list)
			}
			s := c.Skills[0]
			convention := strings.Join(append([]string{s.Convention.Func}, s.Convention.Args...), " ")
			got := fmt.Sprintf("%v %v %s", s.Input != nil, s.Output != nil, convention)
			if diff := cmp.Diff(fmt.Sprintf("%v %v %s", tt.input, tt.output, tt.convention), got); diff != "" {
				t.Errorf("skill trip (-want +got):\n%s\n%v", diff, list)
			}
			if c.Skills[1].Input != nil || c.Skills[1].Convention.Func != "" {
				t.Errorf("skill talk has %+v", c.Skills[1])
			}
			if !strings.Contains(fmt.Sprint(list), tt.said) {
				t.Errorf("nothing said of %q:\n%v", tt.said, list)
			}
		})
	}
}
