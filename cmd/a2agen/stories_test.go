package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// story is a project in a git repository, and a user at work on it. git says, byte by byte, whose files a command changed.
type story struct {
	t   *testing.T
	dir string
	env []string
}

const storyCard = `name: weather
description: Weather.
version: "0.1.0"
skills:
  - id: forecast
    name: Forecast
    description: Tomorrow.
    tags: [weather]
    input: {type: object, required: [place], properties: {place: {type: string}}}
    output: {type: object, required: [text], properties: {text: {type: string}}}
`

const alertsSkill = `  - id: alerts
    name: Alerts
    description: What to look out for.
    tags: [storm]
`

// storyTool is this test's program under the name that makes it the command.
func storyTool(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(bin, "a2agen")); err != nil {
		t.Fatal(err)
	}
	return bin
}

// storyEnv runs programs offline, with the caches of this test, and with a home of their own.
func storyEnv(t *testing.T) []string {
	t.Helper()
	gotool.Fetch()
	home := t.TempDir()
	// The go command's counters are written by a process that outlives it, and the test.
	counters := filepath.Join(home, ".config/go/telemetry")
	if err := errors.Join(os.MkdirAll(counters, 0o755), os.WriteFile(filepath.Join(counters, "mode"), []byte("off"), 0o644)); err != nil {
		t.Fatal(err)
	}
	env := append(slices.Clone(gotool.Places()), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "PATH="+storyTool(t)+":"+os.Getenv("PATH"),
		"GOPROXY=off", "GOFLAGS="+gotool.Flags, "GOWORK=off", "GOTOOLCHAIN=local", "GOSUMDB=off", "GIT_CONFIG_NOSYSTEM=1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME=user", "GIT_"+who+"_EMAIL=user@example.com")
	}
	return env
}

// newStory makes a project with one skill, as init leaves it, and commits it.
func newStory(t *testing.T, initArgs ...string) *story {
	t.Helper()
	if testing.Short() {
		t.Skip("makes a project and compiles it")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	t.Parallel()
	s := &story{t: t, dir: filepath.Join(t.TempDir(), "weather"), env: storyEnv(t)}
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	card := filepath.Join(t.TempDir(), "card.yaml")
	if err := errors.Join(os.Mkdir(s.dir, 0o755), os.WriteFile(card, []byte(storyCard), 0o644)); err != nil {
		t.Fatal(err)
	}
	s.must("git", "init", "-q")
	s.must("a2agen", append([]string{"init", "--card", card, "--module", "example.com/weather", "--runtime", repo}, initArgs...)...)
	s.write("agent.yaml", storyCard)
	s.must("a2agen", "generate")
	s.commit()
	return s
}

// run runs a program in the project.
func (s *story) run(name string, args ...string) (stdout, stderr string, err error) {
	s.t.Helper()
	path := name
	if name == "a2agen" {
		path = filepath.Join(s.bin(), name)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// bin is the folder with the program.
func (s *story) bin() string {
	for _, kv := range s.env {
		if dirs, ok := strings.CutPrefix(kv, "PATH="); ok {
			return filepath.SplitList(dirs)[0]
		}
	}
	s.t.Fatal("no PATH")
	return ""
}

func (s *story) must(name string, args ...string) (stdout, stderr string) {
	s.t.Helper()
	stdout, stderr, err := s.run(name, args...)
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s%s", name, args, err, stdout, stderr)
	}
	return stdout, stderr
}

// fails runs a program that must not succeed, and wants a text on stderr.
func (s *story) fails(want, name string, args ...string) {
	s.t.Helper()
	if stdout, stderr, err := s.run(name, args...); err == nil || !strings.Contains(stderr, want) {
		s.t.Errorf("%s %v: %v, want %q in\n%s%s", name, args, err, want, stdout, stderr)
	}
}

func (s *story) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *story) write(name, text string) {
	s.t.Helper()
	full := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) edit(name, old, new string) {
	s.t.Helper()
	text := s.read(name)
	if !strings.Contains(text, old) {
		s.t.Fatalf("%s does not hold %q:\n%s", name, old, text)
	}
	s.write(name, strings.ReplaceAll(text, old, new))
}

func (s *story) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) commit() {
	s.t.Helper()
	s.must("git", "add", "-A")
	s.must("git", "commit", "-q", "--allow-empty", "-m", "step")
}

// holds wants texts in a file, and lacks wants them not to be there.
func (s *story) holds(name string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.read(name), text) {
			s.t.Errorf("%s does not hold %q", name, text)
		}
	}
}

func (s *story) lacks(name string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if strings.Contains(s.read(name), text) {
			s.t.Errorf("%s holds %q", name, text)
		}
	}
}

// regenerate commits what the user did, generates, and wants no file of the user's to change but for the new ones named.
// It returns what was said.
func (s *story) regenerate(created ...string) (stderr string) {
	s.t.Helper()
	return s.changesOnly(func() string { _, stderr := s.must("a2agen", "generate"); return stderr }, created...)
}

func (s *story) changesOnly(command func() string, created ...string) string {
	s.t.Helper()
	s.commit()
	before := s.lock()
	said := command()
	after := s.lock()
	status, _ := s.must("git", "-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=all", "--no-renames")
	var made []string
	for line := range strings.Lines(status) {
		state, name := line[:2], strings.TrimSpace(line[3:])
		switch {
		case before.Files[name] != "" || after.Files[name] != "" || name == output.LockName || strings.HasPrefix(name, ".a2agen/base/"):
		case state == "??":
			made = append(made, name)
		default:
			s.t.Errorf("a file of the user's changed: %s", line)
		}
	}
	if !slices.Equal(made, created) {
		s.t.Errorf("made %v, want %v", made, created)
	}
	s.must("a2agen", "check", "--no-build")
	s.commit()
	return said
}

func (s *story) lock() *disk.Lock {
	s.t.Helper()
	l, err := disk.ParseLock([]byte(s.read(output.LockName)))
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// TestStoryA: implement a handler, edit main.go, regenerate.
func TestStoryA_implementedHandlerAndEditedMainStay(t *testing.T) {
	s := newStory(t)
	s.edit("skills/forecast.go", "	// A sample answer, so that the agent runs from the start. Yours goes here.\n", "	t.Progress(\"asking the clouds over %s\", in.Place)\n")
	s.edit("main.go", "	log := server.Logger()", "	// Mine: JSON logs.\n	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))")
	s.regenerate()
	s.remove(output.LockName)
	s.must("a2agen", "generate")
	s.regenerate()
	s.changesOnly(func() string { s.must("a2agen", "generate", "--force"); return "" })
	s.must("go", "test", "./...")
}

// TestStoryB: add a skill.
func TestStoryB_addedSkillIsRegisteredEverywhere(t *testing.T) {
	s := newStory(t)
	s.write("agent.yaml", storyCard+alertsSkill)
	s.regenerate("skills/alerts.go", "skills/alerts_test.go")
	s.holds("agent/skills.gen.go", "Alerts(ctx")
	s.holds("agent/server.gen.go", `"alerts"`)
	s.holds("agent/card.gen.go", "alerts")
	s.holds("client/client.gen.go", ") Alerts(")
	s.must("go", "test", "./...")
	s.remove("skills/alerts.go")
	s.fails("missing method Alerts", "go", "build", "./skills")
	s.regenerate("skills/alerts.go")
	s.must("go", "vet", "./...")
}

// TestStoryC: add a field to a schema.
func TestStoryC_addedFieldReachesTypesAndValidation(t *testing.T) {
	s := newStory(t)
	s.edit("agent.yaml", "place: {type: string}", "place: {type: string}, days: {type: integer, maximum: 5, minimum: 1}")
	s.regenerate()
	s.write("skills/mine_test.go", `package skills

import (
	"testing"

	"example.com/weather/agent"
)

func TestTooManyDays(t *testing.T) {
	days := int64(9)
	in := &agent.ForecastInput{Place: "Rome", Days: &days}
	if _, err := newClient(t).Forecast(t.Context(), in); err == nil {
		t.Error("nine days were accepted")
	}
	days = 5
	if _, err := newClient(t).Forecast(t.Context(), in); err != nil {
		t.Error(err)
	}
}
`)
	s.must("go", "test", "./...")

	// A field that means something else is a compile error where the user's code has it, and nowhere else.
	s.edit("skills/forecast.go", "// A sample answer, so that the agent runs from the start. Yours goes here.", "// Mine.")
	s.edit("agent.yaml", "text: {type: string}", "text: {type: array, items: {type: string}}")
	s.regenerate()
	s.fails("skills/forecast.go:", "go", "build", "./skills")
	s.must("go", "build", "./agent", "./client", "./a2a")
}

// TestStoryD: implement the added skill, regenerate twice.
func TestStoryD_regeneratingTwiceKeepsTheNewHandler(t *testing.T) {
	s := newStory(t)
	s.write("agent.yaml", storyCard+alertsSkill)
	s.regenerate("skills/alerts.go", "skills/alerts_test.go")
	s.edit("skills/alerts.go", `"You said: " + t.Text()`, `"storm over " + t.Text()`)
	s.edit("skills/alerts_test.go", `out.Text() == ""`, `out.Text() != "storm over hello"`)
	for range 2 {
		s.regenerate()
		if status, _ := s.must("git", "diff", "--stat", "HEAD~2"); strings.Contains(status, ".gen.go") {
			t.Errorf("generated files changed: %s", status)
		}
	}
	s.must("go", "test", "./...")
}

// TestStoryE: rename a skill's id.
func TestStoryE_renamedIDLeavesTheOldHandlerAndSaysSo(t *testing.T) {
	s := newStory(t)
	s.edit("skills/forecast.go", "// A sample answer, so that the agent runs from the start. Yours goes here.", "// Mine.")
	s.edit("skills/forecast_test.go", "func Test", "// Mine, too.\nfunc Test")
	s.edit("agent.yaml", "id: forecast", "id: outlook")
	stderr := s.regenerate("skills/outlook.go", "skills/outlook_test.go")
	if !strings.Contains(stderr, ": method Forecast belongs to no skill any more") {
		t.Errorf("said %q", stderr)
	}
	if stdout, _, err := s.run("a2agen", "check"); err == nil || !strings.Contains(stdout, "skills/forecast.go:13: undefined: agent.ForecastInput") {
		t.Errorf("check: %v, %s", err, stdout)
	}

	// The user takes the handler over to the new name.
	s.remove("skills/outlook.go")
	s.remove("skills/forecast_test.go")
	s.edit("skills/forecast.go", "Forecast", "Outlook")
	s.regenerate()
	s.holds("skills/forecast.go", "// Mine.")
	s.must("go", "test", "./...")
}

// TestStoryF: rename only a skill's name.
func TestStoryF_renamedNameChangesNoCodeOfTheUsers(t *testing.T) {
	s := newStory(t)
	s.edit("agent.yaml", "name: Forecast", "name: Tomorrow's weather")
	if stderr := s.regenerate(); stderr != "" {
		t.Errorf("said %q", stderr)
	}
	s.holds("agent/card.gen.go", "Tomorrow's weather")
	s.holds("agent/skills.gen.go", "Forecast(ctx")
	s.must("go", "test", "./...")
}

// TestStoryG: remove a skill.
func TestStoryG_removedSkillLeavesItsFile(t *testing.T) {
	s := newStory(t)
	s.write("agent.yaml", storyCard+alertsSkill)
	s.regenerate("skills/alerts.go", "skills/alerts_test.go")
	s.edit("skills/alerts.go", `"You said: " + t.Text()`, `"mine"`)
	s.remove("skills/alerts_test.go")
	s.write("agent.yaml", storyCard)
	stderr := s.regenerate()
	if !strings.Contains(stderr, ": method Alerts belongs to no skill any more") {
		t.Errorf("said %q", stderr)
	}
	s.holds("skills/alerts.go", `"mine"`)
	for _, name := range []string{"agent/card.gen.go", "agent/server.gen.go", "agent/skills.gen.go", "client/client.gen.go"} {
		s.lacks(name, "alerts", "Alerts")
	}
	s.must("go", "test", "./...")
}

// TestStoryH: the user's own require and replace, an edited Makefile, an edited generated file.
func TestStoryH_ownModulesStayAndAnEditedGeneratedFileIsRefused(t *testing.T) {
	s := newStory(t)
	s.write("dep/go.mod", "module example.org/dep\n\ngo 1.26.0\n")
	s.write("dep/dep.go", "// Package dep is the user's.\npackage dep\n\n// Sky is how it looks.\nconst Sky = \"blue\"\n")
	s.write("go.mod", s.read("go.mod")+"\nrequire example.org/dep v0.0.0\n\nreplace example.org/dep => ./dep\n")
	s.write("skills/sky.go", "package skills\n\nimport \"example.org/dep\"\n\nconst sky = dep.Sky\n\nvar _ = sky\n")
	s.edit("Makefile", "run: ## start", "mine: ## of the user's\n\techo mine\n\nrun: ## start")
	s.write("agent.yaml", storyCard+alertsSkill)
	s.regenerate("skills/alerts.go", "skills/alerts_test.go")
	s.must("go", "vet", "./...")

	s.edit("agent/skills.gen.go", "package agent", "// Edited.\n\npackage agent")
	s.edit("agent.yaml", "What to look out for", "Storms")
	s.commit()
	s.fails("agent/skills.gen.go: was edited by hand (move your changes elsewhere and delete it, or use --force to overwrite it)", "a2agen", "generate")
	if status, _ := s.must("git", "status", "--porcelain"); status != "" {
		t.Errorf("a refused run wrote %s", status)
	}
	s.changesOnly(func() string { s.must("a2agen", "generate", "--force"); return "" })
	s.lacks("agent/skills.gen.go", "// Edited.")
	s.must("go", "vet", "./...")
}
