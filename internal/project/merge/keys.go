package merge

import (
	"regexp"
	"slices"
	"strings"
)

// Keys brings what theirs has more than base into ours, where all three are YAML with a mapping at the top: new keys with their comments, and
// comments that ours has not changed. What a key says in ours stays, so that there is nothing to decide.
func Keys(base, ours, theirs []byte) []byte {
	ours, crlf := unix(ours)
	base, _ = unix(base)
	theirs, _ = unix(theirs)
	was, mine, new := sections(base), sections(ours), sections(theirs)
	after := 0 // where the next new key goes
	for _, s := range new {
		old := find(was, s.key)
		at := find(mine, s.key)
		switch {
		case at >= 0:
			if old >= 0 && mine[at].comment == was[old].comment {
				mine[at].comment = s.comment
			}
			after = at + 1
		case old < 0 && s.key != "":
			mine = slices.Insert(mine, after, s)
			after++
		}
	}
	var b strings.Builder
	for i, s := range mine {
		b.WriteString(s.comment + s.text)
		if i < len(mine)-1 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteString("\n")
		}
	}
	merged := b.String()
	if crlf {
		merged = strings.ReplaceAll(merged, "\n", "\r\n")
	}
	return []byte(merged)
}

// section is a key at the top of a YAML file: the comment above it, and its lines. What is in front of the first blank line, if no key
// is, is a section without a key.
type section struct{ key, comment, text string }

var topKey = regexp.MustCompile(`^["']?([A-Za-z_][\w-]*)["']?\s*:`)

func sections(text []byte) (list []section) {
	next := section{}
	for _, line := range lines(text) {
		m := topKey.FindStringSubmatch(line)
		switch {
		case m != nil:
			list = append(list, section{m[1], next.comment, line})
			next = section{}
		case strings.TrimSpace(line) == "" && len(list) == 0:
			list = append(list, section{"", next.comment + line, ""})
			next = section{}
		case strings.HasPrefix(line, "#"), strings.TrimSpace(line) == "":
			next.comment += line
		case len(list) > 0: // it goes on with the key above
			last := &list[len(list)-1]
			last.text += next.comment + line
			next = section{}
		default:
			next.comment += line
		}
	}
	if next.comment != "" && len(list) > 0 {
		list[len(list)-1].text += next.comment
	} else if next.comment != "" {
		list = append(list, next)
	}
	return list
}

func find(list []section, key string) int {
	return slices.IndexFunc(list, func(s section) bool { return s.key == key })
}
