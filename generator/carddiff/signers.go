package carddiff

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// signer is who signed a card, as the signature says it: nothing of it is verified here.
type signer struct{ Alg, Kid, JKU string }

// String names the key.
func (s signer) String() string {
	text := "a key without a name"
	if s.Kid != "" {
		text = "key " + shown(s.Kid)
	}
	if s.Alg != "" {
		text += " (" + s.Alg + ")"
	}
	if s.JKU != "" {
		text += " of " + s.JKU
	}
	return text
}

// maxSignatures is how many signatures of a card are looked at.
const maxSignatures = 8

// signersOf returns the different signers of a card, in its order (A2A 1.0 §8.4, RFC 7515).
func signersOf(root *yaml.Node) (list []signer) {
	seen := map[signer]bool{}
	for i, n := range yamlx.Items(yamlx.Get(root, "signatures")) {
		if i >= maxSignatures {
			break
		}
		var s signer
		header, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(yamlx.Text(yamlx.Get(n, "protected")), "="))
		if err == nil {
			_ = json.Unmarshal(header, &s) // one that cannot be read is a key without a name
		}
		if !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}

func names(list []signer) string {
	var texts []string
	for _, s := range list {
		texts = append(texts, s.String())
	}
	return strings.Join(texts, ", ")
}

// signers compares who signed the cards.
func (d *differ) signers(old, now []signer) {
	kept := 0
	for _, s := range now {
		for _, o := range old {
			if s == o {
				kept++
			}
		}
	}
	f := Finding{Path: "signatures", Was: names(old), Is: names(now)}
	switch {
	case kept == len(old) && kept == len(now):
		return
	case len(now) == 0:
		f.Effect, f.Kind, f.Text = Breaking, "signature-removed", "the card was signed by "+f.Was+", and is not signed any more"
		f.Do = "do not take it over before who runs the agent says why: anybody can have written it"
	case len(old) == 0:
		f.Effect, f.Kind, f.Text = Compatible, "signature-added", "the card is signed by "+f.Is
		f.Do = "get the key from who runs the agent, and have the card verified"
	case kept == 0:
		f.Effect, f.Kind, f.Text = Breaking, "key-changed", "the card was signed by "+f.Was+", is signed by "+f.Is
		f.Do = "get the new key from who runs the agent, on a way that you trust, and verify the card with it"
	default:
		f.Effect, f.Kind, f.Text = Compatible, "keys-changed", "the card was signed by "+f.Was+", is signed by "+f.Is
	}
	d.add(f)
}
