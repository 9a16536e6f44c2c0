// Package identity keeps as whom the page calls agents: names, with credentials for the security schemes of a card. They
// are kept in memory, as long as the command runs, and are never told again.
//
//	GET    /api/agents/N/identities        {"schemes": [Scheme], "identities": [Identity], "problem": "…"}
//	PUT    /api/agents/N/identities/NAME   {"credentials": {"SCHEME": {"user": "…", "secret": "…"}}}
//	DELETE /api/agents/N/identities/NAME
//
// A call of the page names an identity in the header A2agen-Dev-As, escaped as in a path.
package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/a2agen/a2agen/internal/dev/reply"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/client"
)

// Header names the identity of a call. It is not passed on.
const Header = "A2agen-Dev-As"

// Limits of what is kept.
const (
	maxIdentities = 50
	maxName       = 60   // characters
	maxSecret     = 8192 // bytes
)

// Scheme is a security scheme of a card, in words for a person who gives a credential.
type Scheme struct {
	Name        string `json:"name"`
	Credential  string `json:"credential"`     // what to give: "API key"
	Place       string `json:"place"`          // where a request has it: "header X-Key"
	User        bool   `json:"user,omitempty"` // a user's name belongs to it
	Description string `json:"description,omitempty"`
	Problem     string `json:"problem,omitempty"` // why none can be given here
}

// Identity is who calls.
type Identity struct {
	Name    string   `json:"name"`
	Schemes []string `json:"schemes"` // for which there are credentials
}

// Credential is what somebody knows.
type Credential struct {
	User   string `json:"user"`
	Secret string `json:"secret"`
}

// Set is the identities of all agents.
type Set struct {
	// Card returns the card of an agent in the form of 1.0.
	Card func(ctx context.Context, agent int) ([]byte, error)

	mu   sync.Mutex
	list []identity // in the order in which they were made
}

// identity is one of an agent.
type identity struct {
	Identity
	agent   int
	options []client.Option
}

// Options returns how a client calls an agent as somebody; "" is nobody.
func (s *Set) Options(agent int, escaped string) ([]client.Option, error) {
	name, err := url.PathUnescape(escaped)
	if err != nil || name == "" {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find(agent, name); i >= 0 {
		return s.list[i].options, nil
	}
	return nil, fmt.Errorf("there is no identity %q of this agent: it ended with an earlier start of a2agen dev", name)
}

// find returns where an identity is in the list; -1 if it is not. Callers must hold mu.
func (s *Set) find(agent int, name string) int {
	return slices.IndexFunc(s.list, func(i identity) bool { return i.agent == agent && i.Name == name })
}

// schemes are those of an agent's card.
func (s *Set) schemes(ctx context.Context, agent int) ([]auth.Scheme, error) {
	card, err := s.Card(ctx, agent)
	if err != nil {
		return nil, err
	}
	d, err := auth.ReadCard(card)
	if err != nil {
		return nil, fmt.Errorf("read what the card demands of callers: %w", err)
	}
	return d.Schemes, nil
}

// Serve answers GET with all identities of an agent, and with the schemes for which others can be made.
func (s *Set) Serve(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("agent"))
	if err != nil {
		reply.Refuse(w, http.StatusNotFound, "there is no such agent")
		return
	}
	said := struct {
		Schemes    []Scheme   `json:"schemes"`
		Identities []Identity `json:"identities"`
		Problem    string     `json:"problem,omitempty"`
	}{[]Scheme{}, []Identity{}, ""}
	schemes, err := s.schemes(r.Context(), n)
	if err != nil {
		said.Problem = err.Error()
	}
	for i := range schemes {
		said.Schemes = append(said.Schemes, describe(&schemes[i]))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.list {
		if i.agent == n {
			said.Identities = append(said.Identities, i.Identity)
		}
	}
	reply.JSON(w, said)
}

// describe says what a person has to give for a scheme.
func describe(s *auth.Scheme) Scheme {
	d := Scheme{Name: s.Name, Place: "header Authorization"}
	if s.About != nil {
		d.Description = s.About.Description
	}
	switch {
	case s.Kind == auth.APIKey:
		d.Credential, d.Place = "API key", s.In+" "+s.Key
	case s.Kind == auth.MutualTLS:
		d.Credential, d.Place = "client certificate", "connection"
		d.Problem = "a2agen dev talks to the agent without TLS, so that nobody can show a certificate here"
	case s.Kind == auth.HTTP && s.HTTP == "basic":
		d.Credential, d.User = "user and password", true
	case s.Tokens():
		d.Credential = "access token"
	default:
		d.Credential = "what follows " + s.HTTP
	}
	return d
}

// Change answers PUT and DELETE of an identity.
func (s *Set) Change(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("agent"))
	name := strings.TrimSpace(r.PathValue("name"))
	switch {
	case err != nil:
		reply.Refuse(w, http.StatusNotFound, "there is no such agent")
		return
	case r.Method == http.MethodDelete:
		s.remove(n, name)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var asked struct {
		Credentials map[string]Credential `json:"credentials"`
	}
	if err = reply.Read(w, r, &asked); err == nil {
		err = s.put(r.Context(), n, name, asked.Credentials)
	}
	if err != nil {
		reply.Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Set) remove(agent int, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.find(agent, name); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
	}
}

// put makes an identity, or one anew.
func (s *Set) put(ctx context.Context, agent int, name string, given map[string]Credential) error {
	if name == "" || len([]rune(name)) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("give the identity a name of at most %d characters", maxName)
	}
	schemes, err := s.schemes(ctx, agent)
	if err != nil {
		return err
	}
	made := identity{Identity: Identity{Name: name, Schemes: []string{}}, agent: agent}
	for i := range schemes {
		c, ok := given[schemes[i].Name]
		if !ok || c.Secret == "" {
			continue
		}
		if len(c.Secret)+len(c.User) > maxSecret {
			return fmt.Errorf("the credential for %q is over %d bytes", schemes[i].Name, maxSecret)
		}
		if o := option(&schemes[i], c); o != nil {
			made.Schemes = append(made.Schemes, schemes[i].Name)
			made.options = append(made.options, o)
		}
	}
	if len(made.options) == 0 {
		return errors.New("give a credential for at least one of the card's schemes")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch i := s.find(agent, name); {
	case i >= 0:
		s.list[i] = made
	case len(s.list) == maxIdentities:
		return fmt.Errorf("there are %d identities: remove one first", maxIdentities)
	default:
		s.list = append(s.list, made)
	}
	return nil
}

// option is how a client gives a credential; nil for what cannot be given.
func option(s *auth.Scheme, c Credential) client.Option {
	switch {
	case s.Kind == auth.APIKey:
		return client.WithAPIKey(s.Name, c.Secret)
	case s.Kind == auth.MutualTLS:
		return nil
	case s.Kind == auth.HTTP && s.HTTP == "basic":
		return client.WithBasic(s.Name, c.User, c.Secret)
	case s.Tokens():
		return client.WithToken(s.Name, client.StaticToken(c.Secret))
	}
	return client.WithAuthorization(s.Name, c.Secret)
}
