package card

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/runtime"
)

// bindingNames returns the names of all bindings.
func bindingNames() (names []string) {
	for _, b := range runtime.Bindings {
		names = append(names, b.Name)
	}
	return names
}

// bindingMeant returns the binding that a name other than its own stands for: "rest", "grpc"; nil for none.
func bindingMeant(name string) *runtime.Binding {
	folded := strings.NewReplacer("-", "", "_", "", " ", "", "/", "").Replace(strings.ToUpper(name))
	for _, b := range runtime.Bindings {
		if slices.Contains(b.Aliases, folded) || strings.EqualFold(b.Name, name) {
			return b
		}
	}
	return nil
}

// bindingHint says what to write for the name of a binding that is none.
func bindingHint(name string) string {
	if b := bindingMeant(name); b != nil {
		return "write " + b.Name
	}
	return suggest.Key(name, bindingNames())
}
