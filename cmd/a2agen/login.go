package main

import (
	"context"
	"errors"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/login"
	"github.com/a2agen/a2agen/internal/talk"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

func loginCommand() *cobra.Command {
	var o login.Options
	var browser, out, all bool
	cmd := &cobra.Command{
		Use:   "login URL|DIR",
		Short: "Log in to an agent, in the browser or by a device code; --out logs out",
		Long: `login reads the agent's card, shows which security scheme takes tokens, and logs you in at the issuer that you name: in the browser of
this machine, or with --device on any other one. The token is kept for you alone, in a2agen/tokens of your cache folder, and renewed by
"a2agen call" of the same URL until the issuer ends the login.

The issuer that the card names is shown, but never used by itself: the card's author could send your login anywhere. On a terminal you are
asked for the issuer and the client id; in a pipe both must be given. A client's secret is read from A2A_CLIENT_<SCHEME>_SECRET.

--out removes the tokens of the agent from this machine. The issuer is not told: to end the login there, too, use its own page.`,
		Example: `  a2agen login https://agent.example.com --issuer https://id.example.com --client-id cli
  a2agen login https://agent.example.com --issuer https://id.example.com --client-id cli --device    # no browser on this machine
  a2agen call https://agent.example.com "hello"                                # uses the login
  a2agen login --out https://agent.example.com`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && !out {
				return errors.New("--all is for --out: it forgets all logins (see a2agen login --help)")
			}
			if out {
				return logout(cmd, args, all)
			}
			err := exactly(1, "the agent's URL, or the folder of its project")(cmd, args)
			if err != nil {
				return err
			}
			if o.Target, err = talk.Address(args[0]); err != nil {
				return err
			}
			o.In, o.Out, o.Err = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			o.Asks = isTerminal(o.In) && isTerminal(o.Err)
			if browser && isTerminal(o.Err) {
				o.Open = oauth.OpenBrowser
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			return login.Run(ctx, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Issuer, "issuer", "", "the issuer's `URL`, exactly as the issuer writes it")
	f.StringVar(&o.ClientID, "client-id", "", "the `id` of the client to log in as, as it is registered at the issuer")
	f.BoolVar(&o.Device, "device", false, "show a code to enter on any device, instead of a page for this one")
	f.StringArrayVar(&o.Scopes, "scope", nil, "ask for this `scope`; may be given several times; default: those that the card names")
	f.StringVar(&o.Scheme, "scheme", "", "for cards with several schemes that take tokens of an issuer: the `name` of one; default: the only one")
	f.StringVar(&o.Resource, "resource", "", "for issuers that know the agent by another URL: ask for tokens for this `URL` (RFC 8707); - for none; default: the agent's interface")
	f.StringVar(&o.Audience, "audience", "", "for issuers such as Auth0: ask for tokens for this `audience` in place of a resource")
	f.StringVar(&o.TokenURL, "token-url", "", "the token endpoint's `URL`, for issuers without metadata; with --auth-url or --device-url")
	f.StringVar(&o.AuthURL, "auth-url", "", "the authorization endpoint's `URL`, for issuers without metadata; with --token-url")
	f.StringVar(&o.DeviceURL, "device-url", "", "the device authorization endpoint's `URL`, for issuers without metadata; with --token-url")
	f.StringVar(&o.Redirect, "redirect", "", "for clients registered with another redirect `URI`; port 0: any free port; default: http://127.0.0.1:0/callback")
	f.BoolVar(&browser, "open", true, "show the page in a browser; --open=false only prints it")
	renamed(cmd, "browser", "open")
	f.BoolVar(&out, "out", false, "forget the login for the agent")
	f.BoolVar(&all, "all", false, "all logins; with --out")
	anyWord(cmd, "issuer", "client-id", "scope", "scheme", "resource", "audience", "token-url", "auth-url", "device-url", "redirect")
	rare(cmd, "all", "audience", "auth-url", "device-url", "open", "redirect", "resource", "scheme", "scope", "token-url")
	return cmd
}
