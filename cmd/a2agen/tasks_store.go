package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/admin"
	"github.com/a2agen/a2agen/runtime/store/postgres"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// storeKind is a kind of store that "a2agen tasks" works on.
type storeKind struct {
	pkg   string // the package by which agents open it
	takes func(address string) bool
	open  func(ctx context.Context, address string) (admin.Store, error)
	// whole opens a store that no agent uses, to copy or to fill it; fresh: it is made if it is not there.
	whole func(ctx context.Context, address string, fresh bool) (whole, error)
	// find returns the address in the folder of a project whose agent has the given one.
	find func(dir, address string) (string, error)
	// migrate makes the steps that the tables lack, unless it is only to plan them; nil: the agent does that alone.
	migrate func(ctx context.Context, address string, plan bool) ([]postgres.Step, error)
}

// storeKinds are all of them. An address is that of the first which takes it.
var storeKinds = []storeKind{
	{
		pkg: "runtime/store/postgres", takes: postgres.IsAddress, open: openServer, whole: wholeServer, migrate: migrateServer,
		find: func(_, _ string) (string, error) { return "", nil }, // libpq's variables say it
	},
	{pkg: "runtime/store/sqlite", takes: sqlite.IsPath, open: openFile, whole: wholeFile, find: findFile},
}

func openFile(_ context.Context, path string) (admin.Store, error) {
	path, _, _ = strings.Cut(path, "?") // settings of SQLite
	f, err := sqlite.OpenFile(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func openServer(ctx context.Context, address string) (admin.Store, error) {
	s, err := postgres.OpenAdmin(ctx, address)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func migrateServer(ctx context.Context, address string, plan bool) ([]postgres.Step, error) {
	steps, err := postgres.Plan(ctx, address)
	if err == nil && !plan && len(steps) > 0 {
		err = postgres.Migrate(ctx, address)
	}
	return steps, err
}

func findFile(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is not there: the agent of this project makes it when it is started in its folder; where %s named another file, name it with --store", path, server.EnvStore)
	}
	return path, nil
}

// onStore makes a command work on the store of an agent.
func onStore(cmd *cobra.Command, do func(cmd *cobra.Command, s admin.Store, args []string,
	asJSON bool) error) *cobra.Command {
	return onAddress(cmd, func(cmd *cobra.Command, kind storeKind, address string, args []string, asJSON bool) error {
		s, err := kind.open(cmd.Context(), address)
		if err != nil {
			return err
		}
		defer s.Close()
		return do(cmd, s, args, asJSON)
	})
}

// onAddress makes a command work on the address of an agent's store.
func onAddress(cmd *cobra.Command, do func(cmd *cobra.Command, kind storeKind, address string, args []string, asJSON bool) error) *cobra.Command {
	var address, dir string
	storeFlag(cmd, &address)
	dirFlag(cmd, &dir)
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		kind, address, err := findStore(cmd.Context(), address, dir)
		if err != nil {
			return err
		}
		return do(cmd, kind, address, args, *format == formatJSON)
	}
	return cmd
}

// storeFlag adds --store.
func storeFlag(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(address, "store", "", "where the agent keeps its tasks: a `file`, or postgres://…; default: what A2A_STORE names, else that of the project's agent")
}

var errNoStore = errors.New("--store is missing: name the file or the database, which the agent logs at its start, or the folder of its project with -C")

// findStore returns the store that is named, that of the environment, or that of the agent of the project in a folder.
func findStore(ctx context.Context, named, dir string) (kind storeKind, address string, err error) {
	if address = cmp.Or(named, os.Getenv(server.EnvStore)); address == "" {
		return projectStore(ctx, dir)
	}
	if named == "" && (address == "memory" || address == ":memory:") {
		return kind, "", fmt.Errorf("%s is %q, which no other process can read: name a store with --store", server.EnvStore, address)
	}
	kind, err = kindOf(address)
	return kind, address, err
}

// kindOf returns the kind of an address. Its error does not show it: it may have a password.
func kindOf(address string) (kind storeKind, err error) {
	for _, kind := range storeKinds {
		if kind.takes(address) {
			return kind, nil
		}
	}
	scheme, _, _ := strings.Cut(address, ":")
	return kind, fmt.Errorf("%.20q is no kind of store: name a file (./name:… if its name has a colon), or postgres://USER@HOST/DATABASE", scheme+":")
}

// projectStore returns the store of the agent of the project in a folder.
func projectStore(ctx context.Context, dir string) (kind storeKind, address string, err error) {
	if _, err := os.Stat(filepath.Join(dir, "agent.yaml")); err != nil {
		return kind, "", errNoStore
	}
	out, list, err := project.Inspect(ctx, project.Options{Tool: project.ThisTool(), Dir: dir})
	switch {
	case err != nil:
		return kind, "", err
	case out.Model == nil || out.Model.Agent == nil || list.HasErrors():
		return kind, "", fmt.Errorf(`the project does not say where its agent keeps its tasks ("a2agen check --inputs" says what is wrong): name the store with --store`)
	}
	for _, kind := range storeKinds {
		if kind.pkg == out.Model.Agent.OpenStore {
			address, err = kind.find(dir, out.Model.Agent.Store)
			return kind, address, err
		}
	}
	return kind, "", errors.New(`the agent of this project keeps its tasks in memory: "store: sqlite" in a2agen.yaml keeps them in a file, "store: postgres" in a database; --store names another agent's`)
}
