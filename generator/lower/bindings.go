package lower

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

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

// EncodingsOf returns the encodings in which bindings write some version, beside the JSON of JSON-RPC.
func EncodingsOf(bindings []string) (list []ir.Encoding) {
	for _, b := range runtime.Bindings {
		if e := ir.Encoding(b.Encoding); e != "" && slices.Contains(bindings, b.Name) && !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

// ClientPackages returns the packages that clients link for bindings, beside package client.
func ClientPackages(bindings []string) (packages []string) {
	for _, b := range runtime.Bindings {
		if b.Client != "" && slices.Contains(bindings, b.Name) {
			packages = append(packages, b.Client)
		}
	}
	return packages
}

// ShippedBindings returns the bindings that a shipped version has.
func ShippedBindings(version string) []string {
	wire := func(e ir.Encoding) bool { return slices.Contains(WithWire(e), version) }
	return bindingsWith(wire, slices.Contains(spec.Hubs(), version))
}

// BindingsOf returns the bindings that a version has with its wires. The runtime finds the same (runtime.Version.Over).
func BindingsOf(v *ir.Version) []string {
	wire := func(e ir.Encoding) bool {
		return slices.ContainsFunc(v.Wires, func(w *ir.Wire) bool { return w.Encoding == e && len(w.Operations) > 0 })
	}
	routed := slices.ContainsFunc(v.Operations, func(op *ir.Operation) bool { return len(op.HTTP) > 0 })
	return bindingsWith(wire, routed)
}

// bindingsWith returns the bindings of a version with wires, whose operations have HTTP routes or not.
func bindingsWith(wire func(ir.Encoding) bool, routed bool) (has []string) {
	for _, b := range runtime.Bindings {
		if b.Encoding != "" && wire(ir.Encoding(b.Encoding)) || b.JSON && (routed || !b.Routed) {
			has = append(has, b.Name)
		}
	}
	return has
}

// Whose says which versions have a binding.
func Whose(binding string) string {
	var shipped []string
	for _, v := range spec.Versions() {
		if slices.Contains(ShippedBindings(v), binding) {
			shipped = append(shipped, strconv.Quote(v))
		}
	}
	says := strings.Join(shipped, ", ")
	if b := runtime.BindingNamed(binding); b != nil && b.Definitions != "" {
		says += ", and for definitions of your own " + b.Definitions
	}
	return says
}
