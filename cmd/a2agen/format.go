package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// formatName is the value of --format.
type formatName string

// The formats.
const (
	formatText formatName = "text"
	formatJSON formatName = "json"
)

// formatFlag adds --format.
func formatFlag(cmd *cobra.Command) *formatName {
	f := formatText
	cmd.Flags().StringVar((*string)(&f), "format", string(formatText), "`text` or json")
	oneOf(cmd, "format", string(formatText), string(formatJSON))
	return &f
}

func (f formatName) check() error {
	if f != formatText && f != formatJSON {
		return fmt.Errorf("--format %q: write text or json", string(f))
	}
	return nil
}
