package record

import "net/http"

// Masked stands in the place of a secret.
const Masked = masked

// PlainHeader reports whether headers of requests with this name carry no secret. Any other one may.
func PlainHeader(name string) bool { return plainHeaders[http.CanonicalHeaderKey(name)] }

// PlainParameter reports whether query parameters with this name carry no secret: those of the protocol, in all
// versions. Any other one may.
func PlainParameter(name string) bool { return plainParameters[plainName(name)] }

// SecretMember reports whether members of JSON with this name have secrets as their strings: "token", "credentials",
// "password", …
func SecretMember(name string) bool { return secretMembers[plainName(name)] }

// MaskURLs masks in the URLs of a text what is secret by its name or place: user and password, and parameters.
func MaskURLs(text string) string { return urlMasker.urls(text) }

var urlMasker = newMasker(configure(nil))
