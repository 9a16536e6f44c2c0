package store

import "github.com/a2agen/a2agen/runtime"

// About how long the parts of JSON are that have no content of their own: names, ids and punctuation.
const (
	messageFrame  = 256
	artifactFrame = 128
	partFrame     = 32
)

// SizeOfParts is the size of parts on their own, as a chunk brings them.
func SizeOfParts(parts []runtime.Part) Size {
	s := Size{Parts: len(parts)}
	for i := range parts {
		p := &parts[i]
		s.Bytes += partFrame + len(p.Text) + (len(p.Raw)+2)/3*4 + len(p.URL) + len(p.Data) + len(p.Filename) + len(p.MediaType) + len(p.Metadata)
	}
	return s
}

// SizeOfArtifact is the size of an artifact update: of a chunk, only that of its parts.
func SizeOfArtifact(a *runtime.ArtifactData) Size {
	s := SizeOfParts(a.Parts)
	if !a.Append {
		s.Bytes += artifactFrame + len(a.ID) + len(a.Name) + len(a.Description) + len(a.Metadata) + sizeOfList(a.Extensions)
	}
	return s
}

// SizeOfMessage is the size of a message with its parts.
func SizeOfMessage(m runtime.Message, parts []runtime.Part) Size {
	s, info := SizeOfParts(parts), m.MessageInfo()
	s.Bytes += messageFrame + len(info.ID) + len(info.ContextID) + len(info.TaskID) + len(info.Metadata) + sizeOfList(info.Extensions) + sizeOfList(info.References)
	return s
}

// SizeOf is the size of what an update adds to its task. It copies the heads of the parts: who has them at hand is
// faster with the functions above.
func SizeOf(e runtime.Event, messages []runtime.Message) (s Size) {
	switch e := e.(type) {
	case runtime.ArtifactUpdate:
		a := e.ArtifactUpdate()
		s = SizeOfArtifact(&a)
	case runtime.StatusUpdate:
		if m := e.StatusMessage(); m != nil {
			s = SizeOfMessage(m, m.Contents())
		}
	}
	for _, m := range messages {
		s = s.plus(SizeOfMessage(m, m.Contents()))
	}
	return s
}

func sizeOfList(list []string) int {
	n := 16 * len(list)
	for _, s := range list {
		n += len(s)
	}
	return n
}

func (s Size) plus(o Size) Size { return Size{s.Bytes + o.Bytes, s.Parts + o.Parts} }
