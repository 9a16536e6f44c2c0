package gen

import (
	"math"
	"slices"
	"testing"

	"github.com/a2agen/a2agen/runtime"
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

// texts is a codec of texts that are what they are written as.
type texts struct{}

func (texts) Append(_ any, b []byte, x any) ([]byte, bool, error) {
	text, ok := x.(string)
	return append(b, text...), ok, nil
}
func (t texts) AppendCase(of any, b []byte, x any) ([]byte, bool, error) {
	return t.Append(of, b, x)
}
func (texts) Read(any, []byte, any) (bool, error) { return false, nil }
func (texts) New(_ any, src []byte) (any, error)  { return string(src), nil }
func (texts) Empty() string                       { return "{}" }

func TestRowsAreOperations(t *testing.T) {
	views := Views{Neutral: func(request any) any { return "neutral " + request.(string) }, Seen: func(result any) (any, error) { return result, nil }}
	rows := []Row{{Role: runtime.RoleGet, RPC: "get", Aliases: []string{"fetch"}, Request: "r", Result: "t"}, {Role: runtime.RolePushGet, RPC: "push"}}
	table := Table(texts{}, views, "item", true, rows)
	if names := []string{table.Operations[0].RPC, table.Operations[1].RPC, table.Operations[2].RPC}; !slices.Equal(names, []string{"get", "push", "fetch"}) {
		t.Errorf("operations %v: other names come last", names)
	}
	get := table.Operations[0]
	for _, test := range []struct{ params, want string }{{"", "neutral {}"}, {"[]", "neutral []"}} {
		if got, err := get.Decode([]byte(test.params)); got != test.want || err != nil {
			t.Errorf("parameters %q give %v, %v", test.params, got, err)
		}
	}
	if _, err := get.Append(nil, 7); err == nil || err.Error() != "encode a result of get: got a int" {
		t.Errorf("a result of another type: %v", err)
	}
	served := Table(texts{}, views, "item", false, rows)
	if op := served.Operations[0]; op.Decode == nil || op.Append == nil || op.AppendRequest != nil || op.Read != nil {
		t.Error("a server has another part of an operation than its own")
	}
	if op := served.Operations[1]; op.Decode != nil || op.Append != nil {
		t.Error("a server without push notifications has their codecs")
	}
}

func ptr(n int) *int { return &n }
