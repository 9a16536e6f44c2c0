package route

import (
	"mime"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// CheckModes refuses what does not fit the media types of the skill, before it begins to work: files of a type that it does
// not declare, and a client that accepts nothing of what the skill gives. Text and data are always tried: a skill that says
// it takes JSON can still be used by a chat client. JSON counts as text, too (R301).
func (s *Skill) CheckModes(parts []runtime.Part, accepted []string) error {
	for i := range parts {
		p := &parts[i]
		if p.Kind != runtime.PartRaw && p.Kind != runtime.PartURL || p.MediaType == "" {
			continue
		}
		if !Accepts(s.InputModes, p.MediaType) {
			const text = "part %d has type %.100q, but the skill %s takes %s"
			return runtime.ErrContentTypeNotSupported.
				With(text, i, p.MediaType, s.ID, strings.Join(s.InputModes, ", ")).
				WithMetadata("mediaType", p.MediaType)
		}
	}
	if len(accepted) == 0 || len(s.OutputModes) == 0 {
		return nil
	}
	for _, mode := range s.OutputModes {
		given := []string{mode}
		isJSON := Accepts(given, runtime.MediaJSON)
		if Accepts(accepted, mode) || isJSON && Accepts(accepted, runtime.MediaText) ||
			slices.ContainsFunc(accepted, func(wish string) bool { return Accepts(given, wish) }) {
			return nil
		}
	}
	return runtime.ErrContentTypeNotSupported.With("the client accepts %.200s, but the skill %s gives %s",
		strings.Join(accepted, ", "), s.ID, strings.Join(s.OutputModes, ", "))
}

// takes reports whether the skill's input modes cover all parts. A skill without input modes takes anything.
func (s *Skill) takes(parts []runtime.Part) bool {
	for i := range parts {
		if !Accepts(s.InputModes, mediaOf(&parts[i])) {
			return false
		}
	}
	return true
}

// Accepts reports whether a list of media types covers one. An empty list accepts everything, as does "*/*"; "image/*"
// accepts images. The names of 0.1, "text" and "data", are understood. A part of unknown type is accepted.
func Accepts(modes []string, media string) bool {
	if len(modes) == 0 || media == "" {
		return true
	}
	media = BareMedia(media)
	for _, m := range modes {
		switch m = BareMedia(m); {
		case m == media, m == "*/*":
			return true
		case m == "text" && media == runtime.MediaText, m == "data" && media == runtime.MediaJSON:
			return true
		case strings.HasSuffix(m, "/*") && strings.HasPrefix(media, m[:len(m)-1]):
			return true
		}
	}
	return false
}

// BareMedia drops the parameters of a media type and lowers its case.
func BareMedia(m string) string {
	if !strings.Contains(m, ";") && strings.ToLower(m) == m {
		return strings.TrimSpace(m)
	}
	if parsed, _, err := mime.ParseMediaType(m); err == nil {
		return parsed
	}
	return strings.ToLower(strings.TrimSpace(m))
}

// mediaOf returns a part's media type; text and data have theirs without saying. "" is unknown.
func mediaOf(p *runtime.Part) string {
	switch {
	case p.MediaType != "":
		return p.MediaType
	case p.Kind == runtime.PartText:
		return runtime.MediaText
	case p.Kind == runtime.PartData:
		return runtime.MediaJSON
	}
	return ""
}

// dataOf returns the first data part's value.
func dataOf(parts []runtime.Part) []byte {
	for i := range parts {
		if parts[i].Kind == runtime.PartData {
			return parts[i].Data
		}
	}
	return nil
}

// TextOf joins the text parts with line breaks.
func TextOf(parts []runtime.Part) string {
	var first string
	n := 0
	for i := range parts {
		if parts[i].Kind == runtime.PartText {
			if n == 0 {
				first = parts[i].Text
			}
			n++
		}
	}
	if n <= 1 {
		return first
	}
	texts := make([]string, 0, n)
	for i := range parts {
		if parts[i].Kind == runtime.PartText {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, "\n")
}
