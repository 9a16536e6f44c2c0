package signedcard

import (
	"fmt"
	"strings"
)

// problem is one of the errors of this package, with what is wrong in particular and what to do.
type problem struct {
	kind error
	text string
	err  error // nil: there is none
}

func (p *problem) Error() string { return p.kind.Error() + ": " + p.text }

// Unwrap returns the error of the package and the cause.
func (p *problem) Unwrap() []error {
	if p.err == nil {
		return []error{p.kind}
	}
	return []error{p.kind, p.err}
}

func invalid(err error) error { return &problem{ErrInvalid, err.Error(), err} }

func noKeys(err error) error {
	return &problem{ErrNoKeys, err.Error() + "; nothing is known of the card until they are there", err}
}

func unsigned() error {
	return &problem{kind: ErrUnsigned, text: `signatures are demanded here: ask its publisher to sign it ("a2agen ` +
		`card sign"), or do not demand them`}
}

// notVerified is the error of a card whose signatures were all refused, each for a reason.
func notVerified(strict bool, reasons []error, more int) error {
	var b strings.Builder
	for i, reason := range reasons {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "signature %d: %v", i+1, reason)
	}
	if more > 0 {
		fmt.Fprintf(&b, "; %d more were not tried", more)
	}
	b.WriteString(". The card was changed after it was signed, or its keys are not the ones given: get them from " +
		"the publisher by a way that you trust")
	if strict {
		b.WriteString("; without strict, the forms that the SDKs sign are tried too")
	}
	return &problem{kind: ErrNotVerified, text: b.String()}
}
