package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMedianLeavesOutRoundsThatWereSatOut(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		s    series
		want float64
	}{
		"odd":     {series{3, 1, 2}, 2},
		"even":    {series{4, 1, 2, 3}, 2.5},
		"sat out": {series{nan, 5, nan, 7, 6}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.s.median(); got != c.want {
				t.Errorf("median is %v, want %v", got, c.want)
			}
		})
	}
	if got := (series{nan}).median(); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v", got)
	}
}

func TestAPercentileIsAMeasurement(t *testing.T) {
	var s series
	for i := range 100 {
		s = append(s, float64(100-i))
	}
	for share, want := range map[float64]float64{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := s.percentile(share); got != want {
			t.Errorf("percentile %v is %v, want %v", share, got, want)
		}
	}
	r := percentileRow("work", []series{{1e6, 2e6}, nil, nil, {3e6, 8e6}}, 0.99, 3)
	if r.cells[colBare] != "1 (2.00 ms)" || r.cells[colA2Agen] != "4.00" || r.cells[colTRPC] != none || r.target != "≤ 3 **missed**" {
		t.Errorf("row is %+v", r)
	}
}

func TestRatiosAreTakenRoundByRound(t *testing.T) {
	got := series{20, math.NaN(), 60}.over(series{10, 10, 20}).sorted()
	if len(got) != 2 || got[0] != 2 || got[1] != 3 {
		t.Errorf("ratios are %v", got)
	}
}

func TestTheVerdictOfARatioRowIsOnTheMedian(t *testing.T) {
	c := cost{time: []series{{100, 100, 100}, {300, 300, 300}, {900, math.NaN(), 700}, {120, 130, 300}}, writes: make([]float64, 4)}
	r := ratioRow("work", "request", c, 1.3)
	if want := "1.30 (1.20–3.00)"; r.cells[colA2Agen] != want {
		t.Errorf("cell is %q, want %q", r.cells[colA2Agen], want)
	}
	if want := "8.00 (7.00–9.00)"; r.cells[colA2AGo] != want {
		t.Errorf("cell is %q, want %q", r.cells[colA2AGo], want)
	}
	if want := "≤ 1.3 met"; r.target != want {
		t.Errorf("target is %q, want %q", r.target, want)
	}
	if r := ratioRow("work", "request", c, 1.2); !strings.Contains(r.target, "missed") {
		t.Errorf("target is %q", r.target)
	}
}

func TestATimeThatIsMissedMayBeMetAsARatio(t *testing.T) {
	took := func(bare, ours float64) []series { return []series{{bare}, nil, nil, {ours}} }
	for name, c := range map[string]struct {
		took []series
		want string
	}{
		"fast machine":        {took(4e6, 5e6), "met"},
		"slow machine":        {took(10e6, 11e6), "met as a ratio"},
		"slow on any machine": {took(5e6, 9e6), "**missed**"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := timeRow("work", c.took, 6, 5.4); !strings.HasSuffix(r.target, c.want) || r.cells[colTRPC] != none {
				t.Errorf("row is %+v, want %q", r, c.want)
			}
		})
	}
}

func TestBenchmarkLinesAreRead(t *testing.T) {
	line := "BenchmarkFile5MB/encode/a2a-go-proto-2 \t 352\t 680125 ns/op\t7351.98 MB/s\t 15419 B/op\t 20 allocs/op\n"
	m := benchLine.FindStringSubmatch(line)
	if m == nil || m[1] != "File5MB/encode/a2a-go-proto" || m[2] != "7351.98" {
		t.Errorf("match is %q", m)
	}
}

func TestTheFiguresOfPushNotificationsAreRead(t *testing.T) {
	line := "BenchmarkPush-2   \t       1\t 555446156 ns/op\t        16.13 MB\t     16057 notifications/s\n"
	rows, err := readPush([]byte(line+line), 2)
	if err != nil || rows[0].cells[colA2Agen] != "16057 (16057–16057); 16.1 (16.1–16.1) MB" {
		t.Errorf("rows are %+v (%v)", rows, err)
	}
	if _, err := readPush([]byte(line), 2); err == nil {
		t.Error("a run is missing, and nobody says so")
	}
}

func TestARowOfDurableWorkSaysWhatWasReached(t *testing.T) {
	c := cost{
		time:  []series{{50_000, 40_000}, {200_000, 120_000}},
		rate:  []series{{10_000, 12_000}, {4600, 4400}},
		waits: []series{{1e6, 1e6}, {5e6, 5e6}},
	}
	r := (&durable{title: "task", calls: 4}).row(16, c)
	if len(r.cells) != len(durableColumns) || r.cells[2] != none || r.cells[3] != "3.50 (3.00–4.00)" {
		t.Errorf("cells are %q", r.cells)
	}
	if want := "≥ 4500 a second met; p50 of a call (1.25 ms) ≤ 1 ms **missed**"; r.target != want {
		t.Errorf("target is %q, want %q", r.target, want)
	}
}

func TestManyTasksAreMeasured(t *testing.T) {
	b := &bench{bin: t.TempDir(), many: 400}
	rows, err := b.manyRows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if len(r.cells) != len(aloneColumns) || r.cells[colFile] == none || r.cells[colOne] != none {
			t.Errorf("row is %+v", r)
		}
	}
}

func TestARowOfCredentialsIsComparedWithWhatNobodyAsksFor(t *testing.T) {
	c := cost{time: make([]series, len(guests))}
	for i := range c.time {
		c.time[i] = series{10_000, 20_000}
	}
	c.time[openAgent] = series{12_000, 24_000}
	c.time[checkES256] = series{60_000, 120_000}
	for title, want := range map[string]struct {
		cost   series
		cell   string
		target string
	}{
		"an API key":                {series{12_500, 25_000}, "0.05 (0.05–0.05)", "≤ 0.1 × bare met"},
		"a new Bearer token, ES256": {series{82_000, 164_000}, "7.00 (7.00–7.00); 1.40 (1.40–1.40) × the bare check", "≤ 1.3 × the bare check **missed**"},
	} {
		i := slices.IndexFunc(guests, func(g guest) bool { return g.title == title })
		c.time[i] = want.cost
		if r := guests[i].row(i, c); r.cells[1] != want.cell || r.target != want.target {
			t.Errorf("row is %+v", r)
		}
	}
}

func TestARowOfAStoreAloneIsComparedWithTheBareLoopAndWithOneReplica(t *testing.T) {
	var costs [colMoreCPU]aloneCost
	costs[colFile] = aloneCost{rate: series{5000}, cpu: series{2e5}, p50: series{1e6}, p99: series{2e6}}
	if r := aloneRow(16, &costs); r.cells[colOne] != none || r.target != "" || r.cells[colFile] != "5000 a second, 200 µs CPU, p50 1.00 ms, p99 2.00 ms" {
		t.Errorf("without a server the row is %+v", r)
	}
	costs[colEach], costs[colBatched] = aloneCost{rate: series{1000, 2000}}, aloneCost{rate: series{2000, 4000}}
	costs[colOne] = aloneCost{rate: series{700, 1400}, cpu: series{1e6, 2e6}}
	costs[colThree] = aloneCost{rate: series{900, 1500}, cpu: series{1.3e6, 2.6e6}}
	want := "≥ 0.6 of the bare loop: 0.70 (0.70–0.70), of that in batches 0.35 (0.35–0.35), met; CPU ≤ 1.25 **missed**"
	if r := aloneRow(16, &costs); r.target != want || r.cells[colMoreCPU] != "1.30 (1.30–1.30)" {
		t.Errorf("row is %+v", r)
	}
}

func TestTheCPUTimeOfAProcessIsRead(t *testing.T) {
	s, err := readStat(os.Getpid())
	if err != nil || s.parent != os.Getppid() || s.name == "" {
		t.Errorf("%+v, %v", s, err)
	}
}
