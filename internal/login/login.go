// Package login has a person log in at the issuer whose tokens an agent takes, and remembers for which agent a login is, so that
// calls of that agent use its tokens.
package login

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/shell"
	"github.com/a2agen/a2agen/runtime/auth"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// Options say where to log in, and for which agent.
type Options struct {
	Target string // URL of the agent or of its card
	Login         // what was given of it

	Device bool     // by device code
	Scopes []string // instead of those that the card names

	In       io.Reader
	Out, Err io.Writer
	Asks     bool                   // a person sits at In and Err, and can be asked
	Open     func(url string) error // opens a browser; nil: the person does
}

// Run logs somebody in and keeps the token.
func Run(ctx context.Context, o Options) error {
	agent, err := look(ctx, o.Target)
	if err != nil {
		return err
	}
	defer agent.client.Close()
	s, err := agent.choose(o.Scheme)
	if err != nil {
		return err
	}
	l := o.Login
	l.Agent, l.Scheme, l.Scopes = agentOf(o.Target), s.Name, o.Scopes
	if len(l.Scopes) == 0 {
		l.Scopes = agent.scopes(s.Name)
	}
	l.Resource = cmp.Or(l.Resource, agent.client.Interface().URL)
	if l.Flow = oauth.AuthorizationCode; o.Device {
		l.Flow = oauth.DeviceCode
	}
	o.remark("%s takes tokens for its scheme %q%s", agent.name(), s.Name, withScopes(l.Scopes))
	if err := o.complete(&l, s); err != nil {
		return err
	}
	c, err := l.config()
	if err != nil {
		return err
	}
	c.Prompt = o.prompt
	if err := c.Login(ctx, l.Resource); ctx.Err() != nil {
		return errors.New("interrupted: nobody is logged in anew")
	} else if err != nil {
		return err
	}
	if err := l.replace(); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "logged in: a2agen call %s uses it\n", l.Agent)
	return nil
}

func withScopes(scopes []string) string {
	if len(scopes) == 0 {
		return ""
	}
	return " with the scopes " + strings.Join(scopes, ", ")
}

// remark prints a line for a person, which may contain text of the agent.
func (o *Options) remark(format string, args ...any) {
	fmt.Fprintln(o.Err, rpc.Printable(fmt.Sprintf(format, args...)))
}

// agent is what its card says.
type agent struct {
	client  *rpc.Client
	demands *auth.Demands
}

// look fetches the card.
func look(ctx context.Context, target string) (*agent, error) {
	p := a2awires.Protocol()
	c, err := rpc.New(ctx, p, target, rpc.Use(grpcclient.Binding()), rpc.OneHost())
	if err != nil {
		return nil, err
	}
	text, err := p.Versions[0].AppendCard(nil, c.Card())
	if err == nil {
		var d *auth.Demands
		if d, err = auth.ReadCard(text); err == nil {
			return &agent{c, d}, nil
		}
	}
	c.Close()
	return nil, err
}

func (a *agent) name() string {
	return fmt.Sprintf("%q", rpc.Printable(a.client.Card().CardInfo().Name))
}

// choose returns the scheme to log in for: the one of that name, or the only one that takes tokens of an issuer.
func (a *agent) choose(name string) (*auth.Scheme, error) {
	var fit []*auth.Scheme
	var names, all []string
	for i := range a.demands.Schemes {
		s := &a.demands.Schemes[i]
		all = append(all, s.Name)
		if s.Name == name && s.Tokens() {
			return s, nil
		}
		if s.Kind == auth.OAuth2 || s.Kind == auth.OpenIDConnect {
			fit, names = append(fit, s), append(names, s.Name)
		}
	}
	switch {
	case name != "":
		return nil, fmt.Errorf("the agent's card has no scheme %q that takes tokens; its schemes are %s", name, listed(all))
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return nil, fmt.Errorf("the agent's card has several schemes to log in for: name one with --scheme: %s", listed(names))
	}
	return nil, fmt.Errorf("the agent's card has no scheme of OAuth 2 or OpenID Connect to log in for; its schemes are %s", listed(all))
}

func listed(names []string) string { return cmp.Or(rpc.Printable(strings.Join(names, ", ")), "none") }

// scopes are those that the card demands of a scheme, of the agent or of some skill.
func (a *agent) scopes(scheme string) (scopes []string) {
	all := slices.Clone(a.demands.Agent)
	for _, rs := range a.demands.Skills {
		all = append(all, rs...)
	}
	for _, r := range all {
		for _, n := range r {
			if n.Scheme == scheme {
				scopes = append(scopes, n.Scopes...)
			}
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// complete asks a person for what is missing. The issuer that a card names is shown, and taken only from the person.
func (o *Options) complete(l *Login, s *auth.Scheme) error {
	lines := bufio.NewReader(o.In)
	if l.Issuer == "" && l.TokenURL == "" {
		claim := claimed(s)
		if o.Asks {
			if claim != "" {
				o.remark("The card says: %s. Your login goes there: check that it is right.", claim)
			}
			fmt.Fprint(o.Err, "URL of the issuer: ")
			l.Issuer = readLine(lines)
		}
		if l.Issuer == "" && claim != "" {
			return fmt.Errorf("say who issues the tokens: the card says %s: repeat it if you trust that", claim)
		}
		if l.Issuer == "" {
			return errors.New("say who issues the tokens: --issuer URL")
		}
	}
	if l.ClientID == "" {
		if o.Asks {
			fmt.Fprint(o.Err, "Client id, as it is registered there: ")
			l.ClientID = readLine(lines)
		}
		if l.ClientID == "" {
			return errors.New("say as which client to log in: --client-id ID, as it is registered at the issuer")
		}
	}
	return nil
}

func readLine(r *bufio.Reader) string {
	line, err := r.ReadString('\n')
	if err != nil && line == "" {
		return ""
	}
	return strings.TrimSpace(line)
}

// claimed is the issuer that the card names, as the flags that would name it; "" if it names none.
func claimed(s *auth.Scheme) string {
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"} {
		if issuer, ok := strings.CutSuffix(s.URL, path); ok {
			return flag("--issuer", issuer)
		}
	}
	if s.URL != "" || s.About == nil {
		return flag("--issuer", s.URL)
	}
	for _, f := range s.About.Flows {
		text := flag("--token-url", f.TokenURL) + flag(" --auth-url", f.AuthorizationURL) + flag(" --device-url", f.DeviceAuthorizationURL)
		return strings.TrimSpace(text)
	}
	return ""
}

func flag(name, value string) string {
	if value = rpc.Printable(value); value == "" {
		return ""
	}
	return name + " " + shell.Word(value)
}

// prompt shows a person where to log in.
func (o *Options) prompt(_ context.Context, p oauth.Prompt) error {
	if p.Code != "" {
		fmt.Fprintf(o.Err, "Open %s\nand enter the code %s (until %s).\n", p.URL, p.Code, p.Expires.Local().Format("15:04"))
		if p.Whole != "" {
			fmt.Fprintf(o.Err, "With the code in it: %s\n", p.Whole)
		}
		return nil
	}
	fmt.Fprintf(o.Err, "Log in on this page, in a browser on this machine:\n%s\n", p.URL)
	if o.Open == nil {
		return nil
	}
	if err := o.Open(p.URL); err != nil {
		fmt.Fprintf(o.Err, "(The browser did not open: %v.)\n", err)
	}
	return nil
}

// Out removes the logins for an agent, with their tokens; for all agents if target is "". It returns for which.
func Out(target string) (agents []string, err error) {
	all, err := list()
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if target != "" && l.Agent != agentOf(target) {
			continue
		}
		if err := l.remove(); err != nil && !errors.Is(err, os.ErrNotExist) {
			return agents, err
		}
		agents = append(agents, l.Agent)
	}
	return agents, nil
}
