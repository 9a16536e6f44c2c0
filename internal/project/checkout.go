package project

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/scaffold"
)

// findCheckout looks for the checkout that a tool was built from, in the folders above each of the given ones, such
// as those of the executable and the working folder. It returns "" if there is none.
func findCheckout(from ...string) string {
	for _, dir := range from {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		for {
			if isCheckout(dir) {
				return dir
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return ""
}

// isCheckout reports whether dir is the root of this module.
func isCheckout(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || modfile.ModulePath(data) != a2agen.Module {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, "runtime", "server"))
	return err == nil
}

// inCheckout returns the runtime in the folder checkout. The path is relative to the project if one of them contains
// the other, so that they can move together; else it is absolute.
func inCheckout(checkout, project string) (scaffold.Runtime, error) {
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		return scaffold.Runtime{}, err
	}
	if !isCheckout(checkout) {
		return scaffold.Runtime{}, fmt.Errorf("%s is no checkout of %s", checkout, a2agen.Module)
	}
	project, err = filepath.Abs(project)
	if err != nil {
		return scaffold.Runtime{}, err
	}
	if rel, err := filepath.Rel(checkout, project); err == nil && filepath.IsLocal(rel) {
		back, err := filepath.Rel(project, checkout)
		return scaffold.Runtime{Checkout: filepath.ToSlash(back)}, err
	}
	return scaffold.Runtime{Checkout: filepath.ToSlash(checkout)}, nil
}
