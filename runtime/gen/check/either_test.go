package check

import (
	"strings"
	"testing"
)

// tree is a union of two objects that are told apart by trying, each of which holds trees.
type tree interface{ children() []tree }

type (
	left  struct{ l []tree }
	right struct{ r []tree }
)

func (t *left) children() []tree  { return t.l }
func (t *right) children() []tree { return t.r }

// reads counts how often an alternative was read.
var reads int

func readTree(r *Reader) tree {
	return Either(r, "tree", false, checkTree,
		func(r *Reader) tree { return &left{readBranch(r, "l")} }, func(r *Reader) tree { return &right{readBranch(r, "r")} })
}

func readBranch(r *Reader, name string) (list []tree) {
	reads++
	keys := Keys{Names: []string{name}, Required: []bool{true}}
	var seen [1]bool
	others := 0
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch string(key) {
		case "l", "r": // both read what the other one has, so that nothing is decided before the innermost
			r.Field(&seen[0])
			list = List(r, readTree)
			seen[0] = string(key) == name
		default:
			others++
			r.Unknown(key, &keys)
		}
	}
	r.Keys(&keys, seen[:], others, nil)
	return list
}

func checkTree(c *Checker, t tree) {
	for _, child := range t.children() {
		checkTree(c, child)
	}
}

func TestTriedUnionsWithinEachOtherAreReadOnceEach(t *testing.T) {
	count := func(depth int) int {
		src := strings.Repeat(`{"l":[{"r":[`, depth) + strings.Repeat(`]}]}`, depth)
		var v tree
		reads = 0
		if err := Decode([]byte(src), &v, readTree, func(c *Checker, v *tree) { checkTree(c, *v) }); err != nil {
			t.Fatal(err)
		}
		return reads
	}
	n, twice := count(10), count(20)
	if twice > 3*n {
		t.Errorf("%d readings of 20 trees, %d of 40", n, twice)
	}
}

func TestTriedUnionsSayWhatIsWrongWithTheNearest(t *testing.T) {
	var v tree
	err := Decode([]byte(`{"l":[{"r":[{"l":1}]}]}`), &v, readTree, func(*Checker, *tree) {})
	if got := violations(err); len(got) == 0 || got[len(got)-1].Pointer != "/l/0/r/0/l" {
		t.Errorf("got %v", got)
	}
}
