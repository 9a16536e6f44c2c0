package client

import (
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// AnswerAuth lets calls of skills go on by themselves where a task waits for an authorization (auth-required) of the card's scheme of that name:
// the task is continued with the scheme's credential, a token with the scopes that the agent asks for. That happens once for the same scopes,
// and only if a credential was given for the scheme and each of the scopes is listed here; any other authorization is an [*InputRequiredError]. A
// URL that the agent names is never opened.
//
// The agent that asks gets the token, and may use it for what its scopes allow. List what it may do for you, and no more.
func AnswerAuth(scheme string, scopes ...string) Option {
	return func(c *Client) {
		g := &c.credentials
		if g.grants == nil {
			g.grants = map[string][]string{}
		}
		g.grants[scheme] = append(g.grants[scheme], scopes...)
	}
}

// maxGrants is how many authorizations of one call are answered.
const maxGrants = 4

// wanted returns what an authorization demands, if the user lets the client answer it; nil if not.
func (g *credentials) wanted(auth *runtime.Authorization, cl *call) security.Requirement {
	if auth == nil || g.authorizer == nil || cl.grants >= maxGrants {
		return nil
	}
	allowed, ok := g.grants[auth.Scheme]
	s := g.authorizer.schemes[auth.Scheme]
	if !ok || s == nil || s.given == nil || s.fault != nil {
		return nil
	}
	more := security.Requirement{{Scheme: auth.Scheme}}
	for _, scope := range auth.Scopes {
		if !slices.Contains(allowed, scope) {
			return nil
		}
		more[0].Scopes = append(more[0].Scopes, scope)
	}
	for _, had := range cl.grant { // the agent got it, and asks again: it is of no use
		if had.Scheme == auth.Scheme && !slices.ContainsFunc(more[0].Scopes, func(s string) bool { return !slices.Contains(had.Scopes, s) }) {
			return nil
		}
	}
	return append(slices.Clone(cl.grant), more...)
}

// goOn returns the call that continues a task which waits for an authorization that the client may answer; nil for any other result.
func (g *credentials) goOn(r *Result, err error, cl *call) *call {
	if err != nil || len(g.grants) == 0 || r.State != runtime.StateAuthRequired {
		return nil
	}
	grant := g.wanted(r.question().Auth, cl)
	if grant == nil {
		return nil
	}
	next := &call{
		header: cl.header.Clone(), extensions: slices.Clone(cl.extensions), reattach: cl.reattach, policy: cl.policy, lenient: cl.lenient,
		notices: cl.notices, grant: grant, grants: cl.grants + 1, reqMetadata: cl.reqMetadata, data: cl.data,
		message: runtime.MessageInfo{TaskID: r.TaskID, ContextID: r.ContextID},
	}
	next.data.Message = nil
	next.header.Del(headerKey) // it is of the first message
	return next
}

// authorizedParts are those of a message that has nothing to say but its credentials: an object that changes nothing of the input.
func authorizedParts() []runtime.Part { return []runtime.Part{runtime.Data(map[string]any{})} }
