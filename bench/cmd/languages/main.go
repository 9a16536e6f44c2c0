// Command languages calls agents from Python and JavaScript, through the official SDKs of 1.0 and of 0.3: a typed skill
// of examples/weather, whose forecast it prints, and an agent that tells webhooks made with the SDKs about its tasks.
// What agents made with the SDKs send is received by a webhook of ours. The SDKs are installed by exact version into a
// temporary folder. A language that is not on this machine, or whose SDK cannot be fetched, is left out with a line
// that says so; where CI is true, that is a failure.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// language is a way to call agents: an SDK. Its commands run in a folder of its own that holds the scripts.
type language struct {
	name    string
	needs   string     // the program that must be there
	install [][]string // what fetches the SDK
	run     []string   // runs a script; script and URL of the agent are added
	scripts []script
}

// script is in interop/languages.
type script struct {
	file  string
	to    string                                  // what it calls
	check func(out []byte) (said string, ok bool) // what it prints, or what our webhook heard of it
}

// What scripts call: an agent, or a webhook of ours.
const (
	weather = "weather"
	desk    = "desk"
	hook    = "hook"
)

func python(sdk string, scripts ...script) language {
	return language{
		name: "Python " + sdk, needs: "python3", scripts: scripts,
		install: [][]string{
			{"python3", "-m", "venv", "sdk"},
			{"sdk/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "a2a-sdk==" + sdk},
		},
		run: []string{"sdk/bin/python"},
	}
}

func javaScript(sdk string, scripts ...script) language {
	return language{
		name: "JavaScript " + sdk, needs: "node", scripts: scripts,
		install: [][]string{{"npm", "install", "--no-audit", "--no-fund", "--silent", "@a2a-js/sdk@" + sdk}},
		run:     []string{"node"},
	}
}

var languages = []language{
	python("1.3.0", script{"forecast.py", weather, isForecast}, script{"push.py", desk, isStory}, script{"notify.py", hook, isHeard}),
	python("0.3.26", script{"push03.py", desk, isStory}, script{"notify03.py", hook, isHeard}),
	javaScript("1.3.0", script{"forecast.mjs", weather, isForecast}, script{"push.mjs", desk, isStory}, script{"notify.mjs", hook, isHeard}),
	javaScript("0.3.14", script{"push03.mjs", desk, isStory}, script{"notify03.mjs", hook, isHeard}),
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "languages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "languages")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	agent, url, err := startAgent(ctx, dir)
	if err != nil {
		return fmt.Errorf("the agent of examples/weather: %w", err)
	}
	defer agent.Wait()
	defer agent.Process.Kill()
	deskURL, stop, err := startDesk()
	if err != nil {
		return fmt.Errorf("the agent that sends push notifications: %w", err)
	}
	defer stop()
	urls := map[string]string{weather: url, desk: deskURL}

	errs := make([]error, len(languages))
	var all sync.WaitGroup
	for i, l := range languages {
		all.Go(func() { errs[i] = l.try(ctx, filepath.Join(dir, l.name), urls) })
	}
	all.Wait()
	return errors.Join(errs...)
}

var listening = regexp.MustCompile(`msg="agent is listening" url=(\S+)`)

// startAgent builds the agent in dir and starts it on a free loopback port.
func startAgent(ctx context.Context, dir string) (*exec.Cmd, string, error) {
	binary := filepath.Join(dir, "agent")
	if err := command(ctx, "../examples/weather", "go", "build", "-trimpath", "-o", binary, "."); err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, binary, "-addr", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			return cmd, m[1], nil
		}
	}
	return nil, "", fmt.Errorf("ended at once: %w", cmd.Wait())
}

// try installs the SDK, runs the scripts and prints what they say.
func (l *language) try(ctx context.Context, dir string, urls map[string]string) error {
	if err := l.prepare(ctx, dir); err != nil {
		fmt.Printf("%s: not called: %v\n", l.name, err)
		if os.Getenv("CI") == "true" {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		return nil
	}
	for _, s := range l.scripts {
		out, err := l.execute(ctx, dir, s, urls)
		if err != nil {
			return fmt.Errorf("%s %s: %w", l.name, s.file, err)
		}
		said, ok := s.check(out)
		if !ok {
			return fmt.Errorf("%s %s: not what it should print: %s", l.name, s.file, out)
		}
		fmt.Printf("%s: %s\n", l.name, said)
	}
	return nil
}

// execute runs a script and returns what there is to check.
func (l *language) execute(ctx context.Context, dir string, s script, urls map[string]string) ([]byte, error) {
	heard, url, stop, err := startHook()
	if err != nil {
		return nil, err
	}
	defer stop()
	if s.to != hook {
		url = urls[s.to]
	}
	cmd := exec.CommandContext(ctx, l.run[0], append(l.run[1:], s.file, url)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w\n%s", err, &stderr)
	case s.to == hook:
		return heard.print(), nil
	}
	return out, nil
}

// isForecast: three days for London.
func isForecast(out []byte) (said string, ok bool) {
	var forecast struct {
		Location string
		Days     []json.RawMessage
	}
	err := json.Unmarshal(out, &forecast)
	return string(bytes.TrimSpace(out)), err == nil && forecast.Location == "London" && len(forecast.Days) == 3
}

// isStory: what webhooks have to hear of the tasks of the desk.
func isStory(out []byte) (said string, ok bool) {
	var got map[string]*story
	whole := ""
	for i := range storyLines {
		whole += storyLine(i)
	}
	want := map[string]*story{
		"tell": {States: []string{"working", "completed"}, Text: whole},
		"book": {States: []string{"input_required", "working", "completed"}, Text: "Booked for Friday."},
		"wait": {States: []string{"working", "canceled"}},
	}
	err := json.Unmarshal(out, &got)
	return "its webhooks heard of a streamed, an asking and a canceled task", err == nil && reflect.DeepEqual(got, want)
}

// isHeard: what our webhook has to hear of the task that a script tells of.
func isHeard(out []byte) (said string, ok bool) {
	want := `{"states":["submitted","working","completed"],"text":"sunny"}`
	return "our webhook heard of its task", string(out) == want
}

// prepare makes a folder with the scripts and the SDK.
func (l *language) prepare(ctx context.Context, dir string) error {
	if _, err := exec.LookPath(l.needs); err != nil {
		return fmt.Errorf("%s is not on this machine", l.needs)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, s := range l.scripts {
		text, err := os.ReadFile(filepath.Join("interop/languages", s.file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.file), text, 0o644); err != nil {
			return err
		}
	}
	for _, c := range l.install {
		if err := command(ctx, dir, c[0], c[1:]...); err != nil {
			return fmt.Errorf("its SDK cannot be installed: %w", err)
		}
	}
	return nil
}

// command runs a command in a folder. Its error has the last line of what it said.
func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said := strings.TrimSpace(string(out))
	return fmt.Errorf("%s: %w: %s", name, err, said[strings.LastIndexByte(said, '\n')+1:])
}
