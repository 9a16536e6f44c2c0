package guard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/security"
)

// Denial is why a request is rejected. Its error text is for the log; the peer gets [Denial.Told] and the challenges.
type Denial struct {
	Status     int           // 401: who calls is not known; 403: the caller may not do that; 503: nobody can tell
	Challenges []string      // values of WWW-Authenticate, each of which would do
	RetryAfter time.Duration // of 503
	reason     string
}

// Deny rejects a request of an unknown caller, for a reason that goes to the log.
func Deny(reason error) *Denial {
	return &Denial{
		Status: http.StatusUnauthorized, Challenges: []string{challenge("Bearer")}, reason: reason.Error(),
	}
}

func (d *Denial) Error() string { return d.reason }

// Unwrap returns what the peer is told, so that a denial is also an error of the protocol.
func (d *Denial) Unwrap() error { return d.Told() }

// Told returns the error for the peer, which does not depend on what is wrong with a credential.
func (d *Denial) Told() *runtime.Error {
	switch d.Status {
	case http.StatusForbidden:
		return runtime.ErrPermissionDenied
	case http.StatusServiceUnavailable:
		return errUnverified
	}
	return runtime.ErrUnauthenticated
}

// errUnverified asks the client to try again later.
var errUnverified = &runtime.Error{
	Code: runtime.ErrInternal.Code, Reason: "RESOURCE_EXHAUSTED",
	Message: runtime.ErrInternal.Message, Note: "the credentials cannot be checked for now, try again later",
}

// SetHeader sets the challenges and the time to try again in the header of an HTTP response.
func (d *Denial) SetHeader(h http.Header) {
	if len(d.Challenges) > 0 {
		h["Www-Authenticate"] = d.Challenges
	}
	if d.Status == http.StatusServiceUnavailable {
		h["Retry-After"] = []string{strconv.Itoa(max(1, int(d.RetryAfter.Round(time.Second).Seconds())))}
	}
}

// challenge writes what a scheme demands (RFC 9110 §11.3). failure is what was wrong with a token, in the words of RFC
// 6750 §3.1; "" when there was none.
func (g *Guard) challenge(s *security.Scheme, scopes []string, failure string) string {
	return wayOf(s).challenge(g, s, scopes, failure)
}

// challengeBearer writes a challenge for a bearer token (RFC 6750 §3).
func challengeBearer(g *Guard, _ *security.Scheme, scopes []string, failure string) string {
	return challenge("Bearer", "realm", g.realm, "error", failure, "scope", strings.Join(scopes, " "),
		"resource_metadata", g.metadata)
}

func curlBearer(_ *security.Scheme, quote func(string) string) string {
	return " -H " + quote("Authorization: Bearer YOUR_TOKEN")
}

// challenge writes a value of WWW-Authenticate with those of the parameters, names and values in turns, that have one.
func challenge(scheme string, params ...string) string {
	var b strings.Builder
	b.WriteString(scheme)
	between := " "
	for i := 0; i < len(params); i += 2 {
		if params[i+1] != "" {
			b.WriteString(between + params[i] + "=" + quoted(params[i+1]))
			between = ", "
		}
	}
	return b.String()
}

// quoted writes a quoted string (RFC 9110 §5.6.4) and leaves out everything but visible ASCII and blanks.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c <= '~':
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tokenOf keeps the characters of a name that may stand in the name of a scheme.
func tokenOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' && !strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
			return r
		}
		return -1
	}, name)
}

// union returns a list with those of another one that it lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
