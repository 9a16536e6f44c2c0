// Command requirements writes the tests that cite each number into docs/internals/requirements.md. Run it by
// "go generate ./internal/requirements"; the package's test fails when the page is stale or a number is cited that the
// page does not list.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run .

// page is the list of requirements, below the repository's root.
const page = "docs/internals/requirements.md"

func main() {
	if err := update("../.."); err != nil {
		fmt.Fprintln(os.Stderr, "requirements:", err)
		os.Exit(1)
	}
}

// update rewrites the page below root.
func update(root string) error {
	cited, err := scan(root)
	if err != nil {
		return err
	}
	path := filepath.Join(root, page)
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, fill(old, cited), 0o644)
}
