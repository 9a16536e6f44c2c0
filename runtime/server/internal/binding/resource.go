package binding

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/a2agen/a2agen/runtime/internal/guard"
)

// ResourcePath is where the agent says to clients of OAuth what its tokens have to be (RFC 9728): at the root and,
// where the agent's public URL has a path, in front of that.
const ResourcePath = "/.well-known/oauth-protected-resource"

// Resource serves that document (RFC 9728).
type Resource struct {
	document []byte
	base     string // path of the public URL
	control  []string
}

// resource is the document.
type resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers,omitempty"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
	Name     string   `json:"resource_name,omitempty"`
}

// ResourceURL is where the document is; "" without a public URL that is fixed: what a request says of the address is
// the client's word.
func (c *Cards) ResourceURL() string {
	u, err := url.Parse(c.URL)
	if err != nil || c.URL == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + ResourcePath + c.base
}

// NewResource makes the document of an agent that takes tokens: nil for another one, and without a public URL.
func NewResource(c *Cards, g *guard.Guard) (*Resource, error) {
	if c.URL == "" || !g.Tokens() {
		return nil, nil
	}
	document, err := json.Marshal(resource{
		Resource: c.URL, Servers: g.Issuers(), Scopes: g.Scopes(),
		Methods: []string{"header"}, Name: c.engine.Info().Name,
	})
	return &Resource{document, c.base, c.control}, err
}

// At reports whether the document is at a path.
func (a *Resource) At(path string) bool {
	return a != nil && (path == ResourcePath || path == ResourcePath+a.base)
}

// ServeHTTP answers with the document, which any web page may read.
func (a *Resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = []string{"*"}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h["Allow"] = []string{"GET, HEAD"}
		http.Error(w, "Only GET and HEAD are served here.", http.StatusMethodNotAllowed)
		return
	}
	h["Content-Type"] = []string{"application/json"}
	h["Cache-Control"] = a.control
	if r.Method == http.MethodGet {
		_, _ = w.Write(a.document)
	}
}
