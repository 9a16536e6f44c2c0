package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
)

// script is in languages. It calls an agent of ours, or tells a webhook of ours about a task.
type script struct {
	file  string
	to    string                                  // what it calls
	check func(out []byte) (said string, ok bool) // what it prints, or what our webhook heard of it
}

// What is called: agents of ours, or a webhook of ours.
const (
	weather = "weather"
	stories = "stories"
	hook    = "hook"
	ours    = "desk"
)

// startAgents starts our agents.
func startAgents(ctx context.Context, dir string) (urls map[string]string, stop func(), err error) {
	urls = map[string]string{}
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for name, start := range map[string]func() (string, func(), error){
		weather: func() (string, func(), error) { return startWeather(ctx, dir) },
		stories: startStories,
		ours:    startOurDesk,
	} {
		url, s, err := start()
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("our agent %q: %w", name, err)
		}
		urls[name], stops = url, append(stops, s)
	}
	return urls, stop, nil
}

var listening = regexp.MustCompile(`msg="agent is listening" url=(\S+)`)

// startWeather builds the agent of examples/weather in dir and starts it on a free loopback port.
func startWeather(ctx context.Context, dir string) (url string, stop func(), err error) {
	binary := filepath.Join(dir, "agent")
	if err := command(ctx, "../examples/weather", "go", "build", "-trimpath", "-o", binary, "."); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "-addr", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			return m[1], func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }, nil
		}
	}
	return "", nil, fmt.Errorf("ended at once: %w", cmd.Wait())
}

// script runs a script and returns what it showed.
func (p *peer) script(ctx context.Context, dir string, s script, urls map[string]string) (said string, err error) {
	heard, url, stop, err := startHook()
	if err != nil {
		return "", err
	}
	defer stop()
	if s.to != hook {
		url = urls[s.to]
	}
	cmd := exec.CommandContext(ctx, p.run[0], append(p.run[1:], s.file, url)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, &stderr)
	}
	if s.to == hook {
		out = heard.print()
	}
	said, ok := s.check(out)
	if !ok {
		return "", fmt.Errorf("not what it should show: %s", out)
	}
	return said, nil
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

// isStory: what webhooks have to hear of the tasks of the agent that tells stories.
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
