package spec

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/test/official"
)

// facts are the published structure of a protocol version.
type facts struct {
	Package  string                      `json:"package"`
	Enums    map[string]map[string]int32 `json:"enums"`
	Messages map[string]struct {
		Fields []factField `json:"fields"`
		Oneofs []string    `json:"oneofs"`
	} `json:"messages"`
	RPCs []struct {
		Name         string  `json:"name"`
		GRPCPath     string  `json:"grpcPath"`
		Request      string  `json:"request"`
		Response     string  `json:"response"`
		ServerStream bool    `json:"serverStream"`
		HTTP         []Route `json:"http"`
	} `json:"rpcs"`
}

type factField struct {
	Proto            string `json:"proto"`
	JSON             string `json:"json"`
	Number           int32  `json:"number"`
	Type             string `json:"type"`
	Repeated         bool   `json:"repeated"`
	Map              bool   `json:"map"`
	Required         bool   `json:"required"`
	OptionalPresence bool   `json:"optionalPresence"`
	Oneof            string `json:"oneof"`
	Deprecated       bool   `json:"deprecated"`
}

// published reads a file of the official documents.
func published(t *testing.T, name ...string) []byte {
	t.Helper()
	src, err := os.ReadFile(official.Folder(t, name...))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestShippedProtosHaveThePublishedStructure(t *testing.T) {
	for version, file := range map[string]string{"1.0": "a2a-v1.0.1", "0.3": "a2a-v0.3.0", "0.2": "a2a-v0.2.6"} {
		t.Run(version, func(t *testing.T) {
			var want facts
			if err := json.Unmarshal(published(t, "facts", file+".proto-facts.json"), &want); err != nil {
				t.Fatal(err)
			}
			doc, err := ShippedProto(version)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, factsOf(doc)); diff != "" {
				t.Errorf("the definition differs from the published one (-published +ours):\n%s", diff)
			}
		})
	}
}

func TestShippedSchemasHaveThePublishedStructure(t *testing.T) {
	for version, file := range map[string]string{"0.3": "a2a-v0.3.0.json", "0.2": "a2a-v0.2.6.json", "0.1": "a2a-v0.1.0.json"} {
		t.Run(version, func(t *testing.T) {
			var want, got any
			if err := json.Unmarshal(published(t, file), &want); err != nil {
				t.Fatal(err)
			}
			src, err := shipped.ReadFile("v" + version + "/a2a.json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(src, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(structure(want), structure(got)); diff != "" {
				t.Errorf("the schema differs from the published one (-published +ours):\n%s", diff)
			}
		})
	}
}

// structure removes from a schema what is there for readers only. A property may be called "description" or "title": its
// schema is an object and stays.
func structure(schema any) any {
	switch v := schema.(type) {
	case map[string]any:
		for key, member := range v {
			if _, object := member.(map[string]any); !object && (key == "description" || key == "title" || key == "examples") {
				delete(v, key)
				continue
			}
			v[key] = structure(member)
		}
	case []any:
		for i := range v {
			v[i] = structure(v[i])
		}
	}
	return schema
}

func TestNoTextOfThePublishedSchemasIsShipped(t *testing.T) {
	for version, file := range map[string]string{"0.3": "a2a-v0.3.0.json", "0.2": "a2a-v0.2.6.json", "0.1": "a2a-v0.1.0.json"} {
		var theirs any
		if err := json.Unmarshal(published(t, file), &theirs); err != nil {
			t.Fatal(err)
		}
		ours, err := shipped.ReadFile("v" + version + "/a2a.json")
		if err != nil {
			t.Fatal(err)
		}
		descriptions(theirs, func(text string) {
			quoted, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > 30 && strings.Contains(string(ours), string(quoted)) {
				t.Errorf("%s: %s", version, text)
			}
		})
	}
}

// descriptions calls f with each description in a schema.
func descriptions(schema any, f func(string)) {
	switch v := schema.(type) {
	case map[string]any:
		for key, member := range v {
			if text, ok := member.(string); ok && key == "description" {
				f(text)
			}
			descriptions(member, f)
		}
	case []any:
		for _, elem := range v {
			descriptions(elem, f)
		}
	}
}

// factsOf renders a document in the form of the published facts.
func factsOf(doc *Document) facts {
	got := facts{Package: doc.Package}
	empty, _ := json.Marshal(map[string]any{"enums": map[string]any{}, "messages": map[string]any{}})
	if err := json.Unmarshal(empty, &got); err != nil {
		panic(err)
	}
	for _, e := range doc.Enums {
		got.Enums[e.Name] = map[string]int32{}
		for _, v := range e.Values {
			got.Enums[e.Name][v.Name] = v.Number
		}
	}
	for _, m := range doc.Messages {
		entry := got.Messages[m.Name]
		for _, f := range m.Fields {
			entry.Fields = append(entry.Fields, factField{
				Proto: f.Name, JSON: f.JSON, Number: f.Number, Type: factType(doc, f.Type), Repeated: f.Type.Kind == List, Map: f.Type.Kind == Map,
				Required: f.Required, OptionalPresence: f.Optional, Oneof: f.Union, Deprecated: f.Deprecated,
			})
		}
		for _, u := range m.Unions {
			entry.Oneofs = append(entry.Oneofs, u.Name)
		}
		got.Messages[m.Name] = entry
	}
	for _, op := range doc.Operations {
		got.RPCs = append(got.RPCs, struct {
			Name         string  `json:"name"`
			GRPCPath     string  `json:"grpcPath"`
			Request      string  `json:"request"`
			Response     string  `json:"response"`
			ServerStream bool    `json:"serverStream"`
			HTTP         []Route `json:"http"`
		}{op.Name, op.GRPC, rpcType(op.Request), rpcType(op.Response), op.Stream, op.HTTP})
	}
	return got
}

func rpcType(t Type) string {
	if t.Kind == Empty {
		return "Empty"
	}
	return t.Name
}

func factType(doc *Document, t Type) string {
	switch t.Kind {
	case List:
		return factType(doc, *t.Elem)
	case Map:
		return "map<string," + factType(doc, *t.Elem) + ">"
	case MessageOf:
		return doc.Package + "." + t.Name
	case EnumOf:
		return "enum " + t.Name
	case Timestamp, Duration, Struct, Value:
		return "google.protobuf." + strings.ToUpper(string(t.Kind[:1])) + string(t.Kind[1:])
	default:
		return string(t.Kind)
	}
}

func TestEveryDeclarationOfTheShippedDefinitionsIsDocumentedAndPositioned(t *testing.T) {
	for _, doc := range allShipped(t) {
		check := func(what, comment string, pos diag.Pos) {
			if comment == "" || pos.File != doc.Path || pos.Line == 0 || pos.Col == 0 {
				t.Errorf("%s: %s: comment %q at %v", doc.Path, what, comment, pos)
			}
		}
		for _, m := range doc.Messages {
			check(m.Name, m.Comment, m.Pos)
			for _, f := range m.Fields {
				check(m.Name+"."+f.Name, f.Comment, f.Pos)
			}
			for _, u := range m.Unions {
				check(m.Name+"."+u.Name, u.Comment, u.Pos)
			}
		}
		for _, e := range doc.Enums {
			check(e.Name, e.Comment, e.Pos)
			for _, v := range e.Values {
				if doc.Syntax != Proto { // JSON Schema has no place for it
					v.Comment = "-"
				}
				check(v.Name, v.Comment, v.Pos)
			}
		}
		for _, c := range doc.Choices {
			if strings.Contains(c.Name, ".result") || strings.Contains(c.Name, ".params") { // of an operation, which has one
				c.Comment = "-"
			}
			check(c.Name, c.Comment, c.Pos)
		}
		for _, op := range doc.Operations {
			check(op.Name, op.Comment, op.Pos)
		}
		for _, e := range doc.Errors {
			check(e.Name, e.Comment, e.Pos)
		}
	}
}

// allShipped returns all shipped definitions of all versions.
func allShipped(t *testing.T) []*Document {
	t.Helper()
	var docs []*Document
	for _, version := range Versions() {
		doc, err := Shipped(version)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
		doc, err = ShippedProto(version)
		if err != nil {
			t.Fatal(err)
		}
		if doc != nil && doc.Path != docs[len(docs)-1].Path {
			docs = append(docs, doc)
		}
	}
	return docs
}

func TestAnUnknownVersionNamesTheKnownOnes(t *testing.T) {
	_, err := Shipped("0.9")
	if err == nil || !strings.Contains(err.Error(), `"0.9"`) || !strings.Contains(err.Error(), "1.0") {
		t.Errorf("error %v", err)
	}
	if !slices.Contains(Versions(), "1.0") {
		t.Errorf("versions %v", Versions())
	}
}

func TestTheSourceOfAVersionHoldsAllOfItsFiles(t *testing.T) {
	for _, version := range Versions() {
		src, err := Source(version)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{
			"1.0": {"package lf.a2a.v1"}, "0.3": {`"message/stream"`, "package a2a.v1"}, "0.2": {`"message/stream"`, "package a2a.v1"}, "0.1": {`"tasks/sendSubscribe"`},
		}[version]
		for _, text := range want {
			if !strings.Contains(string(src), text) {
				t.Errorf("the source of %s lacks %s", version, text)
			}
		}
	}
	if _, err := Source("0.9"); err == nil {
		t.Error("no error for an unknown version")
	}
	if doc, err := ShippedProto("0.1"); doc != nil || err != nil {
		t.Errorf("0.1 has a proto: %v, %v", doc, err)
	}
	if _, err := ShippedProto("0.9"); err == nil {
		t.Error("no error for an unknown version")
	}
}
