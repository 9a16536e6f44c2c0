package runtime

import "time"

// Authorization is what a task in auth-required waits for, as far as the agent says it: it stands in the metadata of the
// status's message, under the skills extension.
type Authorization struct {
	Scheme  string    `json:"scheme,omitempty"` // by a name that both know, such as that of a security scheme
	Scopes  []string  `json:"scopes,omitempty"`
	URL     string    `json:"url,omitempty"`    // where a person grants it
	Expires time.Time `json:"expires,omitzero"` // until when the URL is good
}
