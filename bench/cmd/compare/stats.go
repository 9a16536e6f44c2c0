package main

import (
	"math"
	"slices"
)

// series is a row of measurements of one contestant, one a round. NaN is a round that it sat out.
type series []float64

// sorted returns the measurements that there are, the least first.
func (s series) sorted() series {
	there := slices.DeleteFunc(slices.Clone(s), math.IsNaN)
	slices.Sort(there)
	return there
}

func (s series) median() float64 {
	sorted := s.sorted()
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// percentile returns the measurement that a share of all do not exceed.
func (s series) percentile(share float64) float64 {
	sorted := s.sorted()
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// over divides each measurement by the same round's of another series.
func (s series) over(base series) series {
	var out series
	for i := range min(len(s), len(base)) {
		out = append(out, s[i]/base[i])
	}
	return out
}

// beyond takes the same round's of another series from each measurement.
func (s series) beyond(base series) series {
	var out series
	for i := range min(len(s), len(base)) {
		out = append(out, s[i]-base[i])
	}
	return out
}
