package server

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// ResourcePath is where the agent says to clients of OAuth what its tokens have to be (RFC 9728): at the root and,
// where the agent's public URL has a path, in front of that.
const ResourcePath = "/.well-known/oauth-protected-resource"

// aboutResource is what is served there.
type aboutResource struct {
	document []byte // nil: nothing
	base     string // path of the public URL
}

// at reports whether the document is at a path.
func (a *aboutResource) at(path string) bool {
	return a.document != nil && (path == ResourcePath || path == ResourcePath+a.base)
}

// resource is the document.
type resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name,omitempty"`
}

// metadataURL is where the document is; "" without a public URL that is fixed: what a request says of the address is
// the client's word.
func (s *Server) metadataURL() string {
	u, err := url.Parse(s.card.fixed)
	if err != nil || s.card.fixed == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + ResourcePath + s.card.base
}

// describeResource makes the document of an agent that takes tokens.
func (s *Server) describeResource() (err error) {
	if s.card.fixed == "" || !s.guard.Tokens() {
		return nil
	}
	s.aboutResource.base = s.card.base
	s.document, err = json.Marshal(resource{
		Resource: s.card.fixed, Servers: s.guard.Issuers(), Scopes: s.guard.Scopes(),
		Methods: []string{"header"}, Name: s.engine.Info().Name,
	})
	return err
}

// serveResource answers with the document, which any web page may read.
func (s *Server) serveResource(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = []string{"*"}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h["Allow"] = []string{"GET, HEAD"}
		http.Error(w, "Only GET and HEAD are served here.", http.StatusMethodNotAllowed)
		return
	}
	h["Content-Type"] = jsonType
	h["Cache-Control"] = s.card.control
	if r.Method == http.MethodGet {
		_, _ = w.Write(s.document)
	}
}
