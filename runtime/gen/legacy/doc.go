// Package legacy is what the codecs of A2A 0.1, 0.2 and 0.3 call where those versions differ from 1.0 in more than names:
// small hooks on neutral values, and the parts of reading that do not depend on the types. It is for generated code.
//
// Reading is tolerant and writing is strict: what a peer of that time leaves out is inferred, and what is written is valid
// by the version's published schema. No hook knows a generated type.
package legacy

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Final is the end mark of a status update: streams of 0.1 to 0.3 end when the task has ended or waits (T39).
func Final(s runtime.State) bool { return s.Terminal() || s.Interrupted() }

// DecodeCard reads a card by the one of versions, newest first, for which it is written, or else by the newest that has
// cards of that shape. A card without interfaces but with a url is of 0.3 or older.
func DecodeCard(src []byte, versions []*runtime.Version) (runtime.Card, error) {
	want, known := CardVersion(src), versions[0]
	if want == "" {
		return known.ReadCard(src)
	}
	for _, v := range versions {
		switch {
		case v.Name >= "1": // the shape of the card is that of an older version, whatever version it names
		case v.Name == want:
			return v.ReadCard(src)
		case known == versions[0]:
			known = v
		}
	}
	return known.ReadCard(src)
}

// CardVersion tells by its shape which version below 1.0 a card is written for: "0.3", "0.2" or "0.1"; "" if none.
func CardVersion(src []byte) string {
	card, err := wire.ParseObject(src)
	if err != nil {
		return ""
	}
	has := map[string]wire.Value{}
	for name, v := range card.All() {
		if v.Kind() != wire.KindNull {
			has[name] = v
		}
	}
	var version string
	switch {
	case has["supportedInterfaces"] != nil || has["supported_interfaces"] != nil || has["url"] == nil:
		return ""
	case has["protocolVersion"].Decode(&version) == nil && version != "":
		return minor(version)
	case has["authentication"].Kind() == wire.KindObject || shortModes(has):
		return "0.1"
	}
	return "0.3"
}

// shortModes reports whether a card names modes as 0.1 does, "text" (T48), and has no member that came later.
func shortModes(has map[string]wire.Value) bool {
	for _, later := range []string{"protocolVersion", "preferredTransport", "additionalInterfaces", "securitySchemes", "security"} {
		if has[later] != nil {
			return false
		}
	}
	var modes []string
	return has["defaultInputModes"].Decode(&modes) == nil && slices.ContainsFunc(modes, func(m string) bool { return !strings.Contains(m, "/") })
}
