package server

import (
	"strings"
	"testing"
)

func TestTheEnvironmentSaysWhatIsLogged(t *testing.T) {
	for words, want := range map[string]string{
		"":             "level=INFO level=WARN",
		"text":         "level=INFO level=WARN",
		"debug":        "level=DEBUG level=INFO level=WARN",
		"WARN":         "level=WARN",
		"json":         `"level":"INFO" "level":"WARN"`,
		" json, debug": `"level":"DEBUG" "level":"INFO" "level":"WARN"`,
		"loud":         "level=WARN level=INFO level=WARN", // which says so
	} {
		var out strings.Builder
		log := newLogger(&out, words)
		log.Debug("x")
		log.Info("x")
		log.Warn("x")
		var got []string
		for line := range strings.Lines(out.String()) {
			for _, field := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' }) {
				if strings.Contains(field, "level") && !strings.Contains(field, "msg") {
					got = append(got, field)
				}
			}
		}
		if strings.Join(got, " ") != want || strings.Contains(out.String(), "word=loud") != (words == "loud") {
			t.Errorf("%q: %s", words, &out)
		}
	}
}
