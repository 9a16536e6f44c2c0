package a2awires

import (
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// TestAServersProtocolLacksPushNotificationsAndClients compares both tables of all versions, in all their encodings.
func TestAServersProtocolLacksPushNotificationsAndClients(t *testing.T) {
	whole, served := Protocol(), ServerProtocol()
	if !whole.IsComplete() || served.IsComplete() {
		t.Errorf("complete: Protocol %v, ServerProtocol %v", whole.IsComplete(), served.IsComplete())
	}
	if len(whole.Versions) != len(served.Versions) {
		t.Fatalf("%d and %d versions", len(whole.Versions), len(served.Versions))
	}
	for i, v := range whole.Versions {
		compareTables(t, v.Name, &v.Table, &served.Versions[i].Table)
		if len(v.Wires) != len(served.Versions[i].Wires) {
			t.Fatalf("%s: %d and %d encodings", v.Name, len(v.Wires), len(served.Versions[i].Wires))
		}
		for j, w := range v.Wires {
			compareTables(t, v.Name+" "+string(w.Encoding), &w.Table, &served.Versions[i].Wires[j].Table)
		}
	}
}

func compareTables(t *testing.T, of string, whole, served *runtime.Table) {
	t.Helper()
	if len(whole.Operations) != len(served.Operations) {
		t.Fatalf("%s: %d and %d operations", of, len(whole.Operations), len(served.Operations))
	}
	for i, op := range whole.Operations {
		lean := served.Operations[i]
		if op.Decode == nil || op.Append == nil || op.AppendRequest == nil || op.Read == nil {
			t.Errorf("%s: Protocol has not all of %s", of, op.RPC)
		}
		if lean.RPC != op.RPC || lean.GRPC != op.GRPC || lean.Stream != op.Stream || len(lean.HTTP) != len(op.HTTP) {
			t.Errorf("%s: %s is %s", of, op.RPC, lean.RPC)
		}
		if has := lean.Decode != nil && lean.Append != nil; has == op.Role.OfPush() {
			t.Errorf("%s: a server without push notifications has codecs of %s: %v", of, op.RPC, has)
		}
		if lean.Read != nil || (lean.AppendRequest != nil) != op.Role.Sends() {
			t.Errorf("%s: a server has what is for clients of %s", of, op.RPC)
		}
	}
}
