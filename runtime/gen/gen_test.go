package gen

import (
	"math"
	"slices"
	"testing"
)

func TestTailKeepsTheMostRecentAndNeverLetsItsResultGrowIntoTheList(t *testing.T) {
	list := append(make([]int, 0, 10), 1, 2, 3)
	for name, test := range map[string]struct {
		n    *int
		want []int
	}{
		"all": {nil, []int{1, 2, 3}}, "none": {ptr(0), nil}, "negative": {ptr(-1), nil}, "two": {ptr(2), []int{2, 3}}, "more than there are": {ptr(9), []int{1, 2, 3}},
	} {
		got := tail(list, test.n)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		_ = append(got, 99)
		if list[:4][3] == 99 {
			t.Errorf("%s: appending to the tail wrote into the list", name)
		}
	}
}

func TestCopiesAreIndependent(t *testing.T) {
	type box struct{ n int }
	list := []*box{{1}, nil, {2}}
	got := Copies(list)
	list[0].n = 9
	if got[0].n != 1 || got[1] != nil || got[2].n != 2 {
		t.Errorf("copies %v", got)
	}
	if Copies[box](nil) != nil {
		t.Error("copies of nothing")
	}
}

func TestNumbersKeepNotSet(t *testing.T) {
	if Int(nil) != nil || Int32(nil) != nil {
		t.Error("not set became a number")
	}
	n := int32(7)
	if *Int(&n) != 7 || *Int32(ptr(7)) != 7 || *Int32(ptr(math.MaxInt)) != math.MaxInt32 || *Int32(ptr(math.MinInt)) != math.MinInt32 {
		t.Error("a number changed")
	}
}

func TestAbsentParametersAreAnEmptyObject(t *testing.T) {
	if got := string(params(nil)); got != "{}" {
		t.Errorf("nil gives %s", got)
	}
	if got := string(params([]byte("[]"))); got != "[]" {
		t.Errorf("[] gives %s", got)
	}
}

func ptr(n int) *int { return &n }
