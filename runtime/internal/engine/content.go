package engine

import (
	"slices"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// A task holds only what every version and every binding can express (decision 038), so that no reader fails on it.
// What a client sends is checked here, what a handler emits by package run.

// nestingOf returns how deep data may nest in an agent of these versions: as deep as readers of protobuf go if one of
// them is spoken over gRPC. 0: as deep as the JSON reader goes.
func nestingOf(versions []*runtime.Version) int {
	for _, v := range versions {
		if slices.ContainsFunc(v.Wires, func(w *runtime.Wire) bool { return w.Encoding == runtime.EncodingProto }) {
			return wire.MaxNesting
		}
	}
	return 0
}

// checkContent refuses a message that cannot be expressed in every binding, or that most clients cannot read. Its JSON
// is valid: a codec has read it.
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

// errNoContent refuses a part of an unknown kind.
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
