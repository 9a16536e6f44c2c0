package memory

import "container/heap"

// ranking is a heap of items that know their place in it.
type ranking[T any] struct {
	items  []T
	before func(a, b T) bool // a is nearer to the top than b
	place  func(T) *int      // in items, from 1; 0: it is not among them
}

// move puts an item where it belongs by now, or takes it out.
func (h *ranking[T]) move(item T, in bool) {
	switch i := *h.place(item) - 1; {
	case in && i < 0:
		heap.Push(h, item)
	case in:
		heap.Fix(h, i)
	case i >= 0:
		heap.Remove(h, i)
	}
}

// The methods of [heap.Interface].

func (h *ranking[T]) Len() int           { return len(h.items) }
func (h *ranking[T]) Less(i, j int) bool { return h.before(h.items[i], h.items[j]) }

func (h *ranking[T]) Swap(i, j int) {
	a, b := h.items[i], h.items[j]
	h.items[i], h.items[j] = b, a
	*h.place(b), *h.place(a) = i+1, j+1
}

func (h *ranking[T]) Push(x any) {
	item := x.(T)
	h.items = append(h.items, item)
	*h.place(item) = len(h.items)
}

func (h *ranking[T]) Pop() any {
	last := len(h.items) - 1
	item := h.items[last]
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	*h.place(item) = 0
	return item
}
