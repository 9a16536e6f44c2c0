package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// formatName is the value of --output.
type formatName string

// The formats.
const (
	formatText formatName = "text"
	formatJSON formatName = "json"
)

// formatFlag adds --output.
func formatFlag(cmd *cobra.Command) *formatName {
	f := formatText
	cmd.Flags().StringVar((*string)(&f), "output", string(formatText), "how the result is printed: `text` or json")
	oneOf(cmd, "output", string(formatText), string(formatJSON))
	renamed(cmd, "format", "output")
	return &f
}

func (f formatName) check() error {
	if f != formatText && f != formatJSON {
		return fmt.Errorf("--output %q: write text or json", string(f))
	}
	return nil
}

// printJSON prints a value as indented JSON.
func printJSON(cmd *cobra.Command, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := b.WriteTo(cmd.OutOrStdout())
	return err
}
