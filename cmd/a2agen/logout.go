package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/login"
	"github.com/a2agen/a2agen/internal/talk"
)

// logoutCommand is login --out as earlier versions had it.
func logoutCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{Use: "logout URL|DIR"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return logout(cmd, args, all) }
	cmd.Flags().BoolVar(&all, "all", false, "all logins")
	return cmd
}

// logout forgets the login for an agent, or all of them.
func logout(cmd *cobra.Command, args []string, all bool) error {
	target, err := "", error(nil)
	if all {
		err = none(cmd, args)
	} else if err = exactly(1, "the agent's URL, or the folder of its project; or --all")(cmd, args); err == nil {
		target, err = talk.Address(args[0])
	}
	if err != nil {
		return err
	}
	agents, err := login.Out(target)
	for _, a := range agents {
		fmt.Fprintf(cmd.OutOrStdout(), "logged out: %s\n", a)
	}
	if len(agents) == 0 && err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "there was no login")
	}
	return err
}
