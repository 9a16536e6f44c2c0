package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// number is a message that is written as its only field.
type number struct{ value int64 }

var numberCodec = Codec[number]{Bare: true, Fields: []Field{{Type: TypeInt64}}}

func readNumbers(r *Reader) (list []*number) {
	readList(r, &numberCodec, unsafe.Pointer(&list))
	return list
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
			got = append(got, x.value)
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
