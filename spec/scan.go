package spec

import "bytes"

// token is a piece of a proto source: a word, a string or a single sign. Blanks and comments are none.
type token struct {
	start, end int32 // offsets in the source
	kind       byte  // [tokenWord], [tokenString], else the sign itself
}

const (
	tokenWord   = 'a'
	tokenString = '"'
)

// scanner cuts a proto source into tokens. It never fails: the compiler says what is wrong with a source.
type scanner struct {
	src []byte
	at  int
}

// next returns the next token, or false at the end of the source.
func (s *scanner) next() (token, bool) {
	for s.at < len(s.src) {
		start, c := s.at, s.src[s.at]
		switch {
		case c <= ' ':
			s.at++
		case c == '/' && s.follows('/'):
			s.skipPast("\n", 2)
		case c == '/' && s.follows('*'):
			s.skipPast("*/", 2)
		case c == '"' || c == '\'':
			s.skipString(c)
			return token{int32(start), int32(s.at), tokenString}, true
		case isWord(c):
			for s.at < len(s.src) && isWord(s.src[s.at]) {
				s.at++
			}
			return token{int32(start), int32(s.at), tokenWord}, true
		default:
			s.at++
			return token{int32(start), int32(s.at), c}, true
		}
	}
	return token{}, false
}

func (s *scanner) follows(c byte) bool { return s.at+1 < len(s.src) && s.src[s.at+1] == c }

// skipPast goes on behind the next end, which begins skip bytes from here or later; without one, at the end of the source.
func (s *scanner) skipPast(end string, skip int) {
	s.at += skip
	if i := bytes.Index(s.src[s.at:], []byte(end)); i >= 0 {
		s.at += i + len(end)
	} else {
		s.at = len(s.src)
	}
}

// skipString goes on behind a string, which ends with its quote or, being wrong, with its line.
func (s *scanner) skipString(quote byte) {
	for s.at++; s.at < len(s.src) && s.src[s.at] != '\n'; s.at++ {
		switch s.src[s.at] {
		case quote:
			s.at++
			return
		case '\\':
			s.at++
		}
	}
	s.at = min(s.at, len(s.src))
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// tokens returns all tokens of a source.
func tokens(src []byte) []token {
	var list []token
	s := scanner{src: src}
	for t, ok := s.next(); ok; t, ok = s.next() {
		list = append(list, t)
	}
	return list
}

// depth returns how deep braces nest in a proto source.
func depth(src []byte) int {
	level, deepest := 0, 0
	s := scanner{src: src}
	for t, ok := s.next(); ok; t, ok = s.next() {
		switch t.kind {
		case '{', '[', '<':
			level++
			deepest = max(deepest, level)
		case '}', ']', '>':
			level = max(level-1, 0)
		}
	}
	return deepest
}
