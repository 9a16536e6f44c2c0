package scaffold

import (
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"github.com/a2agen/a2agen"
)

// FindCheckout looks for the checkout that a tool was built from: in the folders above each of the given ones, such as
// that of the executable and the working folder. It returns "" when there is none.
func FindCheckout(from ...string) string {
	for _, dir := range from {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		for {
			if IsCheckout(dir) {
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

// IsCheckout reports whether dir is the root of this module.
func IsCheckout(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || modfile.ModulePath(data) != a2agen.Module {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, "runtime", "server"))
	return err == nil
}
