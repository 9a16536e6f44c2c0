package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// readNumbers reads a list of numbers as messages would be read.
func readNumbers(r *Reader) []*int64 {
	return ReadList(r, func(r *Reader, x *int64) { *x = r.Int64() })
}

func TestListsHaveTheirElementsInOrder(t *testing.T) {
	for n := range 40 {
		var want []int64
		var texts []string
		for i := range n {
			want, texts = append(want, int64(i)), append(texts, fmt.Sprint(i))
		}
		var r Reader
		r.Reset([]byte("[" + strings.Join(texts, ",") + "]"))
		var got []int64
		for _, x := range readNumbers(&r) {
			got = append(got, *x)
		}
		if err := r.Done(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v is read as %v: %v", want, got, err)
		}
	}
}

// Most lists have one element: a message's one text, a task's one artifact.
func TestAListOfOneIsOneAllocation(t *testing.T) {
	src := []byte("[1]")
	var r Reader
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(src)
		if len(readNumbers(&r)) != 1 || r.Done() != nil {
			t.Fail()
		}
	}); n > 1 {
		t.Errorf("it takes %v allocations", n)
	}
}
