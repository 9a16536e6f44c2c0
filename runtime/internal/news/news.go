// Package news tells what a whole task has more than what was known of it.
package news

import (
	"bytes"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// Artifacts returns, as artifact updates, what now has more than known: artifacts that are new or were replaced as a
// whole, and the parts that were appended to the others.
func Artifacts(known, now []runtime.ArtifactData) []runtime.ArtifactData {
	old := make(map[string][]runtime.Part, len(known))
	for _, a := range known {
		old[a.ID] = a.Parts
	}
	var news []runtime.ArtifactData
	for _, a := range now {
		had, ok := old[a.ID]
		rest, appended := newParts(had, a.Parts)
		if appended && len(rest) == 0 && ok {
			continue
		}
		if appended {
			a.Parts, a.Append = rest, ok
		}
		news = append(news, a)
	}
	return news
}

// newParts returns the parts of now behind those of had, and whether now begins with had. An agent may have joined
// chunks of text, so that texts are compared as one.
func newParts(had, now []runtime.Part) (rest []runtime.Part, appended bool) {
	if n := len(had); n <= len(now) && sameParts(had, now[:n]) {
		return now[n:], true
	}
	if !allText(had) || !allText(now) {
		return nil, false
	}
	more, ok := strings.CutPrefix(text(now), text(had))
	if !ok || more == "" {
		return nil, ok
	}
	return []runtime.Part{runtime.Text(more)}, true
}

func sameParts(a, b []runtime.Part) bool {
	for i := range a {
		x, y := a[i], b[i]
		if x.Kind != y.Kind || x.Text != y.Text || x.URL != y.URL ||
			!bytes.Equal(x.Raw, y.Raw) || !bytes.Equal(x.Data, y.Data) {
			return false
		}
	}
	return true
}

func allText(parts []runtime.Part) bool {
	for _, p := range parts {
		if p.Kind != runtime.PartText {
			return false
		}
	}
	return true
}

// text joins texts.
func text(parts []runtime.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
