package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/spec"
)

func updateCommand() *cobra.Command {
	var o project.UpdateOptions
	var older bool
	cmd := &cobra.Command{
		Use:   "update [protocol|scaffold|runtime|clients [NAME...]]",
		Short: "Update what generate leaves alone: protocol pins, your files, the runtime, clients' cards",
		Long: `update applies the changes of a newer a2agen, prints them, and generates. Without an argument it updates protocol and scaffold:

  protocol   pins the protocol definitions of this a2agen, fetches those that a2agen.yaml names by url, and prints what
             changed in them. generate never moves a pin and never uses the network. Private addresses
             are rejected unless --allow-private-network is given.
  scaffold   updates main.go, Makefile, tests and the other files that were written once: what this a2agen would write
             there now is merged into your text. Where you changed the same lines, both stand
             in the file between conflict markers. Imports of packages of a2agen that have moved are rewritten.
  runtime    builds the project against the runtime of this a2agen: go.mod requires its version, and a copy or replacement
             is removed. With --vendor the runtime's source is copied into the project instead, as by init --vendor.
             Dockerfile and other files that depend on this are merged, as by scaffold.
  clients    fetches the cards of clients: of those that you name, or of all with a url in a2agen.yaml or a name in the
             catalog. It prints what changed and what callers have to do, and pins the cards. The other
             arguments change no client.`,
		Example: `  a2agen update scaffold --diff         # what would change
  a2agen update scaffold
  a2agen update protocol
  a2agen update runtime                 # build against the version that this a2agen has
  a2agen update runtime --vendor        # build without network, from the source in this a2agen
  a2agen update clients --dry-run       # have the cards changed, and what breaks?
  a2agen update clients travel`,
		ValidArgs: []string{"protocol", "scaffold", "runtime", "clients"},
		Args: func(cmd *cobra.Command, args []string) error {
			if ofClients(args) {
				return nil
			}
			if len(args) > 1 || len(args) == 1 && args[0] != "protocol" && args[0] != "scaffold" && args[0] != "runtime" {
				return fmt.Errorf("%q: write protocol, scaffold, runtime or clients, or nothing for the first two (see %s --help)", args, cmd.CommandPath())
			}
			if o.Vendor && (len(args) == 0 || args[0] != "runtime") {
				return fmt.Errorf("--vendor goes with update runtime")
			}
			return nil
		},
	}
	dirFlag(cmd, &o.Dir)
	cmd.Flags().BoolVar(&o.Force, "force", false, "overwrite generated files that were edited by hand")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	cmd.Flags().BoolVar(&o.Diff, "diff", false, "print what would change as a unified diff, and write nothing")
	privateFlag(cmd, &o.AllowPrivate, ", and fetch definitions over http")
	cmd.Flags().BoolVar(&o.Vendor, "vendor", false, "for builds without a network: copy the runtime's source into the project; with runtime")
	cmd.Flags().BoolVar(&older, "allow-older", false, "for agents that went back to an older version: accept a card older than the pinned one; with clients")
	renamed(cmd, "older", "allow-older")
	rare(cmd, "allow-older", "force", "vendor")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Tool = project.ThisTool()
		o.Protocol = len(args) == 0 || args[0] == "protocol"
		o.Runtime = len(args) == 1 && args[0] == "runtime"
		o.Scaffold = len(args) == 0 || args[0] == "scaffold" || o.Runtime
		o.Build = true
		if ofClients(args) {
			return updateClients(cmd, project.ClientUpdate{Options: o.Options, Names: args[1:], Catalog: theCatalog(""), AllowPrivate: o.AllowPrivate, Older: older}, *format)
		}
		r, err := project.Update(cmd.Context(), o)
		if err == nil && *format == formatText && !o.Diff {
			if err := listUpdates(cmd.OutOrStdout(), r); err != nil {
				return err
			}
		}
		if err := present(cmd, o.Options, *format, r, err); err != nil {
			return err
		}
		if r.Undecided() {
			return errInvalid
		}
		return nil
	}
	return cmd
}

// ofClients reports whether the arguments ask for clients.
func ofClients(args []string) bool { return len(args) > 0 && args[0] == "clients" }

// updateClients takes over the cards of clients, and prints what is different in them first.
func updateClients(cmd *cobra.Command, o project.ClientUpdate, format formatName) error {
	done := announce(cmd, "fetching the cards")
	defer done()
	o.Show = func(list []project.RemoteCard) error {
		done()
		if format == formatJSON || o.Diff {
			return nil
		}
		return writeRemote(cmd, list)
	}
	r, err := project.UpdateClients(cmd.Context(), o)
	return present(cmd, o.Options, format, r, err)
}

// listUpdates prints what an update moved, fetched and did to the user's files.
func listUpdates(w io.Writer, r project.Report) error {
	for _, m := range r.Moved {
		fmt.Fprintf(w, "protocol %s: %s -> %s\n", m.Protocol, m.From, m.To)
	}
	for _, f := range r.Fetched {
		fmt.Fprintf(w, "protocol %s: fetched from %s, kept as %s\n", f.Protocol, f.URL, f.File)
		if !f.Compared {
			continue
		}
		if err := spec.WriteChanges(w, f.Changes); err != nil {
			return err
		}
	}
	for _, u := range r.Updates {
		switch {
		case u.Conflicts > 0:
			fmt.Fprintf(w, "%s: %d conflicts (resolve the places between <<<<<<< and >>>>>>>)\n", u.Path, u.Conflicts)
		case u.Reason != "":
			fmt.Fprintf(w, "%s: %s: %s\n", u.Path, u.Outcome, u.Reason)
		default:
			fmt.Fprintf(w, "%s: %s\n", u.Path, u.Outcome)
		}
	}
	return nil
}
