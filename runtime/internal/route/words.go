package route

import (
	"strings"
	"unicode"
)

// vocabulary weighs the words of a skill: tags most, then name and id, then examples.
type vocabulary map[string]float64

// Weights of the places a word can stand in.
const (
	tagWeight     = 3
	nameWeight    = 2
	exampleWeight = 1
)

func newVocabulary(def *Skill) vocabulary {
	v := vocabulary{}
	add := func(text string, weight float64) {
		for _, w := range words(text) {
			v[w] = max(v[w], weight)
		}
	}
	for _, t := range def.Tags {
		add(t, tagWeight)
	}
	add(def.Name, nameWeight)
	add(def.ID, nameWeight)
	for _, e := range def.Examples {
		add(e, exampleWeight)
	}
	return v
}

// byWords finds the skill whose words the text shares most. A word that several skills have counts less for each. A
// draw is no match.
func (k *Catalog) byWords(text string) *Skill {
	if text == "" {
		return nil
	}
	best, draw := -1, false
	scores := make([]float64, len(k.skills))
	k.score(text, scores)
	for i, score := range scores {
		switch {
		case score == 0:
		case best < 0 || score > scores[best]:
			best, draw = i, false
		case score == scores[best]:
			draw = true
		}
	}
	if best < 0 || draw {
		return nil
	}
	return k.skills[best]
}

// score sets for each skill how much the words count that it shares with a text.
func (k *Catalog) score(text string, scores []float64) {
	seen := map[string]bool{}
	for _, w := range words(text) {
		if seen[w] {
			continue
		}
		seen[w] = true
		having := k.having(w)
		for i, s := range k.skills {
			if having > 0 {
				scores[i] += s.words[w] / float64(having)
			}
		}
	}
}

// having returns how many skills have a word.
func (k *Catalog) having(w string) (n int) {
	for _, s := range k.skills {
		if s.words[w] > 0 {
			n++
		}
	}
	return n
}

// maxMatch is how much of a text is looked at, in bytes.
const maxMatch = 4 << 10

// words splits text into lower-case words without plural endings and without words that say nothing. Scripts that put
// no spaces between words give pairs of characters.
func words(text string) []string {
	if len(text) > maxMatch {
		text = strings.ToValidUTF8(text[:maxMatch], "")
	}
	var out []string
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, field := range strings.FieldsFunc(splitCamel(text), between) {
		runes := []rune(strings.ToLower(field))
		if unspaced(runes[0]) {
			for i := 0; i+1 < len(runes); i++ {
				out = append(out, string(runes[i:i+2]))
			}
			continue
		}
		if w := stem(string(runes)); len(runes) > 1 && !stopWords[w] {
			out = append(out, w)
		}
	}
	return out
}

// splitCamel puts a space where a lower-case letter meets an upper-case one, as in skill ids.
func splitCamel(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	var last rune
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// unspaced reports whether r belongs to a script written without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// stem removes the commonest English endings, enough for "routes" to find "route" and "planning" to find "plan".
func stem(w string) string {
	switch {
	case len(w) > 5 && strings.HasSuffix(w, "ning"):
		return strings.TrimSuffix(w[:len(w)-3], "n")
	case len(w) > 5 && strings.HasSuffix(w, "ing"):
		return w[:len(w)-3]
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// stopWords are words that say nothing about which skill is meant.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a about all am an and any are as at be by can could do does for from get give have how i
		if in into is it its let like make me my need no not of on or our out please show so some tell that
		the then there these this thi to up us use want was we what
		when where which who will with would you your`) {
		m[w] = true
	}
	return m
}()
