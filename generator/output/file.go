// Package output writes a generated project to disk: it is the only writer.
package output

// Kind says who owns a file.
type Kind int

// The kinds of file.
const (
	// Owned files are the tool's: always rewritten, deleted when no longer generated.
	Owned Kind = iota
	// Scaffold files are the user's: written once if absent and never touched again.
	Scaffold
	// Merged files are scaffold files that are there and that an update of the scaffold rewrites: the user's text with the
	// tool's changes merged in.
	Merged
)

// File is one file of the project, in memory.
type File struct {
	Path string // slash-separated, relative to the project
	Kind Kind
	Data []byte
	// Base is, for a merged file, what the tool alone would write now: the base of the next merge. A scaffold file is its
	// own base.
	Base []byte
	// NoBase marks a file of the user's that the tool never renders again, such as agent.yaml: nothing is kept to merge from.
	NoBase bool
}
