// Package gen is what generated protocol code calls, so that logic which does not depend on the protocol is written once. With
// the packages below it, it belongs to generated code of one version: nobody needs to read it, and what it has may change with
// any version.
package gen

import (
	"fmt"
	"iter"
	"math"
	"reflect"

	"github.com/a2agen/a2agen/runtime"
)

// tail returns the last *n elements of list: all of them if n is nil, none if it is zero or less (R300). Appending to
// the result never writes into list.
func tail[T any](list []T, n *int) []T {
	switch {
	case n == nil || *n >= len(list):
		return list[:len(list):len(list)]
	case *n <= 0:
		return nil
	default:
		return list[len(list)-*n : len(list) : len(list)]
	}
}

// Copies returns pointers to copies of what list points to, made in one piece of memory. Nil pointers stay nil.
func Copies[T any](list []*T) []*T {
	if list == nil {
		return nil
	}
	values, pointers := make([]T, len(list)), make([]*T, len(list))
	for i, p := range list {
		if p != nil {
			values[i] = *p
			pointers[i] = &values[i]
		}
	}
	return pointers
}

// Mismatch is the error of applying an event to a task that it does not belong to, or that is no update.
func Mismatch(t runtime.Task, e runtime.Event) error {
	info := e.EventInfo()
	if info.Kind != runtime.EventStatus && info.Kind != runtime.EventArtifact {
		return fmt.Errorf("apply to task %s: a %T is not an update", t.TaskInfo().ID, e.Generated())
	}
	return fmt.Errorf("apply to task %s: the update is incomplete or belongs to task %q", t.TaskInfo().ID, info.TaskID)
}

// Int widens a number that may be not set.
func Int(p *int32) *int {
	if p == nil {
		return nil
	}
	n := int(*p)
	return &n
}

// Int32 narrows a number that may be not set. One that does not fit becomes the nearest that does.
func Int32(p *int) *int32 {
	if p == nil {
		return nil
	}
	n := int32(max(math.MinInt32, min(math.MaxInt32, *p)))
	return &n
}

// NonZero is a pointer to x, nil for the zero value.
func NonZero[T comparable](x T) *T {
	if x == *new(T) {
		return nil
	}
	return &x
}

// OrZero is what p points to, the zero value if it is nil.
func OrZero[T any](p *T) (x T) {
	if p != nil {
		x = *p
	}
	return x
}

// As gives the result of client.Client.Call its generated type. It takes both results, so that emitted methods are one line.
func As[T any](v any, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	v = runtime.Generated(v)
	t, ok := v.(T)
	if !ok {
		return none, fmt.Errorf("%w: result: %T instead of %v", runtime.ErrInvalidAgentResponse.AsReceived(), v, reflect.TypeFor[T]())
	}
	return t, nil
}

// EachAs gives the items of client.Client.Stream their generated type.
func EachAs[T any](items iter.Seq2[any, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range items {
			t, err := As[T](v, err)
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
