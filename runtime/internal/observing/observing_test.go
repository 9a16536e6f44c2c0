package observing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
)

type key struct{}

// recorder notes what it hears, and under which context.
type recorder struct {
	name   string
	notes  *[]string
	panics bool
}

func (r recorder) Begin(ctx context.Context, a *observe.Activity) context.Context {
	if r.panics {
		panic("begin")
	}
	*r.notes = append(*r.notes, r.name+" begins "+a.Kind.String())
	before, _ := ctx.Value(key{}).(string)
	return context.WithValue(ctx, key{}, before+r.name)
}

func (r recorder) End(ctx context.Context, a *observe.Activity) {
	if r.panics {
		panic("end")
	}
	*r.notes = append(*r.notes, fmt.Sprint(r.name, " ends in ", ctx.Value(key{})))
}

func (r recorder) Inject(_ context.Context, c observe.Carrier) {
	if r.panics {
		panic("inject")
	}
	c.Set(observe.TraceParent, r.name)
}

func TestObserversNestAndOneThatPanicsHarmsNobody(t *testing.T) {
	var notes, panics []string
	group := observing.Together([]observe.Observer{
		recorder{name: "a", notes: &notes}, recorder{name: "x", panics: true}, recorder{name: "b", notes: &notes},
	}, func(p any) { panics = append(panics, fmt.Sprint(p)) })
	a := &observe.Activity{Kind: observe.Run}
	group.End(group.Begin(context.Background(), a), a)
	if got, want := strings.Join(notes, "; "), "a begins run; b begins run; b ends in ab; a ends in ab"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	if got := group.Inject(context.Background()); got != "b" {
		t.Errorf("kept %q", got)
	}
	if got := fmt.Sprint(panics); got != "[begin end inject]" {
		t.Errorf("told of %s", got)
	}
}

func TestATraceIsKeptAsItWas(t *testing.T) {
	for name, want := range map[string]observing.Trace{
		"nothing": {}, "parent": {Parent: "00-1-2-01"}, "both": {Parent: "00-1-2-01", State: "a=1,b=2"},
	} {
		if got := observing.ReadTrace(want.String()); *got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var trace observing.Trace
	trace.Set("baggage", "secret")
	trace.Set(observe.TraceParent, "00\n01")
	trace.Set(observe.TraceState, strings.Repeat("x", 513))
	if trace.String() != "" || trace != (observing.Trace{}) {
		t.Errorf("%+v was taken", trace)
	}
}

// TestReasonsAreAClosedSet: what a peer or user code says is in none.
func TestReasonsAreAClosedSet(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{runtime.ErrTaskNotFound.With("secret"), "TASK_NOT_FOUND"},
		{fmt.Errorf("x: %w", runtime.ErrUnauthenticated), "UNAUTHENTICATED"},
		{&runtime.Error{Code: runtime.ErrTaskNotFound.Code, Reason: "secret"}, "TASK_NOT_FOUND"},
		{&runtime.Error{Code: -32050, Reason: "secret"}, "UNKNOWN"},
		{&runtime.Error{Code: runtime.ErrInternal.Code, Reason: "RESOURCE_EXHAUSTED"}, "RESOURCE_EXHAUSTED"},
		{context.Canceled, "CANCELED"},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), "DEADLINE_EXCEEDED"},
		{errors.New("secret"), "INTERNAL_ERROR"},
	} {
		got := observe.ReasonOf(c.err)
		if got != c.want || got != "" && !slices.Contains(observe.Reasons(), got) {
			t.Errorf("%v is %q, want %q", c.err, got, c.want)
		}
	}
}
