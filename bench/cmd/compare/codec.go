package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// payloads of the codec benchmarks in the order of the table, with the least MB/s for encoding and decoding, on a
// machine where a2a-go reaches what stands in peer.
var payloads = []struct {
	bench, title string
	least, peer  [2]float64 // encode, decode
}{
	{"Message1KB", "1 KB message", [2]float64{900, 400}, [2]float64{115, 63}},
	{"Task64Artifacts", "task of 64 artifacts", [2]float64{2000, 500}, [2]float64{133, 62}},
	{"File5MB", "5 MB file part", [2]float64{2500, 1400}, [2]float64{142, 78}},
}

// oldPayloads are those of the 0.3 wire. No targets are set for them.
var oldPayloads = []struct{ bench, title string }{
	{"Message1KBOf03", "1 KB message on the 0.3 wire"},
	{"Task64ArtifactsOf03", "task of 64 artifacts on the 0.3 wire"},
}

var directions = [2]string{"encode", "decode"}

// speeds are MB/s by benchmark: "Message1KB/encode/a2agen".
type speeds map[string]series

var benchLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+\S+ ns/op\s+(\S+) MB/s`)

// codecSpeeds runs the benchmarks of the codec package.
func codecSpeeds(ctx context.Context, count int, benchtime string) (speeds, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "-benchtime", benchtime, "-count", strconv.Itoa(count), "./codec")
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("benchmarking codecs: %w\n%s", err, out)
	}
	s := speeds{}
	for _, m := range benchLine.FindAllStringSubmatch(string(out), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, fmt.Errorf("benchmarking codecs: %w", err)
		}
		s[m[1]] = append(s[m[1]], v)
	}
	return s, nil
}

// codecRows shows the speed of codecs. encoding/json stands in the column of bare net/http.
func codecRows(s speeds) []row {
	var rows []row
	for _, p := range payloads {
		r := newRow(p.title + ", encode / decode MB/s")
		both := func(codec string) string { return s.both(p.bench, codec) }
		r.cells[colBare] = "encoding/json: " + both("encoding-json")
		r.cells[colA2AGo] = both("a2a-go") + "; proto: " + both("a2a-go-proto")
		r.cells[colA2Agen] = both("a2agen")
		var targets []string
		for i, dir := range directions {
			ours, peer := s.of(p.bench, dir, "a2agen"), s.of(p.bench, dir, "a2a-go")
			ratio := p.least[i] / p.peer[i]
			targets = append(targets, fmt.Sprintf("≥ %.0f (%.1f × a2a-go) %s", p.least[i], ratio, reached(ours >= p.least[i], ours/peer >= ratio)))
		}
		r.target = strings.Join(targets, " / ")
		rows = append(rows, r)
	}
	for _, p := range oldPayloads {
		r := newRow(p.title + ", encode / decode MB/s")
		r.cells[colA2AGo] = "v0.3.15: " + s.both(p.bench, "a2a-go-0.3") + "; v2 with conversions: " + s.both(p.bench, "a2a-go-compat")
		r.cells[colA2Agen] = s.both(p.bench, "a2agen")
		r.target = none
		rows = append(rows, r)
	}
	return rows
}

// of is the median of one benchmark.
func (s speeds) of(bench, direction, codec string) float64 {
	return s[bench+"/"+direction+"/"+codec].median()
}

// both shows the two directions of a codec.
func (s speeds) both(bench, codec string) string {
	return fmt.Sprintf("%.0f / %.0f", s.of(bench, "encode", codec), s.of(bench, "decode", codec))
}

func codecSection(quick bool) func(context.Context) ([]row, error) {
	return func(ctx context.Context) ([]row, error) {
		count, benchtime := 5, "150ms"
		if quick {
			count, benchtime = 1, "60ms"
		}
		s, err := codecSpeeds(ctx, count, benchtime)
		if err != nil {
			return nil, err
		}
		var benches, missing []string
		for _, p := range payloads {
			benches = append(benches, p.bench)
		}
		for _, p := range oldPayloads {
			benches = append(benches, p.bench)
		}
		for _, name := range benches {
			if len(s[name+"/encode/a2agen"]) != count {
				missing = append(missing, name)
			}
		}
		if missing != nil {
			return nil, fmt.Errorf("no figures for %s", strings.Join(missing, ", "))
		}
		return codecRows(s), nil
	}
}
