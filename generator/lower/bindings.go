package lower

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// bindings are all that there are.
var bindings = []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC}

// Spoken is a version of the protocol as the generated server speaks it.
type Spoken struct {
	Version string
	// Bindings are those that it is served in, the preferred one first; Has are all that it could be.
	Bindings, Has []string
}

// Speak says in which of the wanted bindings a version is served that has some.
func Speak(version string, has, wanted []string) Spoken {
	s := Spoken{Version: version, Has: has}
	for _, b := range wanted {
		if slices.Contains(has, b) {
			s.Bindings = append(s.Bindings, b)
		}
	}
	return s
}

// EncodingsOf are the encodings in which bindings write some version, beside the JSON of JSON-RPC.
func EncodingsOf(bindings []string) (list []ir.Encoding) {
	if slices.Contains(bindings, runtime.BindingHTTP) {
		list = append(list, ir.ProtoJSON)
	}
	if slices.Contains(bindings, runtime.BindingGRPC) {
		list = append(list, ir.Proto)
	}
	return list
}

// ShippedBindings are the bindings that a shipped version has.
func ShippedBindings(version string) []string {
	has := []string{runtime.BindingJSONRPC}
	if slices.Contains(spec.Hubs(), version) || slices.Contains(WithWire(ir.ProtoJSON), version) {
		has = append(has, runtime.BindingHTTP)
	}
	if slices.Contains(WithWire(ir.Proto), version) {
		has = append(has, runtime.BindingGRPC)
	}
	return has
}

// Whose says which versions have a binding.
func Whose(binding string) string {
	own := map[string]string{
		runtime.BindingHTTP: ", and for definitions of your own with google.api.http options",
		runtime.BindingGRPC: ", and for definitions of your own in .proto files",
	}
	var shipped []string
	for _, v := range spec.Versions() {
		if slices.Contains(ShippedBindings(v), binding) {
			shipped = append(shipped, strconv.Quote(v))
		}
	}
	return strings.Join(shipped, ", ") + own[binding]
}

// BindingsOf are the bindings that a version has with its wires. The runtime finds the same (runtime.Version.Over).
func BindingsOf(v *ir.Version) []string {
	has := []string{runtime.BindingJSONRPC}
	wire := func(e ir.Encoding) bool {
		return slices.ContainsFunc(v.Wires, func(w *ir.Wire) bool { return w.Encoding == e && len(w.Operations) > 0 })
	}
	routed := func(op *ir.Operation) bool { return len(op.HTTP) > 0 }
	if wire(ir.ProtoJSON) || slices.ContainsFunc(v.Operations, routed) {
		has = append(has, runtime.BindingHTTP)
	}
	if wire(ir.Proto) {
		has = append(has, runtime.BindingGRPC)
	}
	return has
}
