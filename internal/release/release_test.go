package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/ledger"
)

// TestWhatIsNoRelease is said in a line, before anything is made.
func TestWhatIsNoRelease(t *testing.T) {
	dir := t.TempDir()
	commit(t, dir, "# Changelog\n\n## Unreleased\n\n* new\n\n## v0.3.0 (2026-12-01)\n\n* three\n\n## v0.2.0-rc.1\n\n* two\n\n## v0.2.0\n\n## v0.1.0\n\n* one\n")
	if _, err := git(dir, "tag", "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{
		"":                                   `"" is no version: write one like v0.1.0`,
		"1.0.0":                              `"1.0.0" is no version: write one like v0.1.0`,
		"v0.3":                               `"v0.3" is no version: write one like v0.1.0`,
		"v0.3.0+meta":                        `"v0.3.0+meta" is no version: write one like v0.1.0`,
		"v0.0.0-20260820222146-c27c302e5fc3": `"v0.0.0-20260820222146-c27c302e5fc3" is no version: write one like v0.1.0`,
		"v2.0.0":                             `v2.0.0 is no version of github.com/a2agen/a2agen: version "v2.0.0" invalid: should be v0 or v1, not v2`,
		"v0.1.0":                             `v0.1.0 exists: a published version never changes`,
		"v0.1.0-rc.1":                        `v0.1.0-rc.1 goes back: there is v0.1.0`,
		"v0.2.0":                             `CHANGELOG.md has nothing below a line "## v0.2.0"`,
		"v0.4.0":                             `CHANGELOG.md has nothing below a line "## v0.4.0"`,
	} {
		if _, err := plan(dir, version); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", version, err, want)
		}
	}
	if r, err := plan(dir, "v0.3.0"); err != nil || string(r.notes) != "* three\n" {
		t.Errorf("v0.3.0: %q, %v", r.notes, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := plan(dir, "v0.3.0"); err == nil || err.Error() != "the tree is not clean: commit or remove new" {
		t.Error(err)
	}
}

func TestLinksOfNotesLeadToTheVersion(t *testing.T) {
	const notes = "[a](docs/a.md#x), [b](b), [c](https://c.example), `[]string(x)`"
	const want = "[a](https://github.com/who/it/blob/v0.1.0/docs/a.md#x), [b](https://github.com/who/it/blob/v0.1.0/b), [c](https://c.example), `[]string(x)`"
	if got := linked([]byte(notes), "github.com/who/it", "v0.1.0"); string(got) != want {
		t.Errorf("%s", got)
	}
	if got := linked([]byte(notes), "example.org/it", "v0.1.0"); string(got) != notes {
		t.Errorf("%s", got)
	}
}

// TestTheBillOfMaterials is valid by the JSON schema of CycloneDX 1.6: that was tried with cyclonedx-python-lib 11.12, also with a whole release.
func TestTheBillOfMaterials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bill.json")
	r := release{version: "v0.1.0", time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := r.writeBill(file, []component{{path: "example.com/x", version: "v1.2.3", sum: "h1:x=", licences: []string{"BSD-3-Clause", "MIT"}}}); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "bomFormat": "CycloneDX",
  "components": [
    {
      "type": "library",
      "bom-ref": "pkg:golang/example.com/x@v1.2.3",
      "name": "example.com/x",
      "version": "v1.2.3",
      "purl": "pkg:golang/example.com/x@v1.2.3",
      "licenses": [
        {
          "license": {
            "id": "BSD-3-Clause"
          }
        },
        {
          "license": {
            "id": "MIT"
          }
        }
      ],
      "properties": [
        {
          "name": "go.sum",
          "value": "h1:x="
        }
      ]
    }
  ],
  "metadata": {
    "component": {
      "type": "application",
      "bom-ref": "pkg:golang/github.com/a2agen/a2agen@v0.1.0",
      "name": "github.com/a2agen/a2agen",
      "version": "v0.1.0",
      "purl": "pkg:golang/github.com/a2agen/a2agen@v0.1.0",
      "licenses": [
        {
          "license": {
            "id": "Apache-2.0"
          }
        }
      ]
    },
    "timestamp": "2026-01-02T03:04:05Z"
  },
  "specVersion": "1.6",
  "version": 1
}
`
	if got, err := os.ReadFile(file); string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// TestThePublicAPIOfTheLastReleaseIsKept until the changelog says otherwise.
func TestThePublicAPIOfTheLastReleaseIsKept(t *testing.T) {
	gotool.Fetch()
	changelog, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := bytes.SplitN(changelog, []byte("\n## "), 4) // what is above them, what is not released, the version that is being released
	if err := checkAPI("../..", bytes.Join(sections[1:min(3, len(sections))], nil)); err != nil {
		t.Error(err)
	}
}

// TestWhatBreaksUsers are lines that are gone or changed.
func TestWhatBreaksUsers(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	write(apiFile, "")
	write("testkit/kit.go", "package testkit\n")
	write("runtime/gen/x.go", "package gen\n\nfunc Unseen() {}\n")
	write("runtime/internal/own/own.go", "package own\n\ntype Hidden struct{ Seen int }\n\nfunc (Hidden) Method() {}\n")
	const before = `package server

import (
	"context"

	"example.com/m/runtime/internal/own"
)

type Server[T any] struct {
	Addr string
	own  int
}

func Inline[T interface{ *int; Close() }](T) {}

func (s *Server[T]) Handle(ctx context.Context, h func(in T) (out T, err error)) (n int, err error) { return }

type Alias = own.Hidden

type Gone struct{ With int }

type Open interface{ Ask(question string) error }

type Closed interface {
	Ask(question string) error
	own()
}

const A, b = "x", 2

var Err error

func New[T any](list ...T) *Server[T] { return nil }
`
	write("runtime/server/server.go", before)
	if err := writeAPI(dir); err != nil {
		t.Fatal(err)
	}
	const want = `# runtime/server
const A untyped string = "x"
type Alias struct
type Alias field Seen int
method Alias Method()
type Closed interface { methods of its own }
method Closed Ask(string) error
var Err error
type Gone struct
type Gone field With int
func Inline[T interface { Close(); *int }](T)
func New[T any](...T) *server.Server[T]
type Open interface { Ask }
method Open Ask(string) error
type Server[T any] struct
type Server field Addr string
method *Server Handle(context.Context, func(T) (T, error)) (int, error)

# testkit
`
	if text, err := os.ReadFile(filepath.Join(dir, apiFile)); string(text) != want || err != nil {
		t.Fatalf("%s, %v", text, err)
	}
	for _, test := range []struct{ from, to, lost string }{
		{"question string", "words string", ""},
		{"\town()\n", "\town()\n\tMore()\n", ""},
		{"const A", "func Newer() {}\n\nconst A", ""},
		{"Addr string", "Addr string\n\tPort int", ""},
		{"Ask(question string) error }", "Ask(question string) error; More() }", "type Open interface { Ask }"},
		{`"x", 2`, `"y", 2`, `const A untyped string = "x"`},
		{"(n int, err error)", "(n int64, err error)", "method *Server Handle(context.Context, func(T) (T, error)) (int, error)"},
		{"list ...T", "list []T", "func New[T any](...T) *server.Server[T]"},
		{"Addr string", "Address string", "type Server field Addr string"},
		{"type Gone struct{ With int }", "", "type Gone struct"},
	} {
		write("runtime/server/server.go", strings.Replace(before, test.from, test.to, 1))
		err := checkAPI(dir, []byte("* `Newer` is new. An Open Server is Gone: New, Addr, A and Handle.\n"))
		if test.lost == "" && err != nil || test.lost != "" && (err == nil || strings.Split(err.Error(), "\n")[1] != "\truntime/server: "+test.lost || strings.Count(err.Error(), "\n") != 2) {
			t.Errorf("%s -> %s: %v", test.from, test.to, err)
		}
		if err := checkAPI(dir, []byte("* `server.Open`, `New(list)`, `Server.Handle`, `A`, `Addr` and `Gone` are others.\n")); err != nil {
			t.Errorf("%s -> %s is in the notes: %v", test.from, test.to, err)
		}
	}
}

// commit commits everything in a folder, with the text as CHANGELOG.md.
func commit(t *testing.T, dir, changelog string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a2agen", "-c", "user.email=a2agen@example.com", "commit", "-q", "-m", "Release"}} {
		if _, err := git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// made clones the commit of this checkout, has its changelog speak of a version, and releases it for this platform, or those that
// A2A_PLATFORMS names.
func made(t *testing.T, version string, platforms []string) (dist string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	if _, err := git("../..", "clone", "-q", "--no-tags", ".", dir); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "## "+version+"\n\n* A release to try.\n")
	cmd := exec.Command("git", "commit", "--amend", "--no-edit", "-q", "--date=2026-01-02T03:04:05Z")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_NAME=a2agen", "GIT_COMMITTER_EMAIL=a2agen@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := plan(dir, version)
	if err != nil {
		t.Fatal(err)
	}
	dist = filepath.Join(dir, "dist")
	if platforms == nil {
		dist = filepath.Join(dir, "proxy-only")
		if err := r.writeProxy(filepath.Join(dist, "proxy")); err != nil {
			t.Fatal(err)
		}
	} else if err := r.write(dist, platforms); err != nil {
		t.Fatal(err)
	}
	return dist
}

// TestRelease takes a release, from the folder that A2A_RELEASE names, as the only source of the module, and does what its users will do. If A2A_RELEASE is
// "new", it makes one from this commit, twice, for the platforms in A2A_PLATFORMS, and compares the two byte for byte.
func TestRelease(t *testing.T) {
	dist := os.Getenv("A2A_RELEASE")
	switch dist {
	case "":
		t.Skip("set A2A_RELEASE, as make release-check does")
	case "new":
		list := strings.Split(os.Getenv("A2A_PLATFORMS"), ",")
		dist = made(t, "v0.1.0", list)
		sameBytes(t, dist, made(t, "v0.1.0", list))
	}
	versions, err := filepath.Glob(filepath.Join(dist, "proxy", "*", "*", "*", "@v", "*.zip"))
	if err != nil || len(versions) != 1 {
		t.Fatalf("%s holds %d versions, %v", dist, len(versions), err)
	}
	version := strings.TrimSuffix(filepath.Base(versions[0]), ".zip")
	after := made(t, "v0.999.0", nil)
	usual, err := goEnv("GOPROXY", "GOMODCACHE", "GOCACHE")
	if err != nil {
		t.Fatal(err)
	}
	modules := t.TempDir()
	t.Cleanup(func() { removeAll(modules) })
	testscript.Run(t, testscript.Params{
		Dir:       "testdata",
		Condition: func(string) (bool, error) { return os.Getuid() == 0, nil }, // root
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"atmost": atMost, "unpack": unpack},
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, "V1="+version, "V2=v0.999.0", "DIST="+dist, "ADDR="+ledger.Address(t), "HOME="+e.WorkDir,
				"GOMODCACHE="+modules, "GOCACHE="+usual[2], "GOFLAGS=-mod=mod -trimpath", "CGO_ENABLED=0", "GOWORK=off", "GOTOOLCHAIN=local",
				"GONOSUMDB=*", "GOPROXY="+fileURL(filepath.Join(dist, "proxy"))+","+fileURL(filepath.Join(after, "proxy"))+","+
					fileURL(filepath.Join(usual[1], "cache", "download"))+","+usual[0])
			return nil
		},
	})
}

// sameBytes compares two folders.
func sameBytes(t *testing.T, a, b string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(a, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		one, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		other, err := os.ReadFile(b + strings.TrimPrefix(file, a))
		if err == nil && !bytes.Equal(one, other) {
			t.Errorf("two runs make different bytes of %s", strings.TrimPrefix(file, a))
		}
		return err
	})
	if err != nil || n < 8 {
		t.Errorf("%d files compared: %v", n, err)
	}
}

// atMost FILES LINES DIR wants at most so many files below a folder, and lines of Go in them.
func atMost(ts *testscript.TestScript, neg bool, args []string) {
	files, lines := 0, 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[2]), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if filepath.Ext(file) != ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		lines += bytes.Count(text, []byte("\n"))
		return err
	}))
	ts.Logf("%d files, %d lines of Go", files, lines)
	maxFiles, _ := strconv.Atoi(args[0])
	maxLines, _ := strconv.Atoi(args[1])
	if files > maxFiles || lines > maxLines {
		ts.Fatalf("%d files, %d lines of Go: at most %s and %s are wanted", files, lines, args[0], args[1])
	}
}

// unpack unpacks the archive of this platform, if the release has it, and gives its program the name.
func unpack(ts *testscript.TestScript, neg bool, args []string) {
	archives, err := filepath.Glob(filepath.Join(ts.Getenv("DIST"), "*_linux_amd64.tar.gz"))
	ts.Check(err)
	if len(archives) != 1 {
		ts.Fatalf("%d archives", len(archives))
	}
	ts.Check(ts.Exec("tar", "-C", ts.MkAbs(args[0]), "-xzf", archives[0]))
}
