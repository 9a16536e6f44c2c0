package lower

import (
	"fmt"
	"slices"
	"strings"
)

// Classes are the classes of [Aligned], in the order of how much they change.
var Classes = []string{"same", "renamed", "constant", "derived", "hook", "absent", "framing"}

// AlignedVersions returns the versions that have an alignment, newest first.
func AlignedVersions() []string {
	files, _ := alignmentFiles.ReadDir("align") // embedded
	var versions []string
	for _, f := range files {
		if version := strings.TrimSuffix(strings.TrimPrefix(f.Name(), "v"), ".txt"); !strings.Contains(version, "-") { // else of another encoding
			versions = append(versions, version)
		}
	}
	slices.Reverse(versions)
	return versions
}

// Loss is something that does not survive a wire, in words: on reading, it is in what older peers send and not in the hub;
// on writing, it is in the hub and not in what older peers get.
type Loss struct {
	Reading bool   `json:"reading"`
	What    string `json:"what"`
}

// Aligned is one thing of either side and what becomes of it.
type Aligned struct {
	// Class is one of [Classes]. "framing" is what JSON-RPC has around the protocol.
	Class string `json:"class"`
	Old   string `json:"old,omitempty"` // empty: only the hub has it
	Hub   string `json:"hub,omitempty"` // empty: only the older version has it
	// How is the hook, the constant, or for what is absent "drop" or "error".
	How string `json:"how,omitempty"`
}

// Alignment is how an older version relates to the hub.
type Alignment struct {
	Version string         `json:"version"`
	Hub     string         `json:"hub"`    // the version that it is compared with
	Counts  map[string]int `json:"counts"` // by class
	Hooks   []string       `json:"hooks"`
	Things  []Aligned      `json:"things"`
	Losses  []Loss         `json:"losses"`
}

// AlignmentOf reports the alignment of a version, or of one of [AlignedProtos], with the hub.
func AlignmentOf(version string) (*Alignment, error) {
	a, ok, err := tableOf(version)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("version %s has no alignment: there are %s", version, strings.Join(append(AlignedVersions(), AlignedProtos()...), ", "))
	}
	return a.report(version, hubVersion), nil
}

// report says what the table says.
func (a *alignment) report(version, hub string) *Alignment {
	r := newReport(version, hub)
	r.Losses = a.losses
	for _, o := range a.operations {
		r.operation(o)
	}
	for _, old := range a.envelopes {
		r.add("framing", old, "", "")
	}
	for _, old := range a.open {
		r.add("same", old, "string", "")
	}
	for _, t := range a.types {
		r.aType(t)
	}
	return r.Alignment
}

func newReport(version, hub string) *report {
	return &report{Alignment: &Alignment{Version: version, Hub: hub, Counts: map[string]int{}}, hooks: map[string]bool{}}
}

// report collects an [Alignment].
type report struct {
	*Alignment
	hooks map[string]bool
}

func (r *report) add(class, old, hub, how string) {
	r.Things = append(r.Things, Aligned{Class: class, Old: old, Hub: hub, How: how})
	r.Counts[class]++
	if (class == "hook" || class == "derived") && !r.hooks[how] {
		r.hooks[how] = true
		r.Hooks = append(r.Hooks, how)
	}
}

// named is "same" or "renamed".
func named(old, hub string) string {
	if old == hub {
		return "same"
	}
	return "renamed"
}

func (r *report) operation(o *alignedOperation) {
	if o.rpc == "" {
		r.add("absent", "", o.hub, o.how)
		return
	}
	for _, rpc := range append([]string{o.rpc}, o.aliases...) {
		r.add(named(rpc, o.hub), rpc, o.hub, "")
	}
}

func (r *report) aType(t *alignedType) {
	switch t.kind {
	case "absent":
		r.add("absent", "", t.hub, t.arg)
	case "bare":
		r.add("renamed", "", t.hub, "the value of "+t.arg)
	case "through":
		r.add("renamed", "", t.hub, "its fields stand one level higher")
	case "type", "covered":
		for _, old := range t.olds {
			r.add("hook", old, t.hub, t.arg)
		}
	default:
		r.add(named(t.old, t.hub), t.old, t.hub, "")
	}
	for _, line := range t.lines {
		r.line(t, line)
	}
}

func (r *report) line(t *alignedType, line *alignedLine) {
	old, hub := t.old+"."+line.name, t.hub+"."+line.target
	switch line.class {
	case "absent":
		r.add("absent", "", t.hub+"."+line.name, line.value)
	case "drop":
		r.add("absent", old, "", "drop")
	case "const":
		r.add("constant", old, "", line.value)
	case "nested":
		r.add("renamed", old, t.hub, "nested")
	case "derive":
		r.add("derived", old, hub, line.hook)
	case "hook", "pair":
		r.add("hook", old, hub, line.hook)
	case "same":
		r.add("same", old, t.hub+"."+line.name, "")
	case "renamed", "choice":
		r.add("renamed", old, hub, "")
	case "enum":
		if line.name != "otherwise" {
			r.add(named(line.name, line.target), old, hub, "")
		}
	}
}
