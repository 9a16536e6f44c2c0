package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// onStore makes a command work on the file of an agent.
func onStore(cmd *cobra.Command, do func(cmd *cobra.Command, f *sqlite.File, args []string,
	asJSON bool) error) *cobra.Command {
	var path, dir string
	cmd.Flags().StringVar(&path, "store", "", "the agent's `file`; default: what A2A_STORE names, else that of the project's agent")
	dirFlag(cmd, &dir)
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.check(); err != nil {
			return err
		}
		path, err := storeFile(cmd.Context(), path, dir)
		if err != nil {
			return err
		}
		f, err := sqlite.OpenFile(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(cmd, f, args, *format == formatJSON)
	}
	return cmd
}

var errNoStore = errors.New("--store FILE is missing: the agent says at its start where it keeps its tasks; in the folder of its project, or with -C, " +
	"it is known")

// storeFile returns the file of tasks: the named one, that of the environment, or that of the agent of the project in
// a folder.
func storeFile(ctx context.Context, named, dir string) (string, error) {
	if named == "" {
		named = os.Getenv(server.EnvStore)
		if named == "memory" || named == ":memory:" {
			return "", fmt.Errorf("%s is %q, which is no file: name one with --store", server.EnvStore, named)
		}
	}
	if path, _, _ := strings.Cut(named, "?"); path != "" { // settings of SQLite may follow
		return path, nil
	}
	if _, err := os.Stat(filepath.Join(dir, "agent.yaml")); err != nil {
		return "", errNoStore
	}
	out, list, err := project.Inspect(ctx, project.Options{Tool: project.ThisTool(), Dir: dir})
	switch {
	case err != nil:
		return "", err
	case out.Model == nil || out.Model.Agent == nil || list.HasErrors():
		return "", fmt.Errorf(`the project does not say where its agent keeps its tasks ("a2agen validate" says what is wrong): name the file with --store`)
	case out.Model.Agent.Store == "":
		return "", errors.New(`the agent of this project keeps its tasks in memory: "store: sqlite" in a2agen.yaml keeps them in a file; --store names another agent's`)
	}
	path := filepath.Join(dir, out.Model.Agent.Store)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is not there: the agent of this project makes it when it is started in its folder; where %s named another file, name it with --store", path, server.EnvStore)
	}
	return path, nil
}
