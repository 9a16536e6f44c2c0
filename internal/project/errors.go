package project

import (
	"fmt"

	"github.com/a2agen/a2agen/generator/diag"
)

// InvalidError is the error of a run that was stopped by diagnostics.
type InvalidError struct{ List diag.List }

// Error counts the problems; the list itself is printed apart.
func (e *InvalidError) Error() string {
	n := 0
	for _, d := range e.List {
		if d.Severity == diag.Error {
			n++
		}
	}
	if n == 1 {
		return "1 error; nothing was written"
	}
	return fmt.Sprintf("%d errors; nothing was written", n)
}

// NotEmptyError says that the folder of a new project is not empty.
type NotEmptyError struct{ Dir string }

// Error names the folder and the way out.
func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s is not empty (give another folder, or --add to add the missing files; existing ones stay as they are)", e.Dir)
}

// ArgumentError is an invalid argument of a command.
type ArgumentError struct{ Err error }

// Error is the reason.
func (e *ArgumentError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *ArgumentError) Unwrap() error { return e.Err }

func badArgument(format string, args ...any) error {
	return &ArgumentError{fmt.Errorf(format, args...)}
}

// NoModuleError says that neither a folder nor one above has a go.mod.
type NoModuleError struct{ Dir string }

// Error names the folder and the ways out.
func (e *NoModuleError) Error() string {
	return fmt.Sprintf(`there is no go.mod in %s or above ("a2agen init" makes a new project; "go mod init PATH" makes this folder a module)`, e.Dir)
}
