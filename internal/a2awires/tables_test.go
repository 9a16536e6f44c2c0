package a2awires

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

var protocol = Protocol()

// Each binding finds the table of a version in the encoding that it speaks, or none.
func TestBindingsFindTheirTables(t *testing.T) {
	for _, tt := range []struct{ version, binding, encoding string }{
		{"1.0", runtime.BindingJSONRPC, "json"}, {"1.0", runtime.BindingHTTP, "json"}, {"1.0", runtime.BindingGRPC, "proto"},
		{"0.3", runtime.BindingJSONRPC, "json"}, {"0.3", runtime.BindingHTTP, "protojson"}, {"0.3", runtime.BindingGRPC, "proto"},
		{"0.2", runtime.BindingJSONRPC, "json"}, {"0.2", runtime.BindingHTTP, ""}, {"0.2", runtime.BindingGRPC, ""},
		{"0.1", runtime.BindingJSONRPC, "json"}, {"0.1", runtime.BindingHTTP, ""}, {"0.1", runtime.BindingGRPC, ""},
		{"1.0", "SOAP", ""},
	} {
		v := versionOf(tt.version)
		got, encoding := v.Over(tt.binding), ""
		if got == &v.Table {
			encoding = "json"
		}
		for _, w := range v.Wires {
			if got == &w.Table {
				encoding = w.Encoding
			}
		}
		if encoding != tt.encoding || (got == nil) != (encoding == "") {
			t.Errorf("%s speaks %q over %s, want %q", tt.version, encoding, tt.binding, tt.encoding)
		}
	}
}

// A version has the same operations in all encodings, by the names of its JSON-RPC, each with the frame of its binding.
func TestTablesHaveTheOperationsOfTheVersion(t *testing.T) {
	for _, v := range protocol.Versions {
		for _, w := range v.Wires {
			for _, op := range w.Operations {
				i := slices.IndexFunc(v.Operations, func(o *runtime.Operation) bool { return o.RPC == op.RPC })
				if v.Name == "0.3" && op.Role == runtime.RoleList {
					continue // only the text of 0.3 has it, and only over HTTP (T34)
				}
				if i < 0 || v.Operations[i].Role != op.Role || v.Operations[i].Stream != op.Stream {
					t.Errorf("%s in %s is no operation of the version", op.RPC, w.Encoding)
				}
				if (op.GRPC == "") != (w.Encoding != runtime.EncodingProto) || (len(op.HTTP) == 0) != (w.Encoding == runtime.EncodingProto) {
					t.Errorf("%s in %s is at %q and %v", op.RPC, w.Encoding, op.GRPC, op.HTTP)
				}
			}
			if len(w.Operations) < 10 || v.Name == "1.0" && len(w.Operations) != len(v.Operations) {
				t.Errorf("%s in %s has %d operations of %d", v.Name, w.Encoding, len(w.Operations), len(v.Operations))
			}
		}
	}
}

// requests are one of each that the runtime has a neutral form for.
func requests(role runtime.Role) any {
	one := 1
	message := protocol.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("hi")}})
	switch role {
	case runtime.RoleSend, runtime.RoleStream:
		return protocol.NewSend(runtime.SendRequest{Message: message, HistoryLength: &one, Metadata: wire.Object(`{"a":1}`),
			Push: &runtime.PushConfig{ID: "c", URL: "https://example.com"}})
	case runtime.RoleGet, runtime.RoleCancel, runtime.RoleSubscribe:
		return protocol.NewTaskRequest(role, runtime.TaskRequest{ID: "t", HistoryLength: &one})
	case runtime.RoleList:
		return &ListTasksRequest{ContextID: "c", PageToken: "p"}
	case runtime.RolePushCreate:
		return protocol.NewPushConfig("", "t", runtime.PushConfig{ID: "c", URL: "https://example.com", Scheme: "Bearer", Credentials: "x"})
	case runtime.RolePushGet:
		return &GetTaskPushNotificationConfigRequest{TaskID: "t", ID: "c"}
	case runtime.RolePushList:
		return &ListTaskPushNotificationConfigsRequest{TaskID: "t"}
	case runtime.RolePushDelete:
		return &DeleteTaskPushNotificationConfigRequest{TaskID: "t", ID: "c"}
	}
	return &GetExtendedAgentCardRequest{}
}

// said is what a neutral request says that every encoding of 1.0 and 0.3 can carry.
func said(t *testing.T, request any) any {
	switch p := request.(type) {
	case *runtime.SendRequest:
		return []any{p.Message.MessageInfo().ID, p.Message.Contents()[0].Text, *p.HistoryLength, string(p.Metadata), p.Push.ID, p.Push.URL}
	case *runtime.TaskRequest:
		return p.ID
	case *runtime.ListRequest:
		return []any{p.ContextID, p.PageToken}
	case *runtime.PushRequest:
		return []any{p.TaskID, p.Config}
	case *GetExtendedAgentCardRequest:
		return "card"
	}
	t.Fatalf("%T", request)
	return nil
}

// What one side writes the other reads, in every encoding: requests to the same neutral form, results to what they were.
func TestRowsWriteWhatTheyRead(t *testing.T) {
	for _, v := range []*runtime.Version{versionOf("1.0"), versionOf("0.3")} {
		for _, row := range runtime.Bindings {
			binding := row.Name
			for _, op := range v.Over(binding).Operations {
				src, err := op.AppendRequest(nil, requests(op.Role))
				if err != nil {
					t.Fatal(v.Name, binding, op.RPC, err)
				}
				got, err := op.Decode(src)
				if err != nil {
					t.Fatalf("%s %s %s: %v in %q", v.Name, binding, op.RPC, err, src)
				}
				want, err := protocol.Versions[0].Operations[0].Decode([]byte(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},"configuration":{"historyLength":1,"taskPushNotificationConfig":{"id":"c","url":"https://example.com"}},"metadata":{"a":1}}`))
				if op.Role != runtime.RoleSend && op.Role != runtime.RoleStream {
					i := slices.IndexFunc(protocol.Versions[0].Operations, func(o *runtime.Operation) bool { return o.Role == op.Role })
					newest := protocol.Versions[0].Operations[i]
					src, _ := newest.AppendRequest(nil, requests(op.Role))
					want, err = newest.Decode(src)
				}
				if err != nil {
					t.Fatal(err)
				}
				if a, b := said(t, got), said(t, want); !equal(a, b) {
					t.Errorf("%s %s %s says %v, want %v", v.Name, binding, op.RPC, a, b)
				}
				results(t, op)
			}
		}
	}
}

func equal(a, b any) bool {
	x, ok := a.([]any)
	y, _ := b.([]any)
	if !ok {
		return a == b
	}
	return slices.Equal(x, y)
}

// results sends what the operation answers there and back.
func results(t *testing.T, op *runtime.Operation) {
	t.Helper()
	task := protocol.NewTask("t", "c", time.Unix(1, 0).UTC())
	var result any
	switch op.Role {
	case runtime.RoleSend, runtime.RoleStream, runtime.RoleGet, runtime.RoleCancel, runtime.RoleSubscribe:
		result = task
	case runtime.RoleList:
		result = protocol.NewTaskPage([]runtime.Task{task}, "n", 1, 2)
	case runtime.RolePushCreate, runtime.RolePushGet:
		result = protocol.NewPushConfig("", "t", runtime.PushConfig{ID: "c", URL: "https://example.com"})
	case runtime.RolePushList:
		result = protocol.NewPushPage("", "t", []runtime.PushConfig{{ID: "c", URL: "https://example.com"}}, "")
	case runtime.RolePushDelete:
	default:
		return // the card has tests of its own
	}
	src, err := op.Append(nil, result)
	if err != nil {
		t.Fatal(op.RPC, op.GRPC, err)
	}
	got, err := op.Read(src)
	if err != nil {
		t.Fatalf("%s %s: %v in %q", op.RPC, op.GRPC, err, src)
	}
	again, err := op.Append(nil, got)
	if err != nil || !bytes.Equal(src, again) {
		t.Errorf("%s %s: %v\nwrote %q\nagain %q", op.RPC, op.GRPC, err, src, again)
	}
}

// A failure is a *wire.Error, in protobuf, too.
func TestRowsRefuseWhatIsBroken(t *testing.T) {
	for _, v := range []*runtime.Version{versionOf("1.0"), versionOf("0.3")} {
		for _, op := range v.Over(runtime.BindingGRPC).Operations {
			var broken *wire.Error
			if _, err := op.Decode([]byte{0x0f}); !errors.As(err, &broken) {
				t.Errorf("%s decodes what is no message: %v", op.GRPC, err)
			}
		}
		send := v.Over(runtime.BindingGRPC).Operations[0]
		if _, err := send.Decode(nil); err == nil {
			t.Error("a request without a message is decoded")
		}
		if _, err := send.Append(nil, 1); err == nil {
			t.Error("a number is appended as a result")
		}
	}
}

// Peers that ask by reflection get the definition, with everything that it needs.
func TestDescriptorsSayWhatIsServed(t *testing.T) {
	for _, v := range []*runtime.Version{versionOf("1.0"), versionOf("0.3")} {
		i := slices.IndexFunc(v.Wires, func(w *runtime.Wire) bool { return w.Encoding == runtime.EncodingProto })
		set := new(descriptorpb.FileDescriptorSet)
		if err := proto.Unmarshal([]byte(v.Wires[i].Descriptor), set); err != nil {
			t.Fatal(err)
		}
		files, err := protodesc.NewFiles(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range v.Wires[i].Operations {
			name := strings.ReplaceAll(strings.TrimPrefix(op.GRPC, "/"), "/", ".")
			d, err := files.FindDescriptorByName(protoreflect.FullName(name))
			if err != nil || d.(protoreflect.MethodDescriptor).IsStreamingServer() != op.Stream {
				t.Errorf("%s: %v %v", op.GRPC, d, err)
			}
		}
		files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
			if strings.HasPrefix(f.Path(), "google/api/") || f.SourceLocations().Len() > 0 {
				t.Errorf("%s is not needed, or has comments", f.Path())
			}
			return true
		})
	}
}

// Cards of 0.3 come over HTTP in the JSON of its schema and in that of its proto, and leave in the first.
func TestCardsOf03AreReadInBothDialects(t *testing.T) {
	table := versionOf("0.3").Over(runtime.BindingHTTP)
	i := slices.IndexFunc(table.Operations, func(op *runtime.Operation) bool { return op.Role == runtime.RoleExtendedCard })
	op := table.Operations[i]
	for name, security := range map[string]string{
		"schema": `"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"X"}},"security":[{"k":[]}]`,
		"proto":  `"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X"}}},"security":[{"schemes":{"k":{}}}]`,
	} {
		card, err := op.Read([]byte(`{"name":"n","url":"https://example.com/","protocolVersion":"0.3.0","version":"1","capabilities":{},` + security + `}`))
		if err != nil {
			t.Fatal(name, err)
		}
		out, err := op.Append(nil, card)
		if err != nil || !strings.Contains(string(out), `"type":"apiKey","in":"header","name":"X"`) || !strings.Contains(string(out), `"security":[{"k":[]}]`) {
			t.Errorf("%s: %s %v", name, out, err)
		}
	}
}
