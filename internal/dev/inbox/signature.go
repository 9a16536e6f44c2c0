package inbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/push"
	"github.com/a2agen/a2agen/runtime/push/verify"
)

// checker checks signatures of one agent for one address.
type checker = push.Verifier

// checkTime is how long it may take to fetch the keys of an agent.
const checkTime = 5 * time.Second

// verify checks the signature of a delivery by the keys of the agents that are here, whatever issuer it names: an agent
// under development signs in the name of the address that it will have. Nothing is fetched from that.
func (b *Inbox) verify(r *http.Request, body []byte, audience string) Signature {
	token := r.Header.Get(runtime.PushSignatureHeader)
	if token == "" {
		return Signature{Check: Absent}
	}
	s := Signature{Check: Bad, Issuer: issuerOf(token), Why: "no agent is here whose key it could be"}
	if s.Issuer == "" {
		s.Why = "it is no JWT that names who made it"
		return s
	}
	ctx, cancel := context.WithTimeout(r.Context(), checkTime)
	defer cancel()
	var why []error
	for _, agent := range b.Agents() {
		v, err := b.checker(agent, s.Issuer, audience)
		if err == nil {
			_, err = v.Verify(ctx, token, body)
		}
		if err == nil {
			return Signature{Check: Good, Issuer: s.Issuer, Agent: agent}
		}
		why = append(why, err)
	}
	if err := errors.Join(why...); err != nil {
		s.Why = err.Error()
	}
	return s
}

// mostCheckers are kept; each has its own keys.
const mostCheckers = 64

// checker returns the one for an agent's keys, an issuer and an address.
func (b *Inbox) checker(agent, issuer, audience string) (checker, error) {
	key := agent + "\n" + issuer + "\n" + audience
	b.mu.Lock()
	defer b.mu.Unlock()
	if v, ok := b.checks[key]; ok {
		return v, nil
	}
	v, err := verify.New(issuer, audience, verify.Keys(strings.TrimSuffix(agent, "/")+runtime.PushKeysPath),
		verify.HTTPClient(&http.Client{Transport: named{}}), verify.Refresh(time.Minute, time.Second))
	if err != nil {
		return nil, err
	}
	if b.checks == nil || len(b.checks) >= mostCheckers {
		b.checks = map[string]checker{}
	}
	b.checks[key] = v
	return v, nil
}

// named sends requests whose caller the record of calls names.
type named struct{}

func (named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(traffic.CallerHeader, "inbox")
	return http.DefaultTransport.RoundTrip(r)
}

// issuerOf returns the issuer that a JWT names; "" if it is none.
func issuerOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	_ = json.Unmarshal(payload, &claims) // what is no JWT names nobody
	return claims.Issuer
}
