package disk

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/a2agen/a2agen/generator/output"
)

// AllowHeaderless names the owned files that have no header: those that cannot have one. What the lock lists beside
// them, and that has no header, is not the tool's, whoever wrote the lock.
func (p *Project) AllowHeaderless(is func(name string) bool) { p.headerless = is }

// Replace has the next plan rewrite a generated file, whatever is in it by now: somebody has asked for just that.
func (p *Project) Replace(name string) { p.replaced = name }

// tools reports whether a file is of a kind that is the tool's, whatever the lock says.
func (p *Project) tools(name string, data []byte) bool {
	return output.Headed(data) || p.headerless != nil && p.headerless(name)
}

// disposable reports whether a file that is no longer generated may be deleted with force, though it was edited.
func (p *Project) disposable(name string, data []byte) bool {
	return p.tools(name, data) || strings.HasSuffix(name, ".gen.go")
}

// recognises reports whether data is what this tool once wrote at the path.
func (p *Project) recognises(name string, data []byte) bool {
	if !p.tools(name, data) {
		return false
	}
	if p.replaced != "" && name == p.replaced {
		return true
	}
	sum := output.Digest(data)
	return p.lock.Files[name] == sum || p.lock.theirs[name] == sum || p.staged != nil && p.staged.Files[name] == sum
}

// unsure reports whether the lock cannot tell if somebody edited the file: it is gone, or two branches that both
// generated the file met in a merge.
func (p *Project) unsure(name string) bool {
	return p.lock.Tool == "" || p.lock.theirs[name] != ""
}

var conflictMarker = regexp.MustCompile(`(?m)^(<{7}|>{7})( |$)`)

// longLine is the length from which a line counts as data rather than as code, in bytes: no person edits a card in
// the middle of a string, but every skill changes it.
const longLine = 300

// expendable reports whether writing now in the place of old loses no line that somebody wrote: old is a merge with
// conflicts, or all its lines are in now as well, whatever their indentation.
func expendable(old, now []byte) bool {
	if conflictMarker.Match(old) {
		return true
	}
	written := map[string]bool{}
	for line := range bytes.Lines(now) {
		written[strings.Join(strings.Fields(string(line)), " ")] = true
	}
	for line := range bytes.Lines(old) {
		if len(line) < longLine && !written[strings.Join(strings.Fields(string(line)), " ")] {
			return false
		}
	}
	return true
}
