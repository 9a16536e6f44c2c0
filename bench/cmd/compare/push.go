package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// pushLine is a line of the benchmark of push notifications.
var pushLine = regexp.MustCompile(`(?m)^BenchmarkPush(?:-\d+)?\s.*?([\d.]+) MB\s+([\d.]+) notifications/s`)

// pushRows measures how fast notifications of many tasks are sent while some of their receivers hang. The receivers are in the
// same process, so the figures stand for themselves.
func (b *bench) pushRows(ctx context.Context) ([]row, error) {
	times := max(1, b.rounds/5)
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkPush$", "-benchtime", "1x", "-count", strconv.Itoa(times), "./runtime/server")
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("benchmarking push notifications: %w\n%s", err, out)
	}
	return readPush(out, times)
}

func readPush(out []byte, times int) ([]row, error) {
	var memory, rate series
	for _, m := range pushLine.FindAllSubmatch(out, -1) {
		for i, to := range []*series{&memory, &rate} {
			v, err := strconv.ParseFloat(string(m[i+1]), 64)
			if err != nil {
				return nil, fmt.Errorf("benchmarking push notifications: %w", err)
			}
			*to = append(*to, v)
		}
	}
	if len(rate) != times {
		return nil, fmt.Errorf("benchmarking push notifications: no figures in\n%s", out)
	}
	r := newRow("100 tasks tell 100 webhooks of 100 events each, 10 webhooks hang: notifications a second; memory")
	r.cells[colA2Agen] = spread(rate, whole) + "; " + spread(memory, short) + " MB"
	r.target = none
	return []row{r}, nil
}
