package generator

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
)

// A binding that a2agen.yaml names and no version has is a mistake; one that is there by default is left out.
func TestABindingThatNoVersionHasIsRefused(t *testing.T) {
	plain := &ir.Protocol{Versions: []*ir.Version{{Name: "9.0", Operations: []*ir.Operation{{RPC: "SendMessage"}}}}}
	c := config.Default()
	c.Protocol = []config.Protocol{{Version: "9.0", File: "a2a.json"}}
	spoken, list := speaks(c, plain)
	if diff := cmp.Diff([]lower.Spoken{{Version: "9.0", Bindings: []string{"JSONRPC"}, Has: []string{"JSONRPC"}}}, spoken); diff != "" || len(list) > 0 {
		t.Errorf("%v (-want +got):\n%s", list, diff)
	}
	c.Bindings = append(c.Bindings, config.Binding{Name: "GRPC", Pos: diag.Pos{File: "a2agen.yaml", Line: 3, Col: 21}})
	_, list = speaks(c, plain)
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const begin, end = "a2agen.yaml:3:21: none of the versions is spoken over GRPC (it is for ", "\"1.0\", \"0.3\", and for definitions of your own in .proto files)\n"
	if got := b.String(); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) { // newer versions may stand between
		t.Errorf("got %q", got)
	}
}

// What the bindings need is generated, and nothing else: so the carried packages do for agents that do not say.
func TestBindingsDecideTheEncodings(t *testing.T) {
	for _, test := range []struct {
		versions, bindings, clients, want string
	}{
		{"1.0", "JSONRPC HTTP+JSON", "", ""},
		{"1.0", "GRPC", "", "proto"},
		{"1.0 0.3", "JSONRPC", "", ""},
		{"1.0 0.3", "JSONRPC HTTP+JSON", "", "protojson"},
		{"1.0 0.3", "JSONRPC HTTP+JSON GRPC", "", "protojson proto"},
		{"1.0 0.2", "JSONRPC HTTP+JSON", "", ""},
		{"1.0", "JSONRPC", "GRPC", "proto"},
	} {
		c := &config.Config{}
		for v := range strings.FieldsSeq(test.versions) {
			c.Protocol = append(c.Protocol, config.Protocol{Version: v})
		}
		for b := range strings.FieldsSeq(test.bindings) {
			c.Bindings = append(c.Bindings, config.Binding{Name: b})
		}
		c.Clients = []config.Client{{Bindings: strings.Fields(test.clients)}}
		var got []string
		for _, e := range shippedWires(c) {
			got = append(got, string(e))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s over %s, with a client over %s: %v, want %s", test.versions, test.bindings, test.clients, got, test.want)
		}
	}
}
