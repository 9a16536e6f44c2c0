package lower

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// definition is the shipped definition, printed: reading it back makes a copy that a test may change.
var definition = sync.OnceValues(func() ([]byte, error) {
	doc, err := spec.Shipped("1.0")
	if err != nil {
		return nil, err
	}
	return json.Marshal(doc)
})

func shipped(t *testing.T) *spec.Document {
	t.Helper()
	src, err := definition()
	if err != nil {
		t.Fatal(err)
	}
	var doc spec.Document
	if err := json.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

// lowered lowers the shipped definition after a change of it.
func lowered(t *testing.T, change func(*spec.Document)) *ir.Protocol {
	t.Helper()
	doc := shipped(t)
	change(doc)
	p, problems := Protocol([]*spec.Document{doc})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

func message(doc *spec.Document, name string) *spec.Message {
	i := slices.IndexFunc(doc.Messages, func(m *spec.Message) bool { return m.Name == name })
	return doc.Messages[i]
}

func typeOf(p *ir.Protocol, name string) *ir.Type {
	i := slices.IndexFunc(p.Types, func(t *ir.Type) bool { return t.Name == name })
	return p.Types[i]
}

func TestFieldsGetGoNamesPresenceAndKinds(t *testing.T) {
	p := lowered(t, func(*spec.Document) {})
	for _, want := range []struct {
		typ, field, goName string
		presence           ir.Presence
		kind               ir.Kind
	}{
		{"Task", "context_id", "ContextID", ir.Implicit, ir.KindString},
		{"Task", "status", "Status", ir.Required, ir.KindMessage},
		{"Task", "history", "History", ir.Implicit, ir.KindList},
		{"GetTaskRequest", "history_length", "HistoryLength", ir.Explicit, ir.KindInt32},
		{"AgentCapabilities", "push_notifications", "PushNotifications", ir.Explicit, ir.KindBool},
		{"AgentCard", "documentation_url", "DocumentationURL", ir.Explicit, ir.KindString},
		{"AgentCard", "security_schemes", "SecuritySchemes", ir.Implicit, ir.KindMap},
		{"TaskStatus", "timestamp", "Timestamp", ir.Implicit, ir.KindTimestamp},
		{"Message", "role", "Role", ir.Required, ir.KindEnum},
		{"OAuth2SecurityScheme", "oauth2_metadata_url", "OAuth2MetadataURL", ir.Implicit, ir.KindString},
		{"Part", "content", "Content", ir.Implicit, ir.KindUnion},
	} {
		f := fieldOf(typeOf(p, want.typ), want.field)
		if f == nil || f.Go != want.goName || f.Presence != want.presence || f.Type.Kind != want.kind {
			t.Errorf("%s.%s: got %+v, want %+v", want.typ, want.field, f, want)
		}
	}
	for _, typ := range p.Types {
		for _, f := range typ.Fields {
			checkResolved(t, typ.Name+"."+f.Name, f.Type)
		}
	}
}

func checkResolved(t *testing.T, where string, ref ir.TypeRef) {
	t.Helper()
	if (ref.Kind == ir.KindMessage || ref.Kind == ir.KindEnum) && (ref.Type == nil || ref.Type.Name != ref.Name) {
		t.Errorf("%s: the type %q is not resolved", where, ref.Name)
	}
	if ref.Elem != nil {
		checkResolved(t, where, *ref.Elem)
	}
}

func TestUnionsTakeMessagesThemselvesAndDefineTypesForTheRest(t *testing.T) {
	p := lowered(t, func(*spec.Document) {})
	for typ, want := range map[string]string{
		"Part":                "PartContent isPartContent UnknownPartContent: PartText PartRaw PartURL PartData",
		"StreamResponse":      "StreamResponsePayload isStreamResponsePayload UnknownStreamResponsePayload: *Task *Message *TaskStatusUpdateEvent *TaskArtifactUpdateEvent",
		"SendMessageResponse": "SendMessageResponsePayload isSendMessageResponsePayload UnknownSendMessageResponsePayload: *Task *Message",
		"SecurityScheme":      "SecuritySchemeKind isSecuritySchemeKind UnknownSecuritySchemeKind: *APIKeySecurityScheme *HTTPAuthSecurityScheme *OAuth2SecurityScheme *OpenIDConnectSecurityScheme *MutualTLSSecurityScheme",
	} {
		u := unionOf(typeOf(p, typ)).Union
		got := u.Go + " " + u.Marker + " " + u.Unknown + ":"
		for _, c := range u.Cases {
			star := ""
			if c.Direct {
				star = "*"
			}
			got += " " + star + c.Go
		}
		if got != want {
			t.Errorf("%s: got  %s\nwant %s", typ, got, want)
		}
	}
	var of []string
	for _, u := range typeOf(p, "Task").CaseOf {
		of = append(of, u.Go)
	}
	if want := []string{"SendMessageResponsePayload", "StreamResponsePayload"}; !slices.Equal(of, want) {
		t.Errorf("Task is a case of %v, want %v", of, want)
	}
}

func TestAMessageThatOccursTwiceInAUnionIsNoCaseItself(t *testing.T) {
	p := lowered(t, func(doc *spec.Document) {
		m := message(doc, "OAuthFlows")
		again := *m.Fields[4]
		again.Name, again.JSON, again.Number = "tv_code", "tvCode", 9
		m.Fields = append(m.Fields, &again)
	})
	u := unionOf(typeOf(p, "OAuthFlows")).Union
	if c := caseOf(u, "device_code"); c.Direct || c.Go != "OAuthFlowsDeviceCode" {
		t.Errorf("device_code: %+v", c)
	}
	if c := caseOf(u, "tv_code"); c.Direct || c.Go != "OAuthFlowsTvCode" {
		t.Errorf("tv_code: %+v", c)
	}
	if c := caseOf(u, "implicit"); !c.Direct {
		t.Errorf("implicit: %+v", c)
	}
}

func TestEnumConstantsDropTheRepeatedPrefix(t *testing.T) {
	p := lowered(t, func(*spec.Document) {})
	state := typeOf(p, "TaskState")
	if v := valueOf(state, "TASK_STATE_INPUT_REQUIRED"); v.Go != "TaskStateInputRequired" || v.Number != 6 || v.Unspecified {
		t.Errorf("value %+v", v)
	}
	if v := state.Values[0]; v.Go != "TaskStateUnspecified" || !v.Unspecified {
		t.Errorf("first value %+v", v)
	}
}

func TestOperationsHaveARoleEach(t *testing.T) {
	p := lowered(t, func(*spec.Document) {})
	got := map[ir.Role]string{}
	for _, op := range p.Versions[0].Operations {
		got[op.Role] = op.RPC
	}
	if len(got) != len(runtime.Roles)-1 {
		t.Errorf("roles %v", got)
	}
	for _, role := range runtime.Roles {
		if got[ir.Role(role.Name)] != role.RPC {
			t.Errorf("role %s has operation %q, want %q", role.Name, got[ir.Role(role.Name)], role.RPC)
		}
	}
}

func TestAnOperationNobodyKnowsIsLoweredWithItsBindings(t *testing.T) {
	p := lowered(t, func(doc *spec.Document) {
		doc.Operations = append(doc.Operations, &spec.Operation{
			Name: "PauseTask", GRPC: "/lf.a2a.v1.A2AService/PauseTask", Request: spec.Type{Kind: spec.MessageOf, Name: "GetTaskRequest"}, Response: spec.Type{Kind: spec.Empty},
			HTTP: []spec.Route{{Verb: "POST", Path: "/tasks/{id=*}:pause", Body: "*"}},
		})
	})
	ops := p.Versions[0].Operations
	op := ops[len(ops)-1]
	if op.Role != ir.RoleOther || op.Go != "PauseTask" || op.Response.Kind != ir.KindEmpty || len(op.HTTP) != 1 || op.Request.Type == nil {
		t.Errorf("operation %+v", op)
	}
}

// R93: names on the wire are in camelCase.
func TestWireWritesCamelCaseAndReadsTheDefinitionsNamesToo(t *testing.T) {
	doc := shipped(t)
	p := lowered(t, func(*spec.Document) {})
	w := p.Versions[0].Wires[0]
	if w.Name != "1.0/json" || w.Suffix != "JSON" || w.File != "codec_v1_0_json" || len(w.Layouts) != len(p.Types) {
		t.Errorf("wire %s %s %s with %d layouts", w.Name, w.Suffix, w.File, len(w.Layouts))
	}
	limited := map[string]int{}
	for _, l := range w.Layouts {
		if l.Type.Kind == ir.Enum {
			continue
		}
		m := message(doc, l.Name)
		if len(l.Fields) != len(m.Fields) {
			t.Errorf("%s has %d members, want %d", l.Name, len(l.Fields), len(m.Fields))
		}
		for i, f := range l.Fields {
			src := m.Fields[i]
			if f.Name != src.JSON || f.Number != src.Number || f.Required != src.Required {
				t.Errorf("%s.%s: %+v", l.Name, src.Name, f)
			}
			if src.Name != src.JSON && !slices.Equal(f.Aliases, []string{src.Name}) {
				t.Errorf("%s.%s is also read as %v", l.Name, src.Name, f.Aliases)
			}
			if f.MinItems > 0 {
				limited[l.Name+"."+src.Name] = f.MinItems
			}
		}
	}
	if len(limited) != len(minItems) { // T20
		t.Errorf("lists that must not be empty: %v, want %v", limited, minItems)
	}
}

func TestBothSpellingsOfCanceledAreRead(t *testing.T) {
	p := lowered(t, func(*spec.Document) {})
	for _, l := range p.Versions[0].Wires[0].Layouts {
		for _, v := range l.Values {
			if v.Name == "TASK_STATE_CANCELED" && !slices.Equal(v.Aliases, []string{"TASK_STATE_CANCELLED"}) { // T43
				t.Errorf("aliases %v", v.Aliases)
			}
		}
	}
}

// TestEveryFieldTheRuntimeNeedsIsMissed removes the needed fields one by one.
func TestEveryFieldTheRuntimeNeedsIsMissed(t *testing.T) {
	whole := lowered(t, func(*spec.Document) {})
	for meaning, f := range whole.Bindings.Fields {
		owner := ownerOf(whole, f)
		doc := shipped(t)
		m := message(doc, owner)
		m.Fields = slices.DeleteFunc(m.Fields, func(x *spec.Field) bool { return x.Name == f.Name || x.Union == f.Name })
		m.Unions = slices.DeleteFunc(m.Unions, func(u *spec.Union) bool { return u.Name == f.Name })
		_, problems := Protocol([]*spec.Document{doc})
		if !isNeeded(meaning) {
			if len(problems) > 0 {
				t.Errorf("without %s: %v", meaning, problems)
			}
			continue
		}
		if !slices.ContainsFunc(problems, func(d diag.Diagnostic) bool {
			return d.Code == "missing-field" && d.Pos == m.Pos && strings.Contains(d.Message, f.Name)
		}) {
			t.Errorf("without %s: %v", meaning, problems)
		}
	}
}

func ownerOf(p *ir.Protocol, f *ir.Field) string {
	for _, t := range p.Types {
		if slices.Contains(t.Fields, f) {
			return t.Name
		}
	}
	return ""
}

// isNeeded reports whether some entry of the tables needs the field that meaning names; requests may share a message.
func isNeeded(meaning string) bool {
	of, name, _ := strings.Cut(meaning, ".")
	for _, p := range append(slices.Clone(parts), requestFields()...) {
		for _, f := range p.fields {
			if p.meaning == of && f.name == name {
				return f.need == needed
			}
		}
	}
	return false
}

func TestUnsuitableDefinitionsAreReportedInPlace(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*spec.Document)
		code   string
		line   func(*spec.Document) int
	}{
		"a needed field of another type": {
			func(d *spec.Document) { message(d, "Task").Fields[0].Type = spec.Type{Kind: spec.Int64} }, "unsuitable-field",
			func(d *spec.Document) int { return message(d, "Task").Fields[0].Pos.Line },
		},
		"a needed list that is none": {
			func(d *spec.Document) {
				message(d, "Message").Fields[4].Type = spec.Type{Kind: spec.MessageOf, Name: "Part"}
			}, "unsuitable-field",
			func(d *spec.Document) int { return message(d, "Message").Fields[4].Pos.Line },
		},
		"a case of another type": {
			func(d *spec.Document) { message(d, "Part").Fields[0].Type = spec.Type{Kind: spec.Bytes} }, "missing-field",
			func(d *spec.Document) int { return message(d, "Part").Pos.Line },
		},
		"a state that is gone": {
			func(d *spec.Document) { d.Enums[0].Values = slices.Delete(d.Enums[0].Values, 2, 3) }, "missing-value",
			func(d *spec.Document) int { return d.Enums[0].Pos.Line },
		},
		"a message that is gone": {
			func(d *spec.Document) {
				d.Messages = slices.DeleteFunc(d.Messages, func(m *spec.Message) bool { return m.Name == "AgentCard" })
			}, "missing-type", nil,
		},
		"no way to send": {
			func(d *spec.Document) { d.Operations = slices.Delete(d.Operations, 0, 1) }, "missing-operation", nil,
		},
		"an operation declared twice": {
			func(d *spec.Document) { d.Operations = append(d.Operations, d.Operations[2]) }, "repeated-operation",
			func(d *spec.Document) int { return d.Operations[2].Pos.Line },
		},
		"a request that is nothing": {
			func(d *spec.Document) { d.Operations[2].Request = spec.Type{Kind: spec.Empty} }, "unsuitable-request",
			func(d *spec.Document) int { return d.Operations[2].Pos.Line },
		},
		"fields that meet on the wire": {
			func(d *spec.Document) { message(d, "Task").Fields[2].JSON = "context_id" }, "repeated-member",
			func(d *spec.Document) int { return message(d, "Task").Fields[2].Pos.Line },
		},
		"no version": {func(d *spec.Document) { d.Version = "" }, "no-version", nil},
	} {
		doc := shipped(t)
		test.change(doc)
		p, problems := Protocol([]*spec.Document{doc})
		at := slices.IndexFunc(problems, func(d diag.Diagnostic) bool { return d.Code == test.code })
		if p != nil || at < 0 {
			t.Errorf("%s: got %v", name, problems)
			continue
		}
		if test.line != nil && problems[at].Pos.Line != test.line(doc) {
			t.Errorf("%s: reported at %v, want line %d", name, problems[at].Pos, test.line(doc))
		}
	}
}

func TestNoneOrSeveralDefinitionsAreRefused(t *testing.T) {
	for _, docs := range [][]*spec.Document{nil, {shipped(t), shipped(t)}} {
		if p, problems := Protocol(docs); p != nil || !problems.HasErrors() {
			t.Errorf("%d documents: %v", len(docs), problems)
		}
	}
}

func TestNamesThatCollideStayApart(t *testing.T) {
	p := lowered(t, func(doc *spec.Document) {
		str := spec.Type{Kind: spec.String}
		doc.Messages = append(doc.Messages,
			&spec.Message{Name: "Protocol"}, &spec.Message{Name: "ErrParse"}, &spec.Message{Name: "PartText"}, &spec.Message{Name: "Task.State"},
			&spec.Message{Name: "Odd", Fields: []*spec.Field{{Name: "foo_id", JSON: "fooId", Type: str}, {Name: "fooID", JSON: "fooID", Type: str}, {Name: "marshal_json", JSON: "marshalJson", Type: str}}},
		)
		task := message(doc, "Task")
		task.Fields = append(task.Fields, &spec.Field{Name: "view", JSON: "view", Type: str})
	})
	for name, want := range map[string]string{"Protocol": "Protocol2", "ErrParse": "ErrParse2", "PartText": "PartText"} {
		if got := typeOf(p, name).Go; got != want {
			t.Errorf("message %s is called %s, want %s", name, got, want)
		}
	}
	if typeOf(p, "Task.State").Go == typeOf(p, "TaskState").Go {
		t.Error("Task.State and TaskState have one name")
	}
	if got := caseOf(unionOf(typeOf(p, "Part")).Union, "text").Go; got != "PartText2" {
		t.Errorf("the case text is called %s", got)
	}
	for field, want := range map[string]string{"foo_id": "FooID", "fooID": "FooID2", "marshal_json": "MarshalJSON2"} {
		if got := fieldOf(typeOf(p, "Odd"), field).Go; got != want {
			t.Errorf("field %s is called %s, want %s", field, got, want)
		}
	}
	if got := fieldOf(typeOf(p, "Task"), "view").Go; got != "View2" {
		t.Errorf("field view is called %s, the name of a method", got)
	}
}

func TestDeprecationIsPartOfTheComment(t *testing.T) {
	p := lowered(t, func(*spec.Document) {})
	c := caseOf(unionOf(typeOf(p, "OAuthFlows")).Union, "implicit")
	if !c.Deprecated || !strings.Contains(c.Doc, "\n\nDeprecated: ") {
		t.Errorf("case %+v", c)
	}
}

func TestLoweringDoesNotDependOnTheOrderOfDeclarations(t *testing.T) {
	want := printed(t, lowered(t, func(*spec.Document) {}))
	for range 5 {
		got := printed(t, lowered(t, func(doc *spec.Document) {
			rand.Shuffle(len(doc.Messages), func(i, j int) { doc.Messages[i], doc.Messages[j] = doc.Messages[j], doc.Messages[i] })
			rand.Shuffle(len(doc.Enums), func(i, j int) { doc.Enums[i], doc.Enums[j] = doc.Enums[j], doc.Enums[i] })
		}))
		if !bytes.Equal(want, got) {
			t.Fatal("another order of messages and enums gives another model")
		}
	}
}

func printed(t *testing.T, p *ir.Protocol) []byte {
	t.Helper()
	b, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Task.context_id": "ContextID"`, `"TaskState.working": "TaskStateWorking"`, `"Part.text": "PartText"`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("the printed model does not hold %s", want)
		}
	}
	return b
}
