// Package templates holds the text templates of the files a user owns: they are written once, by init or when a skill is
// added, and never touched again. They print and do not decide; the scaffold package fills them in.
package templates

import (
	"embed"
	"io/fs"
)

//go:embed *.tmpl
var files embed.FS

// Files returns the templates, "main.go.tmpl" and so on.
func Files() fs.FS { return files }
