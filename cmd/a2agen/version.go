package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/spec"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Hidden:  true,
		Short:   "Print the version of a2agen, and the A2A versions it knows",
		Example: "  a2agen version",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := project.ThisTool()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "a2agen %s%s\nA2A %s\n%s %s/%s\n",
				t.Version, revision(t), strings.Join(spec.Versions(), ", "), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// revision returns the commit that an unreleased tool was built from, if the build has it.
func revision(t project.Tool) string {
	if t.Info == nil {
		return ""
	}
	var commit, dirty string
	for _, s := range t.Info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = " " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", modified"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}
