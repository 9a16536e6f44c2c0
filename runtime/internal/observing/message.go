package observing

import (
	"reflect"

	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/wire"
)

// A trace context also travels in the metadata of a message, under the names of its headers, since what carries a
// message need not pass headers on.

// InMessage reads the trace context in a message's metadata.
func InMessage(metadata wire.Object) *Trace {
	var t Trace
	for key, value := range metadata.All() {
		var text string
		if (key == observe.TraceParent || key == observe.TraceState) && value.Kind() == wire.KindString && value.Decode(&text) == nil {
			t.Set(key, text)
		}
	}
	return &t
}

// Mark returns a generated request that sends a message with the trace context in its metadata, in place of any that is
// there: a copy as far as it has to be one. A request without a message comes back as it is.
func Mark(request any, t *Trace) any {
	if t.Parent == "" {
		return request
	}
	return withMetadata(request, func(o *wire.Object) {
		unmark(o)
		for _, key := range []string{observe.TraceParent, observe.TraceState} {
			if value := t.Get(key); value != "" {
				_ = o.Set(key, value) // the encoder refuses metadata that are no object
			}
		}
	})
}

// Unmark returns a generated request as it was before Mark. A message that is sent again is the same although its trace
// is not.
func Unmark(request any) any { return withMetadata(request, unmark) }

func unmark(o *wire.Object) {
	o.Delete(observe.TraceParent)
	o.Delete(observe.TraceState)
}

// withMetadata changes the metadata of a request's message, in a copy.
func withMetadata(request any, change func(*wire.Object)) any {
	r := reflect.ValueOf(request)
	if !isStruct(r) {
		return request
	}
	m := r.Elem().FieldByName("Message")
	if !m.IsValid() || !isStruct(m) {
		return request
	}
	o := m.Elem().FieldByName("Metadata")
	if !o.IsValid() || o.Type() != reflect.TypeFor[wire.Object]() {
		return request
	}
	metadata, _ := o.Interface().(wire.Object)
	change(&metadata)
	message := copyOf(m)
	message.Elem().FieldByName("Metadata").Set(reflect.ValueOf(metadata))
	changed := copyOf(r)
	changed.Elem().FieldByName("Message").Set(message)
	return changed.Interface()
}

// isStruct reports whether v points to a struct.
func isStruct(v reflect.Value) bool {
	return v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.Struct
}

func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c
}
