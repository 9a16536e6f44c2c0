package conform_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/testkit/conform"
)

func TestAMistakeInAContractIsNamedWithItsMember(t *testing.T) {
	for src, want := range map[string][3]string{
		`{"ask": {"text": 3, "answer": "b"}}`:     {"ask", "text", "text of ask must be a text: it has the JSON type number"},
		`{"ask": {"text": "a", "answer": ["b"]}}`: {"ask", "answer", "answer of ask must be a text: it has the JSON type array"},
		`{"stream": {"data": "x"}}`:               {"stream", "data", "data of stream must be an object: it has the JSON type string"},
		`{"long": 3}`:                             {"long", "", "long is a text or an object with text, data, metadata and answer: it has the JSON type number"},
		`{"ask": {"text": "a", "answr": "b"}}`:    {"ask", "answr", `unknown field "answr"`},
		`{"ask": {"text": "a"}}`:                  {"ask", "", "ask has no answer"},
		`{"text": {}}`:                            {"text", "", "neither a text nor data"},
		`[]`:                                      {"", "", "it is no object"},
	} {
		_, err := conform.ParseContract([]byte(src))
		var wrong *conform.ContractError
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if wrong.Step != want[0] || wrong.Member != want[1] || !strings.Contains(wrong.Text, want[2]) {
			t.Errorf("%s: %+v, want %q", src, wrong, want)
		}
	}
}
