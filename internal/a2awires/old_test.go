package a2awires

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/spec"
)

// TestOlderThroughTheModel draws documents by the published definition: each is read, and written again as it was minus
// the declared losses.
func TestOlderThroughTheModel(t *testing.T) {
	for version, codecs := range oldWires {
		g := newDrawer(t, version)
		schemas := schemas(t, version)
		for _, c := range codecs {
			t.Run(version+"/"+c.typ.Name(), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					doc, want := g.draw(t, g.rootType(t, c.def), "", 0)
					if err := schemas[c.def].Validate(doc); err != nil {
						t.Fatalf("drew %v: %v", doc, err)
					}
					idOnly := c.typ.Name() == "SubscribeToTaskRequest" || version == "0.1" && c.typ.Name() == "GetTaskPushNotificationConfigRequest"
					if m, ok := want.(map[string]any); ok && idOnly {
						want = map[string]any{"id": m["id"]} // the same params have more for other operations
					}
					src, err := json.Marshal(doc)
					if err != nil {
						t.Fatal(err)
					}
					x, err := c.read(src)
					if err != nil {
						t.Fatalf("decode %s: %v", src, err)
					}
					again, err := c.append(nil, x)
					if err != nil {
						t.Fatalf("encode %s: %v", src, err)
					}
					if got := decoded(t, again); !cmp.Equal(got, want) {
						t.Fatalf("%s came back different:\n%s", src, cmp.Diff(want, got))
					}
				})
			})
		}
	}
}

// drawer draws documents of one version, and what is to come back.
type drawer struct {
	version  string
	doc      *spec.Document
	messages map[string]*spec.Message
	dropped  map[string]bool // fields, "AgentCapabilities.stateTransitionHistory"
}

func newDrawer(t *testing.T, version string) *drawer {
	t.Helper()
	doc, err := spec.Shipped(version)
	if err != nil {
		t.Fatal(err)
	}
	table, err := lower.AlignmentOf(version)
	if err != nil {
		t.Fatal(err)
	}
	g := &drawer{version: version, doc: doc, messages: map[string]*spec.Message{}, dropped: map[string]bool{}}
	for _, m := range doc.Messages {
		g.messages[m.Name] = m
	}
	for _, thing := range table.Things {
		if thing.Class == "absent" && thing.Old != "" {
			g.dropped[thing.Old] = true
		}
	}
	delete(g.dropped, "TaskIdParams.metadata") // kept when canceling
	if version == "0.1" {
		delete(g.dropped, "TaskQueryParams.historyLength") // kept when getting
	}
	return g
}

// rootType is the type that a codec's definition names.
func (g *drawer) rootType(t *rapid.T, def string) spec.Type {
	whole, member, ok := cutDot(def)
	if !ok {
		for _, c := range g.doc.Choices {
			if c.Name == def {
				return spec.Type{Kind: spec.ChoiceOf, Name: def}
			}
		}
		return spec.Type{Kind: spec.MessageOf, Name: def}
	}
	for _, c := range g.doc.Choices {
		if c.Name == def {
			return spec.Type{Kind: spec.ChoiceOf, Name: def}
		}
	}
	for _, op := range g.doc.Operations { // envelopes are not messages of the document
		if strings.HasPrefix(whole, op.Name) && member == "result" {
			return op.Response
		}
	}
	t.Fatalf("no type %s", def)
	return spec.Type{}
}

// draw draws a value of a type, and what comes back for it. field is what the value is for: "Task.id".
func (g *drawer) draw(t *rapid.T, typ spec.Type, field string, depth int) (doc, want any) {
	same := func(v any) (any, any) { return v, v }
	switch typ.Kind {
	case spec.String, spec.Timestamp, spec.Bytes:
		return same(g.text(t, field))
	case spec.Bool:
		return same(true)
	case spec.Int32, spec.Int64, spec.Uint32, spec.Uint64, spec.Float, spec.Double:
		return same(json.Number(rapid.SampledFrom([]string{"1", "7", "2147483647"}).Draw(t, "number")))
	case spec.Struct:
		return same(map[string]any{"k": json.Number("1.50"), "n": nil, "l": []any{"x", true}})
	case spec.Value:
		return same("anything")
	case spec.EnumOf:
		for _, e := range g.doc.Enums {
			if e.Name == typ.Name {
				return same(rapid.SampledFrom(e.Values).Draw(t, "value").Name)
			}
		}
	case spec.ChoiceOf:
		for _, c := range g.doc.Choices {
			if c.Name == typ.Name {
				return g.draw(t, rapid.SampledFrom(c.Types).Draw(t, "alternative"), field, depth)
			}
		}
	case spec.List:
		return g.list(t, typ, field, depth)
	case spec.Map:
		d, w := map[string]any{}, map[string]any{}
		name := rapid.StringN(1, 8, -1).Draw(t, "name")
		d[name], w[name] = g.draw(t, *typ.Elem, field, depth+1)
		return d, w
	case spec.MessageOf:
		return g.object(t, g.messages[typ.Name], field, depth)
	}
	t.Fatalf("%s: cannot draw a %s %s", field, typ.Kind, typ.Name)
	return nil, nil
}

func (g *drawer) list(t *rapid.T, typ spec.Type, field string, depth int) (doc, want any) {
	n := rapid.IntRange(1, 2).Draw(t, "length")
	if strings.HasSuffix(field, ".schemes") && !strings.HasPrefix(field, "AgentAuthentication") {
		n = 1
	}
	d, w := []any{}, []any{}
	for range n {
		x, y := g.draw(t, *typ.Elem, field, depth+1)
		d, w = append(d, x), append(w, y)
	}
	return d, w
}

func (g *drawer) text(t *rapid.T, field string) string {
	switch {
	case strings.HasSuffix(field, ".timestamp"):
		return rapid.SampledFrom([]string{"2026-01-02T03:04:05.678Z", "1999-12-31T23:59:59Z"}).Draw(t, "time")
	case strings.HasSuffix(field, ".bytes"):
		return base64.StdEncoding.EncodeToString(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case strings.HasSuffix(field, "Modes"):
		return rapid.SampledFrom([]string{"text/plain", "image/png"}).Draw(t, "mode")
	}
	return "s" + rapid.String().Draw(t, "text")
}

// object draws an object of message m that stands in field.
func (g *drawer) object(t *rapid.T, m *spec.Message, field string, depth int) (doc, want any) {
	d, w := map[string]any{}, map[string]any{}
	for _, f := range m.Fields {
		if !f.Required && (depth > 5 || rapid.Bool().Draw(t, "absent")) {
			continue
		}
		name := m.Name + "." + f.JSON
		var x, y any
		if f.Const != "" {
			x = decoded(t, []byte(f.Const))
			y = x
		} else {
			x, y = g.draw(t, f.Type, name, depth+1)
		}
		d[f.JSON], w[f.JSON] = x, y
		inEvent := g.version == "0.1" && field == "TaskArtifactUpdateEvent.artifact" // where 0.1 has append and lastChunk
		if g.dropped[name] && !inEvent {
			delete(w, f.JSON)
		}
	}
	g.adjust(t, m.Name, d, w)
	return d, w
}

// adjust makes d what the schema does not say it has to be, and w what comes back for it.
func (g *drawer) adjust(t *rapid.T, message string, d, w map[string]any) {
	switch message {
	case "TaskStatusUpdateEvent":
		state := w["status"].(map[string]any)["state"].(string)
		w["final"] = slices.Contains([]string{"completed", "failed", "canceled", "rejected", "input-required", "auth-required"}, state)
	case "MessageSendConfiguration":
		if d["blocking"] == true && rapid.Bool().Draw(t, "not blocking") {
			d["blocking"] = false
		}
		w["blocking"] = d["blocking"] == true // is always said
	case "MessageSendParams":
		if w["configuration"] == nil {
			w["configuration"] = map[string]any{"blocking": false}
		}
	case "OAuthFlows":
		for len(d) > 1 {
			first := slices.Sorted(maps.Keys(d))[0]
			delete(d, first)
			delete(w, first)
		}
	case "FileContent":
		delete(d, "uri")
		delete(w, "uri")
		if d["bytes"] == nil {
			d["uri"], w["uri"] = "https://example.com", "https://example.com"
		}
	case "Artifact":
		if g.version == "0.1" && w["index"] == nil {
			w["index"] = json.Number("0")
		}
	case "AgentCard":
		g.adjustCard(w)
	}
}

func (g *drawer) adjustCard(w map[string]any) {
	if g.version == "0.1" {
		for _, modes := range []string{"defaultInputModes", "defaultOutputModes"} {
			if w[modes] == nil {
				w[modes] = []any{"text/plain"}
			}
		}
		if a, ok := w["authentication"].(map[string]any); ok {
			list := a["schemes"].([]any)
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
			w["authentication"] = map[string]any{"schemes": slices.Compact(list)}
		}
		return
	}
	w["protocolVersion"] = map[string]string{"0.3": "0.3.0", "0.2": "0.2.6"}[g.version]
	if w["preferredTransport"] == nil {
		w["preferredTransport"] = "JSONRPC"
	}
	main := map[string]any{"url": w["url"], "transport": w["preferredTransport"]}
	seen := []any{main}
	list, _ := w["additionalInterfaces"].([]any)
	for _, i := range list {
		if !slices.ContainsFunc(seen, func(x any) bool { return cmp.Equal(x, i) }) {
			seen = append(seen, i)
		}
	}
	delete(w, "additionalInterfaces")
	if len(seen) > 1 {
		w["additionalInterfaces"] = seen
	}
}
