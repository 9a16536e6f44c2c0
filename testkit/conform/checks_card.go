package conform

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

var cardChecks = []*Check{
	{ID: "card.served", Requirements: []string{"R121", "R246"}, Section: "1.0 §8.1, §14.3; 0.3 §5.1, §5.3", Level: Must, Scope: OnCard, Versions: []string{"1.0", "0.3"},
		Sentence: "The card is at /.well-known/agent-card.json, as JSON.", run: func(t *trial) {
			x := t.runner.get(t.base+cardPath, http.Header{"Accept": {"application/json"}})
			t.want(x.err == nil && x.status == http.StatusOK, x, "the card is not there")
			t.want(isJSON(mediaType(x.header)), x, "the card has the media type %q", x.header.Get("Content-Type"))
		}},
	{ID: "card.served-old", Requirements: []string{"R121"}, Section: "0.2 §5.3", Level: Must, Scope: OnCard, Versions: []string{"0.2", "0.1"},
		Sentence: "For callers of 0.1 and 0.2 the card is at /.well-known/agent.json.", run: func(t *trial) {
			x := t.runner.get(t.base+oldCardPath, http.Header{"Accept": {"application/json"}})
			t.want(x.err == nil && x.status == http.StatusOK, x, "the card is not there")
			if x.err == nil && x.status == http.StatusOK {
				v, err := decode(x.body)
				t.want(err == nil && asObject(v)["skills"] != nil, x, "the document there is no card")
			}
		}},
	{ID: "card.shape", Requirements: []string{"R100", "R122", "R313", "Q10"}, Section: "1.0 §4.4, §5.7; 0.3 §5.5", Level: Must, Scope: OnCard,
		Sentence: "The card has the members that every version requires which it lists, with their types.",
		Differ:   "a2a-go 2.3 and 2.4 write the scopes of security requirements as a list where the definition has an object with a list; the SDKs for JavaScript and Python keep to the definition.",
		run: func(t *trial) {
			for _, d := range t.cardVersions() {
				for _, p := range d.validate("AgentCard", t.value) {
					t.want(p.kind == unknown || p.kind == badName || p.kind == badDigits, t.card, "for A2A %s: %s", d.version, p)
				}
				if list, ok := t.value["supportedInterfaces"].([]any); ok && d.version == "1.0" {
					t.want(len(list) > 0, t.card, "supportedInterfaces is empty")
				}
			}
		}},
	{ID: "card.members", Requirements: []string{"R100"}, Section: "1.0 §4.4; 0.3 §5.5", Level: Should, Scope: OnCard,
		Sentence: "The card has no members but those of the versions that it lists.",
		Differ:   "a2a-go and the SDK for Python serve cards with the members of 0.3 and 1.0 at once, that for JavaScript one or the other by A2A-Version.",
		run: func(t *trial) {
			count, shown := map[string]int{}, map[string]problem{}
			versions := t.cardVersions()
			for _, d := range versions {
				for _, p := range d.validate("AgentCard", t.value) {
					if p.kind == unknown || p.kind == badName {
						count[p.path]++
						shown[p.path] = p
					}
				}
			}
			for path, n := range count {
				t.want(n < len(versions), t.card, "%s", shown[path])
			}
		}},
	{ID: "card.interfaces", Requirements: []string{"R89", "R122", "R123", "R124"}, Section: "1.0 §8.3.1; 0.3 §5.6", Level: Must, Scope: OnCard,
		Sentence: "Each interface states its binding, its version and an absolute URL.",
		Differ:   "gRPC addresses come as host:port and as URLs.", run: func(t *trial) {
			for _, i := range t.report.Interfaces {
				u, err := url.Parse(i.URL)
				hostPort := i.Binding == bindingGRPC && err != nil || i.Binding == bindingGRPC && !strings.Contains(i.URL, "//")
				t.want(hostPort || err == nil && u.IsAbs() && u.Host != "", t.card, "%s has the URL %q, which is not absolute", i, i.URL)
				t.want(i.Binding != "" && i.Version != "", t.card, "the interface at %q does not say its binding and version", i.URL)
			}
		}},
	{ID: "card.patch", Requirements: []string{"R70"}, Section: "1.0 §3.6", Level: Should, Scope: OnCard, Versions: only10,
		Sentence: "Versions of interfaces have no patch number.", run: func(t *trial) {
			for _, i := range objects(t.value["supportedInterfaces"]) {
				version := text(i, "protocolVersion")
				t.want(version == minor(version), t.card, "protocolVersion is %q: write %q", version, minor(version))
			}
		}},
	{ID: "card.https", Requirements: []string{"R105", "R307"}, Section: "1.0 §7.1, §4.4.6", Level: Should, Scope: OnCard,
		Sentence: "Interfaces that are not on this machine have https.", run: func(t *trial) {
			if t.local || t.config.Dial != nil {
				t.skip("the agent is on this machine")
			}
			for _, i := range t.report.Interfaces {
				t.want(!strings.HasPrefix(i.URL, "http://"), t.card, "%s is at %s", i, i.URL)
			}
		}},
	{ID: "card.caching", Requirements: []string{"R145", "R146"}, Section: "1.0 §8.6.1", Level: Should, Scope: OnCard, Versions: only10,
		Sentence: "The card has Cache-Control with max-age.", Differ: "a2a-go serves none.", run: func(t *trial) {
			t.want(strings.Contains(t.card.header.Get("Cache-Control"), "max-age="), t.card,
				"Cache-Control is %q", t.card.header.Get("Cache-Control"))
		}},
	{ID: "card.etag", Requirements: []string{"R147"}, Section: "1.0 §8.6.1", Level: Should, Scope: OnCard, Versions: only10,
		Sentence: "The card has an ETag, and a request with that is answered 304.", Differ: "a2a-go serves none.", run: func(t *trial) {
			tag := t.card.header.Get("ETag")
			if tag == "" {
				t.fatal(t.card, "there is no ETag")
			}
			x := t.runner.get(t.base+cardPath, http.Header{"If-None-Match": {tag}, "Accept": {"application/json"}})
			t.want(x.status == http.StatusNotModified, x, "a request with If-None-Match: %s is answered %d", tag, x.status)
		}},
	{ID: "card.security", Requirements: []string{"R311", "R107"}, Section: "1.0 §4.5.2, §7.4; 0.3 §5.5", Level: Must, Scope: OnCard, Versions: []string{"1.0", "0.3", "0.2"},
		Sentence: "Security requirements name schemes that the card has; an API key is in header, query or cookie.", run: func(t *trial) {
			schemes, _ := t.value["securitySchemes"].(object)
			for name, s := range schemes {
				place := text(s, "apiKeySecurityScheme", "location") + text(s, "in")
				t.want(place == "" || slices.Contains([]string{"header", "query", "cookie", "headerheader", "queryquery", "cookiecookie"}, place), t.card,
					"the API key of %s is in %q", name, place)
			}
			for _, holder := range append(objects(t.value["skills"]), t.value) {
				for _, requirement := range append(objects(holder["securityRequirements"]), objects(holder["security"])...) {
					named := requirement
					if inner, ok := requirement["schemes"].(object); ok {
						named = inner
					}
					for name := range named {
						t.want(schemes[name] != nil, t.card, "a requirement names the scheme %q, which the card does not have", name)
					}
				}
			}
		}},
	{ID: "card.secrets", Requirements: []string{"R247", "R208"}, Section: "1.0 §14.3", Level: Should, Scope: OnCard,
		Sentence: "The card does not hold the credentials that callers send.", run: func(t *trial) {
			if len(t.secrets) == 0 {
				t.skip("no credentials are given")
			}
			for _, secret := range t.secrets {
				t.want(!strings.Contains(string(t.card.body), secret), nil, "the card holds the value of a header that callers send")
			}
		}},
	{ID: "card.signatures", Requirements: []string{"R126"}, Section: "1.0 §8.4.2", Level: Must, Scope: OnCard, Versions: []string{"1.0", "0.3"},
		Sentence: "The protected header of each signature has alg and kid.", Needs: "a signed card", run: func(t *trial) {
			signatures := objects(t.value["signatures"])
			if len(signatures) == 0 {
				t.skip("the card is not signed")
			}
			for _, s := range signatures {
				src, err := base64.RawURLEncoding.DecodeString(text(s, "protected"))
				if err != nil {
					t.fail(t.card, "protected is not base64url without padding")
					continue
				}
				header, err := decode(src)
				t.want(err == nil && text(header, "alg") != "" && text(header, "kid") != "", t.card, "the protected header is %s", src)
				t.want(text(header, "alg") != "none", t.card, "alg is none")
			}
		}},
	{ID: "card.transport", Requirements: []string{"Q25", "Q26", "Q27", "Q28"}, Section: "0.3 §5.6", Level: Should, Scope: OnCard, Versions: []string{"0.3"},
		Sentence: "preferredTransport is there, its url is among additionalInterfaces, and no URL has two transports.",
		Differ:   "the text requires preferredTransport, the schema has a default for it.", run: func(t *trial) {
			preferred, main := text(t.value, "preferredTransport"), text(t.value, "url")
			if main == "" || oldVersion(t.value) != "0.3" {
				t.skip("the card lists its interfaces of 0.3 as 1.0 does")
			}
			t.want(preferred != "", t.card, "preferredTransport is missing")
			transports, listed := map[string]string{main: preferred}, objects(t.value["additionalInterfaces"])
			for _, i := range listed {
				at, transport := text(i, "url"), text(i, "transport")
				before := transports[at]
				t.want(before == "" || before == transport, t.card, "%s has the transports %s and %s", at, before, transport)
				transports[at] = transport
			}
			t.want(len(listed) == 0 || slices.ContainsFunc(listed, func(i object) bool { return text(i, "url") == main }), t.card,
				"additionalInterfaces does not have the url of the card")
		}},
}

// cardVersions are the versions whose form the card has: of those that have supportedInterfaces 1.0, of those with a url the
// older ones that are listed by it.
func (r *runner) cardVersions() (all []*definition) {
	if r.value["supportedInterfaces"] != nil {
		all = append(all, definitionOf("1.0", true))
	}
	if text(r.value, "url") != "" {
		if d := definitionOf(oldVersion(r.value), false); d != nil {
			all = append(all, d)
		}
	}
	return all
}
