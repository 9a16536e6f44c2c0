package scaffold

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"golang.org/x/mod/module"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/runtime"
)

func TestGoModNamesTheRuntime(t *testing.T) {
	tests := map[string]struct {
		rt      Runtime
		version string
		replace string
	}{
		"released":              {Runtime{Version: "v1.2.3", Sum: "h1:x="}, "v1.2.3", ""},
		"a checkout":            {Runtime{Checkout: "/src/a2agen"}, unreleased, "/src/a2agen"},
		"a checkout with blank": {Runtime{Checkout: "/my src/a2agen"}, unreleased, "/my src/a2agen"},
		"unpacked":              {Runtime{}, unreleased, "./third_party/a2agen"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := modfile.Parse("go.mod", tt.rt.goMod("example.com/weather", nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			if f.Module.Mod.Path != "example.com/weather" || f.Go.Version != GoVersion {
				t.Errorf("module %s, go %s", f.Module.Mod.Path, f.Go.Version)
			}
			if len(f.Require) != 1 || f.Require[0].Mod.Path != a2agen.Module || f.Require[0].Mod.Version != tt.version {
				t.Errorf("require %+v", f.Require)
			}
			if got := len(f.Replace); got != 0 && f.Replace[0].New.Path != tt.replace || (got == 0) != (tt.replace == "") {
				t.Errorf("replace %+v, want %s", f.Replace, tt.replace)
			}
			if UsesUnpacked(tt.rt.goMod("m", nil)) != tt.rt.Unpacks() {
				t.Errorf("UsesUnpacked = %v", !tt.rt.Unpacks())
			}
		})
	}
}

func TestGoSumOfARelease(t *testing.T) {
	sum := string(Runtime{Version: "v1.2.3", Sum: "h1:abc="}.goSum())
	lines := strings.Split(strings.TrimSpace(sum), "\n")
	if len(lines) != 2 || lines[0] != "github.com/a2agen/a2agen v1.2.3 h1:abc=" || !strings.HasPrefix(lines[1], "github.com/a2agen/a2agen v1.2.3/go.mod h1:") {
		t.Errorf("go.sum:\n%s", sum)
	}
}

func TestReleased(t *testing.T) {
	main := func(path, version, sum string, replaced bool) *debug.BuildInfo {
		m := debug.Module{Path: path, Version: version, Sum: sum}
		if replaced {
			m.Replace = &debug.Module{Path: "../a2agen"}
		}
		return &debug.BuildInfo{Main: m}
	}
	for name, tt := range map[string]struct {
		info *debug.BuildInfo
		want bool
	}{
		"installed at a version":   {main(a2agen.Module, "v1.2.3", "h1:x=", false), true},
		"built from a checkout":    {main(a2agen.Module, "(devel)", "", false), false},
		"built from a clean clone": {main(a2agen.Module, "v0.0.0-20261120232402-43265fbabcde", "", false), false},
		"installed at a commit":    {main(a2agen.Module, "v0.0.0-20261120232402-43265fbabcde", "h1:x=", false), false},
		"replaced":                 {main(a2agen.Module, "v1.2.3", "h1:x=", true), false},
		"linked into another tool": {main("example.com/tool", "v1.2.3", "h1:x=", false), false},
		"no build information":     {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := Released(tt.info); got != tt.want {
				t.Errorf("released = %v", got)
			}
		})
	}
}

// listed are the packages of the runtime and of the test kit, in some folder, that projects link without choosing to.
func listed(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "./runtime/...", "./testkit/...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(p string) bool {
		return a2agen.Chosen[strings.TrimPrefix(p, a2agen.Module+"/")] != ""
	})
}

// TestRuntimeNeedsOnlyTheStandardLibrary is what allows go.mod to have a single requirement, and the unpacked runtime to build
// without any download.
func TestRuntimeNeedsOnlyTheStandardLibrary(t *testing.T) {
	args := []string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}
	cmd := exec.Command("go", append(args, listed(t, "../..")...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if !strings.HasPrefix(p, a2agen.Module+"/") {
			t.Errorf("the runtime links %s: go.mod and go.sum of projects, and the unpacked runtime, need it too", p)
		}
	}
}

// TestUnpackedRuntimeBuildsWithoutDownloads unpacks what an agent and its generated tests import.
func TestUnpackedRuntimeBuildsWithoutDownloads(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	dir := t.TempDir()
	src, err := Source(map[string]bool{"runtime/server": true, "runtime/client": true, "testkit/authtest": true, "testkit/a2atest": true, "testkit/conform": true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range src {
		if strings.HasSuffix(f.Path, "_test.go") || !strings.HasPrefix(f.Path, Unpacked+"/") {
			t.Errorf("unpacked %s", f.Path)
		}
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(dir, Unpacked)
	cmd := exec.Command("go", append([]string{"build"}, listed(t, root)...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly -trimpath", "GOMODCACHE="+t.TempDir(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnpackedRuntimeIsWhatIsImported: a client brings no server, and nobody the kits of tests that he does not import.
func TestUnpackedRuntimeIsWhatIsImported(t *testing.T) {
	for folder, wants := range map[string]struct{ has, lacks []string }{
		"runtime/client": {[]string{"runtime", "runtime/wire", "internal/sse"}, []string{"runtime/server", "runtime/store", "testkit/authtest"}},
		"testkit/a2atest": {
			[]string{"runtime/server", "runtime/client", "testkit/fault"},
			[]string{"runtime/store/sqlite", "runtime/client/oauth", "runtime/client/grpcclient", "runtime/server/grpcserver", "testkit/authtest", "testkit/conform", "testkit/record"},
		},
		"runtime/server": {[]string{"runtime/store"}, []string{"runtime/client", "runtime/store/sqlite", "testkit/storetest", "runtime/push", "runtime/otel"}},
	} {
		src, err := Source(map[string]bool{folder: true, "runtime/of/nobody": true})
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, f := range src {
			there[strings.TrimPrefix(path.Dir(f.Path), Unpacked+"/")] = true
		}
		for _, name := range append(wants.has, folder) {
			if !there[name] {
				t.Errorf("%s comes without %s", folder, name)
			}
		}
		for _, name := range wants.lacks {
			if there[name] {
				t.Errorf("%s brings %s along", folder, name)
			}
		}
	}
}

func TestCheckModule(t *testing.T) {
	for path, ok := range map[string]bool{
		"example.com/weather": true, "weather": true, "example.com/weather/v2": true, "example.com/Weather_1": true,
		"": false, "../x": false, "/abs": false, "example.com/a b": false, "example.com/\"; import \"os": false, "a\nb": false,
		"std": false, "cmd/x": false, "example.com/a/../b": false, "example.com//a": false, "-x/y": false, "example.com/ü": false,
		a2agen.Module: false,
	} {
		if err := CheckModule(path); (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// TestModulesAreAllThatAProjectNeeds: go.mod of a project names every module that what it chose links on some system, with
// the hashes of our go.sum, so that there is nothing to tidy.
func TestModulesAreAllThatAProjectNeeds(t *testing.T) {
	for pkg, c := range map[string]*config.Config{
		otelPackage:                 {Telemetry: config.TelemetryOTel},
		mcpPackage:                  {MCP: diag.Pos{Line: 1}},
		"runtime/client/grpcclient": {Clients: []config.Client{{Bindings: []string{runtime.BindingGRPC}}}},
		"runtime/server/grpcserver": {Bindings: []config.Binding{{Name: runtime.BindingGRPC}}},
	} {
		modulesAreAll(t, pkg, ModulesOf(c, Links{}))
	}
	for _, s := range config.Stores[1:] {
		modulesAreAll(t, s.Package, ModulesOf(&config.Config{Store: s.Word}, Links{}))
	}
	modulesAreAll(t, tokenPackage, ModulesOf(config.Default(), Links{Tokens: true}))
	if len(ModulesOf(config.Default(), Links{})) > 0 {
		t.Error("an agent that chose nothing needs modules")
	}
}

func modulesAreAll(t *testing.T, pkg string, ms Modules) {
	t.Helper()
	for _, system := range []string{"linux/amd64", "linux/386", "windows/amd64", "darwin/arm64", "freebsd/amd64"} {
		goos, arch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", a2agen.Module+"/"+pkg)
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		for _, path := range strings.Fields(string(out)) {
			if path != a2agen.Module && !slices.ContainsFunc(ms, func(m module.Version) bool { return m.Path == path }) {
				t.Errorf("on %s it needs %s", system, path)
			}
		}
	}
	if n := strings.Count(string(ms.Sums()), "\n"); n != 2*len(ms) {
		t.Errorf("%d modules have %d lines in go.sum", len(ms), n)
	}
}
