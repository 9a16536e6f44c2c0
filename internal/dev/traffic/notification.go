package traffic

import (
	"bytes"
	"net/http"
)

// Notification reads a request that is no call of an agent, such as a push notification: its headers and body without
// secrets, and what it says.
func Notification(h http.Header, body []byte) (clean http.Header, text []byte, said Digest) {
	var m mask
	clean = m.requestHeader(h)
	text = m.text(bytes.Clone(body))
	return clean, text, digest(text)
}
