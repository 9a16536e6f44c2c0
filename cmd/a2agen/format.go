package main

import (
	"bytes"
	"encoding/json"
	"errors"

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
	cmd.Flags().Var(&f, "output", "the `format` of the result: text or json")
	oneOf(cmd, "output", string(formatText), string(formatJSON))
	renamed(cmd, "format", "output")
	return &f
}

func (f *formatName) String() string { return string(*f) }

// Type is that of a flag which shells complete by words.
func (f *formatName) Type() string { return "string" }

// Set rejects what is no format.
func (f *formatName) Set(word string) error {
	if *f = formatName(word); *f != formatText && *f != formatJSON {
		return errors.New("write text or json")
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
