package runtime

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/a2agen/a2agen/runtime/wire"
)

// SkillsExtension is the URI of our extension: the schemas of the skills in the card, the called skill and its result
// in metadata. docs/extensions/skills-v1.md is its specification; a breaking change gets a new URI (R86).
const SkillsExtension = "https://github.com/a2agen/a2agen/extensions/skills/v1"

// FormerSkillsExtension is the URI that the same extension had first. It is read wherever SkillsExtension is, and
// written only to an agent whose card declares no other.
const FormerSkillsExtension = "https://a2agen.dev/extensions/skills/v1"

// RepeatWindow is how long an agent knows a message by its idempotency key, unless it is told otherwise.
const RepeatWindow = 24 * time.Hour

// IsSkillsExtension reports whether uri is the present or the former URI of the skills extension.
func IsSkillsExtension(uri string) bool {
	return uri == SkillsExtension || uri == FormerSkillsExtension
}

// ResultArtifact is the id of the artifact that holds a skill's result.
const ResultArtifact = "result"

// Media types of parts that are not files.
const (
	MediaText = "text/plain"
	MediaJSON = "application/json"
)

// Text makes a text part.
func Text(s string) Part { return Part{Kind: PartText, Text: s} }

// Data makes a data part of any value that encodes as JSON; raw JSON ([wire.Value], [wire.Object], [json.RawMessage])
// is taken as it is. A value that does not encode gives a part of kind PartUnknown whose Text says why; sending it is
// an error.
func Data(v any) Part {
	raw, err := rawJSON(v)
	if err != nil {
		return Part{Kind: PartUnknown, Text: err.Error()}
	}
	return Part{Kind: PartData, Data: raw, MediaType: MediaJSON}
}

// File makes a part that holds a file's content.
func File(name, mediaType string, content []byte) Part {
	return Part{Kind: PartRaw, Raw: content, Filename: name, MediaType: mediaType}
}

// Link makes a part that points to a file by its URL.
func Link(name, mediaType, url string) Part {
	return Part{Kind: PartURL, URL: url, Filename: name, MediaType: mediaType}
}

// Metadata makes metadata of any value that encodes as a JSON object. Sending what does not is an error.
func Metadata(v any) wire.Object {
	raw, err := rawJSON(v)
	if err != nil {
		raw, _ = rawJSON(err.Error())
	}
	return wire.Object(raw)
}

func rawJSON(v any) (wire.Value, error) {
	switch v := v.(type) {
	case wire.Value:
		return v, nil
	case wire.Object:
		return wire.Value(v), nil
	case json.RawMessage:
		return wire.Value(v), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return wire.Value(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
