// Package invalid says what is wrong with the parameters of a request: errors that name the fields in question (A2A 1.0
// §3.3.2, R40).
package invalid

import (
	"errors"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Field makes an InvalidParams for one field. The description goes on with a verb: "is required".
func Field(field, description string) *runtime.Error {
	return runtime.ErrInvalidParams.With("%s %s", field, description).
		WithViolations(runtime.Violation{Field: field, Description: description})
}

// Params makes an InvalidParams of what decoding parameters found.
func Params(err error) *runtime.Error { return violations("", "", err) }

// Below is [Params] for what lies in one field of the parameters: root is the path that leads there.
func Below(root string, err error) *runtime.Error { return violations("", root, err) }

// Input makes an InvalidParams of what decoding or validating the input of a skill found (*check.Error, *wire.Error),
// with a violation for each finding. Nil stays nil.
func Input(err error) error {
	if err == nil {
		return nil
	}
	return violations("the input does not fit the skill: ", "input", err)
}

// violations makes an InvalidParams of err with a note that begins with intro. JSON pointers become field paths below
// root.
func violations(intro, root string, err error) *runtime.Error {
	var vs []runtime.Violation
	var found *check.Error
	var syntax *wire.Error
	switch {
	case errors.As(err, &found):
		for _, v := range found.Violations {
			vs = append(vs, runtime.Violation{Field: Path(root, v.Pointer), Description: v.Message})
		}
	case errors.As(err, &syntax):
		vs = append(vs, runtime.Violation{Field: Path(root, syntax.Pointer), Description: syntax.Reason})
	}
	if len(vs) == 0 {
		return runtime.ErrInvalidParams.With("%s", strings.TrimSuffix(intro, ": "))
	}
	first := strings.TrimSpace(vs[0].Field + " " + vs[0].Description)
	return runtime.ErrInvalidParams.With("%s%s", intro, first).WithViolations(vs...)
}

// Path turns a JSON pointer into a field path below root: "/message/parts/0/raw" becomes "message.parts[0].raw".
func Path(root, pointer string) string {
	var b strings.Builder
	b.WriteString(root)
	if pointer == "" {
		return b.String()
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() == 0:
			b.WriteString(token)
		default:
			b.WriteString("." + token)
		}
	}
	return b.String()
}
