// Package a2agen carries source of this module inside the tool: that of the runtime and of the test kit, so that a project can be
// made where there is neither a release nor a checkout to build against, the emitted protocol package, which most projects get as
// it is, and examples to begin with.
package a2agen

import (
	"bytes"
	"embed"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Module is this module's path.
const Module = "github.com/a2agen/a2agen"

// Chosen are the packages of the runtime and of the test kit that need a module of others, with its path. Agents link them by choice; nothing
// else of this module does.
var Chosen = map[string]string{
	"runtime/client/grpcclient": "google.golang.org/grpc",
	"runtime/client/oauth":      "golang.org/x/oauth2",
	"runtime/mcp":               "github.com/modelcontextprotocol/go-sdk",
	"runtime/mcptools":          "github.com/modelcontextprotocol/go-sdk",
	"testkit/mcptest":           "github.com/modelcontextprotocol/go-sdk",
	"runtime/otel":              "go.opentelemetry.io/otel",
	"runtime/auth/token":        "github.com/go-jose/go-jose/v4",
	"runtime/push/verify":       "github.com/go-jose/go-jose/v4",
	"runtime/signedcard":        "github.com/go-jose/go-jose/v4",
	"runtime/server/grpcserver": "google.golang.org/grpc",
	"runtime/server/mcpserver":  "github.com/modelcontextprotocol/go-sdk",
	"runtime/store/postgres":    "github.com/jackc/pgx/v5",
	"runtime/store/sqlite":      "modernc.org/sqlite",
}

// Behind are the modules that a module of [Chosen] needs itself on some system: go.mod of a project has to name
// them all.
var Behind = map[string][]string{
	"github.com/jackc/pgx/v5": {
		"github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile", "github.com/jackc/puddle/v2", "golang.org/x/sync", "golang.org/x/text",
	},
	"github.com/modelcontextprotocol/go-sdk": {
		"github.com/google/jsonschema-go", "github.com/segmentio/asm", "github.com/segmentio/encoding", "github.com/yosida95/uritemplate/v3",
		"golang.org/x/oauth2", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/time",
	},
	"go.opentelemetry.io/otel": {
		"github.com/cespare/xxhash/v2", "github.com/go-logr/logr", "github.com/go-logr/stdr", "go.opentelemetry.io/auto/sdk",
		"go.opentelemetry.io/otel/log", "go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/trace",
	},
	"google.golang.org/grpc": {
		"golang.org/x/net", "golang.org/x/sys", "golang.org/x/text", "google.golang.org/genproto/googleapis/rpc", "google.golang.org/protobuf",
	},
	"modernc.org/sqlite": {
		"github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/mattn/go-isatty", "github.com/ncruces/go-strftime",
		"github.com/remyoudompheng/bigfft", "golang.org/x/sys", "modernc.org/libc", "modernc.org/mathutil", "modernc.org/memory",
	},
}

//go:embed runtime testkit internal/filelock internal/frames internal/sse internal/taskstate internal/test/seeds
var runtimeFiles embed.FS

//go:embed a2a/*.gen.go a2a/a2aclient/*.gen.go internal/a2awires/codec_*json.gen.go internal/fresh/a2a
var protocolFiles embed.FS

//go:embed internal/fresh/examples
var exampleFiles embed.FS

//go:embed go.mod
var goMod []byte

//go:embed go.sum
var goSum []byte

// GoSum returns this module's go.sum.
func GoSum() []byte { return goSum }

// GoMod returns this module's go.mod.
func GoMod() []byte { return goMod }

// RuntimeSource returns the Go files of the packages of the runtime and of the test kit in the given folders and of those that
// these import, without tests, by their slash-separated path: "runtime/errors.go". A folder that is not there has none.
func RuntimeSource(folders ...string) (map[string][]byte, error) {
	files, seen := map[string][]byte{}, map[string]bool{}
	for len(folders) > 0 {
		folder := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		if seen[folder] {
			continue
		}
		seen[folder] = true
		entries, err := runtimeFiles.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name := folder + "/" + e.Name()
			if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				continue
			}
			if files[name], err = runtimeFiles.ReadFile(name); err != nil {
				return nil, err
			}
			folders = append(folders, Imports(files[name])...)
		}
	}
	return files, nil
}

// Imports are the packages of this module that a Go file imports, by their folders: "runtime/server". Of a file that does not
// parse it is what stands before the mistake.
func Imports(src []byte) (folders []string) {
	f, _ := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly)
	if f == nil {
		return nil
	}
	for _, spec := range f.Imports {
		if folder, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, "\"`"), Module+"/"); ok {
			folders = append(folders, folder)
		}
	}
	return folders
}

// ProtocolPackage returns the emitted files of the protocol package in a folder of this module, "a2a" or "internal/fresh/a2a", by
// their paths in it: "types.gen.go". They are those of a package a2a. What other packages have of them in the same words is not
// kept twice: shared.txt names the files and the folders.
func ProtocolPackage(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(protocolFiles, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[strings.TrimSuffix(strings.TrimPrefix(name, folder+"/"), ".txt")], err = protocolFiles.ReadFile(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(files["shared"])) {
		name, from, _ := strings.Cut(strings.TrimSpace(line), " ")
		text, err := protocolFiles.ReadFile(from + "/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = bytes.Replace(text, []byte("\npackage "+path.Base(from)+"\n"), []byte("\npackage a2a\n"), 1)
	}
	delete(files, "shared")
	return files, nil
}

// examplesFolder has the examples, their files with ".txt" behind their names.
const examplesFolder = "internal/fresh/examples"

// Examples are the names of the examples that the tool carries.
func Examples() []string {
	entries, err := exampleFiles.ReadDir(examplesFolder)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Example returns what a person has written of an example, by its slash-separated path: "skills/ask.go". Its Go files import
// packages of the module "example.com/" and its name.
func Example(name string) (map[string][]byte, error) {
	files, folder := map[string][]byte{}, examplesFolder+"/"+name
	err := fs.WalkDir(exampleFiles, folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path := strings.TrimSuffix(strings.TrimPrefix(file, folder+"/"), ".txt")
		files[path], err = exampleFiles.ReadFile(file)
		return err
	})
	return files, err
}
