// Package a2agen carries source of this module inside the tool: that of the runtime, so that a project can be made where
// there is neither a release nor a checkout to build against, and the emitted protocol package, which most projects get as it is.
package a2agen

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

// Module is this module's path.
const Module = "github.com/a2agen/a2agen"

// Chosen are the packages of the runtime that need a module of others, with its path. Agents link them by choice; nothing
// else of this module does.
var Chosen = map[string]string{
	"runtime/client/grpcclient": "google.golang.org/grpc",
	"runtime/otel":              "go.opentelemetry.io/otel",
	"runtime/auth/token":        "github.com/go-jose/go-jose/v4",
	"runtime/push/verify":       "github.com/go-jose/go-jose/v4",
	"runtime/server/grpcserver": "google.golang.org/grpc",
	"runtime/store/sqlite":      "modernc.org/sqlite",
}

// Behind are the modules that a module of [Chosen] needs itself on some system: go.mod of a project has to name
// them all.
var Behind = map[string][]string{
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

//go:embed runtime
var runtimeFiles embed.FS

//go:embed a2a/*.gen.go a2a/a2aclient/*.gen.go internal/fresh/a2a/*.gen.go internal/fresh/a2a/a2aclient/*.gen.go
var protocolFiles embed.FS

//go:embed go.mod
var goMod []byte

//go:embed go.sum
var goSum []byte

// GoSum returns this module's go.sum.
func GoSum() []byte { return goSum }

// GoMod returns this module's go.mod.
func GoMod() []byte { return goMod }

// CredentialsKit is the package that generated tests of what a card demands import.
const CredentialsKit = "runtime/auth/authtest"

// testKits are packages that no agent links: tests of this module import them alone, but for [CredentialsKit].
var testKits = []string{CredentialsKit, "runtime/store/storetest", "runtime/internal/seeds"}

// RuntimeSource returns the Go files of package runtime and below by their slash-separated path, "runtime/errors.go",
// without tests and what is for tests alone, but for the kits that are asked for. They need nothing but the standard library, except
// those that are [Chosen].
func RuntimeSource(kits ...string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(runtimeFiles, "runtime", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || slices.Contains(testKits, path) && !slices.Contains(kits, path)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files[path], err = runtimeFiles.ReadFile(path)
		return err
	})
	return files, err
}

// ProtocolPackage returns the emitted files of the protocol package in a folder of this module, "a2a" or "internal/fresh/a2a", by
// their paths in it: "types.gen.go".
func ProtocolPackage(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(protocolFiles, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[strings.TrimPrefix(name, folder+"/")], err = protocolFiles.ReadFile(name)
		return err
	})
	return files, err
}
