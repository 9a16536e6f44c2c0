package engine

import (
	"slices"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What may be said: only what every version and every binding can say (decision 038). What a client sends is refused
// where it comes in, and what a handler emits where that is emitted, so that no reader of a task fails on it later.

// nestingOf is how deep data may be in an agent of these versions: where protobuf is spoken, as deep as its readers go.
// 0 is no limit beside that of the JSON reader.
func nestingOf(versions []*runtime.Version) int {
	for _, v := range versions {
		if slices.ContainsFunc(v.Wires, func(w *runtime.Wire) bool { return w.Encoding == runtime.EncodingProto }) {
			return wire.MaxNesting
		}
	}
	return 0
}

// checkContent refuses a message that could not be said in every binding, or read by most clients. Its JSON is valid,
// because a codec has read it.
func (e *Engine) checkContent(req *runtime.SendRequest, metadata wire.Object, parts []runtime.Part) error {
	for i := range parts {
		if err := e.checkPart(&parts[i]); err != nil {
			return invalid.Below("message.parts["+strconv.Itoa(i)+"]", err)
		}
	}
	if err := wire.Portable(metadata, e.nesting); err != nil {
		return invalid.Below("message.metadata", err)
	}
	if err := wire.Portable(req.Metadata, e.nesting); err != nil {
		return invalid.Below("metadata", err)
	}
	return nil
}

// errNoContent refuses a part of a kind that this side does not know.
var errNoContent = &wire.Error{Reason: "has no content that is known here: a text, a file's bytes, a URL or data"}

func (e *Engine) checkPart(p *runtime.Part) error {
	if p.Kind == runtime.PartUnknown {
		return errNoContent
	}
	if err := wire.Portable(p.Data, e.nesting); err != nil {
		return wire.In(err, "data")
	}
	if err := wire.Portable(p.Metadata, e.nesting); err != nil {
		return wire.In(err, "metadata")
	}
	return nil
}
