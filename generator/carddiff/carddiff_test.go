package carddiff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
)

const plain = `{"name":"a","description":"a","version":"1","supportedInterfaces":[{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]}`

// of compares two cards, and returns the findings as text.
func of(t testing.TB, old, now string) ([]Finding, string) {
	t.Helper()
	a, list := Read("old.json", []byte(old))
	b, list2 := Read("new.json", []byte(now))
	if a == nil || b == nil {
		t.Fatal(list, list2)
	}
	fs := Diff(a, b)
	var text strings.Builder
	if err := WriteText(&text, fs); err != nil {
		t.Fatal(err)
	}
	return fs, text.String()
}

// edited is the plain card with replacements.
func edited(t *testing.T, pairs ...string) string {
	t.Helper()
	s := plain
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(s, pairs[i]) {
			t.Fatalf("no %s", pairs[i])
		}
		s = strings.Replace(s, pairs[i], pairs[i+1], 1)
	}
	return s
}

func TestACardIsNoDifferentFromItself(t *testing.T) {
	if fs, text := of(t, plain, plain); len(fs) > 0 || text != "no difference for callers\n" {
		t.Errorf("%v %q", fs, text)
	}
}

func TestEachChangeHasItsEffect(t *testing.T) {
	const caps, iface = `"capabilities":{}`, `{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`
	const key, keyScheme = `"securityRequirements":[{"schemes":{"k":{}}}],`, `"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X"}}},`
	for _, tt := range []struct{ name, old, new, want string }{
		{"another host", plain, edited(t, "https://a.example/", "https://b.example/"), "breaking host-changed supportedInterfaces"},
		{"another path", plain, edited(t, "https://a.example/", "https://a.example/v2"), "breaking url-changed supportedInterfaces"},
		{"another tenant", plain, edited(t, `"protocolBinding"`, `"tenant":"x","protocolBinding"`), "breaking tenant-changed supportedInterfaces"},
		{"a second address", plain, edited(t, iface, iface+`,{"url":"https://b.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`), ""},
		{"a version more", plain, edited(t, iface, iface+`,{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"0.3"}`), "compatible interface-added supportedInterfaces"},
		{"the other binding first", edited(t, iface, iface+`,{"url":"https://a.example/","protocolBinding":"GRPC","protocolVersion":"1.0"}`),
			edited(t, iface, `{"url":"https://a.example/","protocolBinding":"GRPC","protocolVersion":"1.0"},`+iface), "compatible preferred-changed supportedInterfaces"},
		{"streaming", plain, edited(t, caps, `"capabilities":{"streaming":true}`), "compatible capability-added capabilities.streaming"},
		{"an extension", plain, edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://e.example/e"}]}`), "compatible extension-added capabilities.extensions"},
		{"an extension less", edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://e.example/e"}]}`), plain, "breaking extension-removed capabilities.extensions"},
		{"an extension with other parameters", edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://e.example/e","params":{"a":1,"b":2}}]}`),
			edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://e.example/e","params":{"b":2,"a":3}}]}`), "unknown extension-changed capabilities.extensions"},
		{"parameters in another order", edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://e.example/e","params":{"a":1,"b":2}}]}`),
			edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://e.example/e","params":{"b":2,"a":1}}]}`), ""},
		{"the contracts of all skills", edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://github.com/a2agen/a2agen/extensions/skills/v1","params":{"skills":{"s":{"input":{"type":"string"}}}}}]}`), plain,
			"breaking skills-extension-removed capabilities.extensions\nunknown input-schema-removed skills.s.input"},
		{"the first contract of a skill", plain, edited(t, caps, `"capabilities":{"extensions":[{"uri":"https://github.com/a2agen/a2agen/extensions/skills/v1","params":{"skills":{"s":{"input":{"type":"string"}}}}}]}`),
			"unknown input-schema-added skills.s.input\ncompatible skills-extension-added capabilities.extensions"},
		{"the first credential", plain, edited(t, caps, keyScheme+key+caps), "breaking auth-tightened securityRequirements"},
		{"a credential beside nothing", edited(t, caps, keyScheme+`"securityRequirements":[{}],`+caps), edited(t, caps, keyScheme+`"securityRequirements":[{"schemes":{"k":{}}},{}],`+caps), ""},
		{"no credential any more", edited(t, caps, keyScheme+key+caps), edited(t, caps, keyScheme+caps), "compatible auth-loosened securityRequirements"},
		{"a key elsewhere", edited(t, caps, keyScheme+key+caps), edited(t, caps, strings.Replace(keyScheme, "header", "query", 1)+key+caps),
			"breaking scheme-changed securitySchemes.k.apiKeySecurityScheme.location"},
		{"a scheme that nobody needs", edited(t, caps, keyScheme+caps), edited(t, caps, strings.Replace(keyScheme, "header", "query", 1)+caps),
			"compatible scheme-changed securitySchemes.k.apiKeySecurityScheme.location"},
		{"a signature less", edited(t, caps, `"signatures":[{"protected":"e30","signature":"eA"}],`+caps), plain, "breaking signature-removed signatures"},
		{"a signature", plain, edited(t, caps, `"signatures":[{"protected":"%","signature":"eA"}],`+caps), "compatible signature-added signatures"},
		{"a key beside the other one", edited(t, caps, `"signatures":[{"protected":"eyJraWQiOiJhIn0","signature":"eA"}],`+caps),
			edited(t, caps, `"signatures":[{"protected":"eyJraWQiOiJhIn0","signature":"eA"},{"protected":"eyJraWQiOiJiIn0","signature":"eA"}],`+caps), "compatible keys-changed signatures"},
		{"a mode less", plain, edited(t, `"defaultInputModes":["text/plain"]`, `"defaultInputModes":["application/json"]`),
			"breaking input-mode-removed defaultInputModes\ncompatible input-mode-added defaultInputModes"},
		{"all texts for one", plain, edited(t, `"defaultOutputModes":["text/plain"]`, `"defaultOutputModes":["text/*"]`), "compatible output-mode-added defaultOutputModes"},
		{"a misspelt id", edited(t, `"id":"s"`, `"id":"forcast"`), edited(t, `"id":"s"`, `"id":"forecast"`, `"name":"S"`, `"name":"Forecast"`), "breaking skill-renamed skills.forcast"},
		{"what could not be decided and stays", contractOf(t, `{"$ref":"https://b.example/s.json"}`), contractOf(t, `{"$ref":"https://b.example/s.json"}`), ""},
		{"schemas that cannot be compared", contractOf(t, `{"type":"string"}`), contractOf(t, `{"properties":{"a":3}}`), "unknown input-not-compared skills.s.input"},
		{"what only one side cannot compile", contractOf(t, `{"type":"string"}`), contractOf(t, `{"type":"string","if":{"const":"a"},"then":false}`), "unknown input-narrowed skills.s.input\nunknown input-narrowed skills.s.input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs, _ := of(t, tt.old, tt.new)
			var got []string
			for _, f := range fs {
				got = append(got, fmt.Sprint(f.Effect, " ", f.Kind, " ", f.Path))
				if f.Effect == Breaking && f.Do == "" {
					t.Errorf("%v does not say what to do", f)
				}
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s\n%+v", strings.Join(got, "\n"), tt.want, fs)
			}
		})
	}
}

// contractOf is the plain card with a schema for the input of its skill.
func contractOf(t *testing.T, schema string) string {
	t.Helper()
	return edited(t, `"capabilities":{}`, `"capabilities":{"extensions":[{"uri":"https://github.com/a2agen/a2agen/extensions/skills/v1","params":{"skills":{"s":{"input":`+schema+`}}}}]}`)
}

// What a card says reaches the terminal as text, whatever it is.
func TestNothingOfACardCommandsATerminal(t *testing.T) {
	evil := "\\u001b[2J\\u009b31m\\u202e\\r\\nok"
	_, text := of(t, edited(t, `"description":"a"`, `"description":"`+evil+`"`), edited(t, "https://a.example/", "https://b.example/"+evil, `"id":"s"`, `"id":"`+evil+`"`, `"defaultInputModes":["text/plain"]`, `"defaultInputModes":["`+evil+`"]`))
	for _, r := range text {
		if r != '\n' && (r < ' ' || r == 0x9b || r == 0x7f || r == 0x202e) {
			t.Errorf("%q in %q", r, text)
		}
	}
	if len(text) == 0 || strings.Contains(text, "\nok") {
		t.Errorf("%q", text)
	}
}

func TestComparingCardsTakesLinearTime(t *testing.T) {
	list := func(n int, piece string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(",", min(i, 1)) + strings.ReplaceAll(piece, "@", fmt.Sprint(i)))
		}
		return b.String()
	}
	for _, tt := range []struct{ name, from, old, new string }{
		{"skills", `"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]`, `{"id":"s@","name":"S@","description":"a","tags":["t"]}`, `{"id":"t@","name":"T@","description":"b","tags":["u"]}`},
		{"skills that stay", `"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]`, `{"id":"s@","name":"S@","description":"a","tags":["t"]}`, `{"id":"s@","name":"T@","description":"b","inputModes":["a/b"],"tags":["u"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			growth.Linear(t, 50, func(n int) func() {
				a, _ := Read("old.json", []byte(strings.Replace(plain, tt.from, `"skills":[`+list(n, tt.old)+`]`, 1)))
				b, _ := Read("new.json", []byte(strings.Replace(plain, tt.from, `"skills":[`+list(n, tt.new)+`]`, 1)))
				if a == nil || b == nil {
					t.Fatal("not read")
				}
				return func() {
					if len(Diff(a, b)) < n {
						t.Error("too few findings")
					}
				}
			})
		})
	}
}
