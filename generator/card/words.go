package card

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inWords returns a title for an id: "get_forecast" gives "Get forecast".
func inWords(id string) string {
	words := strings.FieldsFunc(id, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return id
	}
	title := strings.Join(words, " ")
	first, size := utf8.DecodeRuneInString(title)
	return string(unicode.ToUpper(first)) + title[size:]
}

var errNoFiles = errors.New("a card from elsewhere cannot name files")

func noFiles(string) ([]byte, error) { return nil, errNoFiles }
