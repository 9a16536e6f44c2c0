package spec

import "bytes"

// as2023 returns a proto source of edition 2024 as one of 2023, which is the newest that the compiler knows; any other source
// as it is. What 2024 has besides is about names and who sees them and has no effect on any wire. It is blanked out, so that
// places stay where they are.
func as2023(src []byte) []byte {
	s := scanner{src: src}
	var head [4]token // edition = "2024" ;
	for i := range head {
		head[i], _ = s.next()
	}
	if e := (edition{src: src, tokens: head[:]}); !e.is(0, "edition", "=", "2024", ";") {
		return src
	}
	e := edition{src: bytes.Clone(src), tokens: tokens(src)}
	copy(e.src[head[2].start+1:], "2023")
	e.statements()
	return e.src
}

// edition blanks out what a source of edition 2024 has and one of 2023 has not.
type edition struct {
	src    []byte
	tokens []token
}

// features2024 are the features that came with edition 2024.
var features2024 = []string{"enforce_naming_style", "default_symbol_visibility"}

func (e *edition) statements() {
	begins := true // whether a statement begins at token i
	for i, t := range e.tokens {
		if begins {
			e.statement(i)
		}
		switch t.kind {
		case '[':
			e.options(i)
		case '{':
			if e.isWord(i-2, "features") && e.isSign(i-1, '=') {
				e.literal(i)
			}
		}
		begins = t.kind == ';' || t.kind == '{' || t.kind == '}'
	}
}

// statement blanks out the words of the statement at token i that only 2024 has.
func (e *edition) statement(i int) {
	switch {
	case e.isWord(i, "export", "local") && e.isWord(i+1, "message", "enum") && e.kind(i+2) == tokenWord:
		e.blank(i, i)
	case e.isWord(i, "import") && e.isWord(i+1, "option") && e.kind(i+2) == tokenString:
		e.blank(i+1, i+1)
	case e.isWord(i, "option") && e.isFeature(i+1) && e.isSign(i+6, ';'):
		e.blank(i, i+6)
	}
}

// options blanks out the features of 2024 in the list of options that opens at token open, each with a comma, and the brackets
// where nothing is left in them.
func (e *edition) options(open int) {
	kept, level := 0, 0
	for i, first := open+1, open+1; i < len(e.tokens); i++ {
		switch kind := e.kind(i); {
		case level > 0 && (kind == '}' || kind == ']'):
			level--
		case kind == '{' || kind == '[':
			level++
		case level == 0 && (kind == ',' || kind == ']'):
			last := kind == ']'
			switch feature := e.isFeature(first) && first+5 == i; {
			case feature && kept > 0:
				e.blank(first-1, i-1)
			case feature && last:
				e.blank(open, i)
			case feature:
				e.blank(first, i)
			default:
				kept++
			}
			if last {
				return
			}
			first = i + 1
		}
	}
}

// literal blanks out the features of 2024 in the message that opens at token open: features = {enforce_naming_style: STYLE2024}.
func (e *edition) literal(open int) {
	for i := open + 1; i < len(e.tokens) && e.kind(i) != '}'; i++ {
		if e.isWord(i, features2024...) && e.isSign(i+1, ':') && e.kind(i+2) == tokenWord {
			end := i + 2
			if e.isSign(i+3, ',') || e.isSign(i+3, ';') {
				end++
			}
			e.blank(i, end)
		}
	}
}

// isFeature reports whether a feature of 2024 is set at token i: features.enforce_naming_style = STYLE2024.
func (e *edition) isFeature(i int) bool {
	return e.is(i, "features", ".") && e.isWord(i+2, features2024...) && e.isSign(i+3, '=') && e.kind(i+4) == tokenWord
}

// is reports whether the tokens from i on are these; a string may be in either quotes.
func (e *edition) is(i int, texts ...string) bool {
	for k, text := range texts {
		got := e.text(i + k)
		if e.kind(i+k) == tokenString && len(got) >= 2 {
			got = got[1 : len(got)-1]
		}
		if string(got) != text {
			return false
		}
	}
	return true
}

func (e *edition) isWord(i int, words ...string) bool {
	if e.kind(i) != tokenWord {
		return false
	}
	for _, w := range words {
		if string(e.text(i)) == w {
			return true
		}
	}
	return false
}

func (e *edition) isSign(i int, sign byte) bool { return e.kind(i) == sign }

// kind returns the kind of token i, 0 where there is none.
func (e *edition) kind(i int) byte {
	if i < 0 || i >= len(e.tokens) {
		return 0
	}
	return e.tokens[i].kind
}

func (e *edition) text(i int) []byte {
	if e.kind(i) == 0 {
		return nil
	}
	return e.src[e.tokens[i].start:e.tokens[i].end]
}

// blank overwrites the tokens from first to last, and what is between them, with blanks; lines stay.
func (e *edition) blank(first, last int) {
	for i := e.tokens[first].start; i < e.tokens[last].end; i++ {
		if e.src[i] != '\n' {
			e.src[i] = ' '
		}
	}
}
