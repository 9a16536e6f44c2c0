package lower

import (
	"os"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// changed lowers the proto of 1.0 with some texts replaced by others.
func changed(t *testing.T, oldnew ...string) (*ir.Protocol, diag.List) {
	t.Helper()
	src, err := os.ReadFile("../../spec/v1.0/a2a.proto")
	if err != nil {
		t.Fatal(err)
	}
	doc, list := spec.Read("mine.proto", []byte(strings.NewReplacer(oldnew...).Replace(string(src))))
	if list.HasErrors() {
		t.Fatal(list)
	}
	doc.Version = "1.0-mine"
	return Protocol([]*spec.Document{doc})
}

func TestAnotherServiceMayHaveTheNamesOfTheFirst(t *testing.T) {
	const admin = "message Probe {}\nservice Admin { rpc GetTask(Probe) returns (Probe); rpc Check(Probe) returns (Probe); }\n"
	for name, oldnew := range map[string][]string{
		"behind it":    {"service A2AService", admin + "service A2AService"},
		"before it":    {"message GetTaskRequest {", admin + "message GetTaskRequest {"},
		"with streams": {"service A2AService", strings.ReplaceAll(admin, "returns (Probe)", "returns (stream Probe)") + "service A2AService"},
	} {
		p, list := changed(t, oldnew...)
		if list.HasErrors() {
			t.Fatalf("%s: %v", name, list)
		}
		roles := map[string]ir.Role{}
		for _, op := range p.Versions[0].Operations {
			roles[op.RPC+" "+op.GRPC] = op.Role
		}
		for op, role := range map[string]ir.Role{
			"GetTask /lf.a2a.v1.A2AService/GetTask": ir.RoleGet, "Admin.GetTask /lf.a2a.v1.Admin/GetTask": ir.RoleOther, "Check /lf.a2a.v1.Admin/Check": ir.RoleOther,
		} {
			if roles[op] != role {
				t.Errorf("%s: %s is %q", name, op, roles[op])
			}
		}
	}
}

func TestAnOperationThatGoesUnderAnotherNameIsReported(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"rpc CancelTask(", "rpc StopTask(", "warning: operation StopTask takes and answers what CancelTask of 1.0 does, but the runtime knows only that name"},
		{"rpc ListTasks(ListTasksRequest) returns (ListTasksResponse)", "rpc AllTasks(GetTaskRequest) returns (ListTasksResponse)", "warning: the definition has no operation ListTasks: version 1.0-mine answers it with UnsupportedOperation"},
	} {
		p, list := changed(t, tt.old, tt.new)
		if p == nil || len(list) != 1 || !strings.Contains(list[0].String(), tt.want) {
			t.Errorf("%s: %v", tt.new, list)
		}
	}
	if _, list := changed(t); len(list) > 0 {
		t.Errorf("%v", list)
	}
}

func TestAnOperationOfForeignMessagesIsNotServed(t *testing.T) {
	p, list := changed(t, "rpc SendMessage(", "rpc Stats(google.protobuf.Struct) returns (google.protobuf.Empty);\n  rpc SendMessage(")
	if list.HasErrors() {
		t.Fatal(list)
	}
	if op := p.Versions[0].Operations[0]; op.RPC != "Stats" || !op.Unserved || op.Method != "" {
		t.Errorf("%+v", op)
	}
	const want = "operation CancelTask takes or answers google.protobuf.Struct, which the runtime cannot serve"
	if _, list = changed(t, "rpc CancelTask(CancelTaskRequest) returns (Task)", "rpc CancelTask(CancelTaskRequest) returns (google.protobuf.Struct)"); !list.HasErrors() || !strings.Contains(list[0].String(), want) {
		t.Errorf("%v", list)
	}
}
