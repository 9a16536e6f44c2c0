package extension

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Task is what is asked of a handler's task: a *server.Task.
type Task interface{ Call() runtime.Call }

// Active reports whether a handler may send the extension's values: a caller asked for them, with the message being
// handled or an earlier one of its task, or they always go along.
func (c *Contract) Active(t Task) bool { return c.Always || t.Call().Activated(c.URI) }

// Of reads the value that the message being handled holds; nil without one. The server has checked it.
func Of[T any, P Decoder[T]](t Task, c *Contract) (P, error) {
	return Read[T, P](c, t.Call().Request().Message.MessageInfo().Metadata)
}

// OfRequest is [Of] for the metadata of the request.
func OfRequest[T any, P Decoder[T]](t Task, c *Contract) (P, error) {
	return Read[T, P](c, t.Call().Request().Metadata)
}

// OnArtifact puts a value on an artifact that is about to be sent, unless nobody asked for the extension. A value that
// breaks its schema is an error also then, and the artifact stays as it was. The error wraps a *check.Error.
func OnArtifact[T any, P Encoder[T]](t Task, c *Contract, a *runtime.ArtifactData, v P) error {
	return attach(t, c, &a.Metadata, &a.Extensions, v)
}

// OnMessage is [OnArtifact] for a message, also for that of a status.
func OnMessage[T any, P Encoder[T]](t Task, c *Contract, m *runtime.MessageData, v P) error {
	return attach(t, c, &m.Metadata, &m.Extensions, v)
}

// OnResult is [OnArtifact] for the artifact with the skill's output.
func OnResult[T any, P Encoder[T]](t Task, c *Contract, v P) error {
	value, err := encode(c, v)
	if err != nil || !c.Active(t) {
		return err
	}
	t.Call().OnResult(func(a *runtime.ArtifactData) {
		_ = put(c, &a.Metadata, &a.Extensions, value) // metadata of the runtime's own
	})
	return nil
}

// AppendPart is [OnArtifact] for parts: it appends one with the value.
func AppendPart[T any, P Encoder[T]](t Task, c *Contract, parts []runtime.Part, v P) ([]runtime.Part, error) {
	p, err := Part(c, v)
	if err != nil || !c.Active(t) {
		return parts, err
	}
	return append(parts, p), nil
}

func attach[T any, P Encoder[T]](t Task, c *Contract, metadata *wire.Object, uris *[]string, v P) error {
	value, err := encode(c, v)
	if err != nil || !c.Active(t) {
		return err
	}
	return put(c, metadata, uris, value)
}

func encode[T any, P Encoder[T]](c *Contract, v P) (wire.Value, error) {
	value, err := v.AppendJSON(nil)
	if err != nil {
		return nil, fmt.Errorf("extension %s: %w", c.URI, err)
	}
	return value, nil
}

// put sets the member of metadata that holds a value, and lists the extension.
func put(c *Contract, metadata *wire.Object, uris *[]string, value wire.Value) error {
	whole, err := With(*metadata, c.Name(), value)
	if err != nil {
		return fmt.Errorf("extension %s: %w", c.URI, err)
	}
	*metadata, *uris = whole, Named(*uris, c.URI)
	return nil
}

// Named returns a list of URIs with one more, unless that is in it. The list that it is given stays as it is.
func Named(uris []string, uri string) []string {
	if slices.Contains(uris, uri) {
		return uris
	}
	return append(slices.Clip(uris), uri)
}

// With returns metadata with the member, in place of one of that name. The metadata that it is given stay as they are.
func With(metadata wire.Object, name string, value wire.Value) (wire.Object, error) {
	if kind := wire.Value(metadata).Kind(); kind != wire.KindNone && kind != wire.KindNull && kind != wire.KindObject {
		return nil, errors.New("the metadata are no object")
	}
	members := map[string]wire.Value{}
	for key, v := range metadata.All() {
		members[key] = v
	}
	members[name] = value
	return wire.ObjectOf(members)
}
