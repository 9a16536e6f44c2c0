package generator

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is what Generate says of a project of these files.
func said(t *testing.T, files map[string]string) string {
	t.Helper()
	open := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	_, list := Generate(context.Background(), Inputs{Open: open, Module: "example.com/a"})
	var b strings.Builder
	if err := list.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMistakesOfAuthAreReportedTogether(t *testing.T) {
	got := said(t, map[string]string{
		"agent.yaml": `name: a
description: b
version: 0.1.0
securitySchemes:
  key: {apiKeySecurityScheme: {location: header, name: X-Key}}
  tok: {httpAuthSecurityScheme: {scheme: bearer}}
  basic: {httpAuthSecurityScheme: {scheme: basic}}
skills:
  - {id: echo, name: Echo, description: Say, tags: [a]}
`,
		"a2agen.yaml": `auth:
  key: {issuer: "https://x.example"}
  tok: {keys: [{caller: b, sha256: abc}], passwords: [{user: x, hash: y}]}
  basic: {keys: [{caller: c}]}
  nope: {issuer: "https://x.example"}
  other: {}
`,
	})
	want := `a2agen.yaml:2:3: the entry says issuer and audience, which is not how the scheme "key" is checked (write keys)
	agent.yaml:5:3: declared here
a2agen.yaml:3:36: the hash is not 64 hexadecimal digits (write what printf %s "$KEY" | sha256sum prints, never the key itself)
a2agen.yaml:3:43: "keys" and "passwords" exclude each other: they are of different kinds of credentials
a2agen.yaml:3:71: the hash is not of the form pbkdf2-sha256$iterations$salt$hash (write what auth.HashPassword of the runtime gives, never the password itself)
a2agen.yaml:4:3: the entry says keys, which is not how the scheme "basic" is checked (write passwords)
	agent.yaml:7:3: declared here
a2agen.yaml:4:18: key entry lacks the key "sha256"
a2agen.yaml:5:3: the card declares no security scheme "nope" (one of basic, key, tok)
a2agen.yaml:6:10: the verifier says nothing (leave it out for what the environment says)
`
	var errors strings.Builder
	for line := range strings.Lines(got) {
		if !strings.Contains(line, ": warning: ") {
			errors.WriteString(line)
		}
	}
	if diff := cmp.Diff(want, errors.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestACardThatNoClientReadsIsRefused(t *testing.T) {
	card := func(values int) string {
		var b strings.Builder
		for i := range values {
			fmt.Fprintf(&b, "%s\"value-%05d\"", strings.Repeat(",", min(i, 1)), i)
		}
		return `name: a
description: b
version: 0.1.0
skills:
  - {id: small, name: Small, description: Say, tags: [a], input: {type: object, properties: {v: {type: string}}}}
  - {id: large, name: Large, description: Say, tags: [a], input: {type: object, properties: {v: {enum: [` + b.String() + `]}}}}
`
	}
	if got := said(t, map[string]string{"agent.yaml": card(1000)}); got != "" {
		t.Errorf("1,000 values: %s", got)
	}
	got := said(t, map[string]string{"agent.yaml": card(80_000)})
	if !strings.HasPrefix(got, "agent.yaml:6:5: the card has 11") || !strings.Contains(got, `and clients read no more than 1048576 (the schemas of skill "large" are 1`) {
		t.Errorf("80,000 values: %s", got)
	}
}
