// Package seeds says which seeds a random test runs. A2A_SEEDS=n, or n+m, runs n seeds, from m on, A2A_SEEDS=60s new
// ones for as long, and A2A_SEED=n one alone, to see its failure again.
package seeds

import (
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Of are the seeds to run: the first n when nothing else is said, and a tenth of them with -short.
func Of(t testing.TB, n uint64) iter.Seq[uint64] {
	t.Helper()
	if testing.Short() {
		n /= 10
	}
	first, end := uint64(0), time.Time{}
	number := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if s := os.Getenv("A2A_SEEDS"); s != "" {
		if d, err := time.ParseDuration(s); err == nil {
			first, n, end = uint64(time.Now().Unix())<<20, math.MaxUint32, time.Now().Add(d)
		} else if count, from, ok := strings.Cut(s, "+"); ok {
			first, n = number(from), number(count)
		} else {
			n = number(s)
		}
	}
	if s := os.Getenv("A2A_SEED"); s != "" {
		first, n = number(s), 1
	}
	return func(yield func(uint64) bool) {
		for seed := first; seed < first+n && (end.IsZero() || time.Now().Before(end)) && yield(seed); seed++ {
		}
	}
}
