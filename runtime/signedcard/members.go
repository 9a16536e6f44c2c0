package signedcard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kind is what a member holds.
type kind int

const (
	text     kind = iota
	truth         // true or false
	texts         // a list of strings
	textMap       // an object of strings
	anything      // an object of anything
	one           // a message
	several       // a list of messages
	named         // an object of messages
)

// rule says when a member is written.
type rule int

const (
	implicit rule = iota // unless it is empty or false
	optional             // when it is set
	required             // always
)

// member is a member of a message, of A2A 1.0's definition.
type member struct {
	kind kind
	rule rule
	of   message // of one, several and named
}

// message are the members of a message by their names in JSON.
type message map[string]member

// signaturesMember is the member of a card that is not signed. It is not among those of agentCard.
const signaturesMember = "signatures"

// agentCard is AgentCard of A2A 1.0 §4.4.1, with all that it holds. A test compares it with the definition.
var agentCard = message{
	"name":                 {kind: text, rule: required},
	"description":          {kind: text, rule: required},
	"supportedInterfaces":  {kind: several, rule: required, of: agentInterface},
	"provider":             {kind: one, of: message{"url": {rule: required}, "organization": {rule: required}}},
	"version":              {kind: text, rule: required},
	"documentationUrl":     {kind: text, rule: optional},
	"capabilities":         {kind: one, rule: required, of: capabilities},
	"securitySchemes":      {kind: named, of: securityScheme},
	"securityRequirements": {kind: several, of: securityRequirement},
	"defaultInputModes":    {kind: texts, rule: required},
	"defaultOutputModes":   {kind: texts, rule: required},
	"skills":               {kind: several, rule: required, of: skill},
	"iconUrl":              {kind: text, rule: optional},
}

var agentInterface = message{
	"url": {rule: required}, "protocolBinding": {rule: required}, "tenant": {}, "protocolVersion": {rule: required},
}

var capabilities = message{
	"streaming": {kind: truth, rule: optional}, "pushNotifications": {kind: truth, rule: optional},
	"extensions":        {kind: several, of: extension},
	"extendedAgentCard": {kind: truth, rule: optional},
}

var extension = message{
	"uri": {}, "description": {}, "required": {kind: truth}, "params": {kind: anything},
}

var skill = message{
	"id": {rule: required}, "name": {rule: required}, "description": {rule: required},
	"tags":     {kind: texts, rule: required},
	"examples": {kind: texts}, "inputModes": {kind: texts}, "outputModes": {kind: texts},
	"securityRequirements": {kind: several, of: securityRequirement},
}

var securityRequirement = message{"schemes": {kind: named, of: message{"list": {kind: texts}}}}

var securityScheme = message{
	"apiKeySecurityScheme":        {kind: one, of: apiKey},
	"httpAuthSecurityScheme":      {kind: one, of: httpAuth},
	"oauth2SecurityScheme":        {kind: one, of: oauth2},
	"openIdConnectSecurityScheme": {kind: one, of: openIDConnect},
	"mtlsSecurityScheme":          {kind: one, of: message{"description": {}}},
}

var (
	apiKey        = message{"description": {}, "location": {rule: required}, "name": {rule: required}}
	httpAuth      = message{"description": {}, "scheme": {rule: required}, "bearerFormat": {}}
	oauth2        = message{"description": {}, "flows": {kind: one, rule: required, of: flows}, "oauth2MetadataUrl": {}}
	openIDConnect = message{"description": {}, "openIdConnectUrl": {rule: required}}
)

var flows = message{
	"authorizationCode": {kind: one, of: message{
		"authorizationUrl": {rule: required}, "tokenUrl": {rule: required}, "refreshUrl": {},
		"scopes": {kind: textMap, rule: required}, "pkceRequired": {kind: truth},
	}},
	"clientCredentials": {kind: one, of: message{
		"tokenUrl": {rule: required}, "refreshUrl": {}, "scopes": {kind: textMap, rule: required},
	}},
	"implicit": {kind: one, of: message{"authorizationUrl": {}, "refreshUrl": {}, "scopes": {kind: textMap}}},
	"password": {kind: one, of: message{"tokenUrl": {}, "refreshUrl": {}, "scopes": {kind: textMap}}},
	"deviceCode": {kind: one, of: message{
		"deviceAuthorizationUrl": {rule: required}, "tokenUrl": {rule: required}, "refreshUrl": {},
		"scopes": {kind: textMap, rule: required},
	}},
}

// present is a message with the members that are written: the presence form. at is where it is, a JSON pointer.
func (m message) present(in object, at string) (object, error) {
	out := object{}
	for _, name := range slices.Sorted(maps.Keys(m)) { // so that of two mistakes it is always the same that is told
		f := m[name]
		v, err := in.get(name, at)
		if err != nil {
			return nil, err
		}
		if v == nil {
			if f.rule == required {
				out[name] = f.empty()
			}
			continue
		}
		if v, err = f.present(v, at+"/"+name); err != nil {
			return nil, err
		}
		if f.rule != implicit || !f.isDefault(v) {
			out[name] = v
		}
	}
	return out, nil
}

// get is the value of a member under its name in JSON or in the definition, which may not both be there; nil if it is
// not set. null is not set.
func (o object) get(name, at string) (any, error) {
	v, there := o[name]
	snake := snakeCase(name)
	if snake == name {
		return v, nil
	}
	other, also := o[snake]
	if there && also {
		return nil, fmt.Errorf("%s has both %q and %q, which are one member", pointer(at), name, snake)
	}
	if also {
		return other, nil
	}
	return v, nil
}

// snakeCase is the name of a member in the definition.
func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// pointer names a place for people.
func pointer(at string) string {
	if at == "" {
		return "the card"
	}
	return at
}

// present is the value of a member as it is written. It must be of the member's kind.
func (f member) present(v any, at string) (any, error) {
	switch f.kind {
	case text:
		return only[string](v, at, "a string")
	case truth:
		return only[bool](v, at, "true or false")
	case anything:
		return only[object](v, at, "an object")
	case texts:
		return f.each(v, at, func(v any, at string) (any, error) { return only[string](v, at, "a string") })
	case several:
		return f.each(v, at, f.message)
	case textMap:
		return f.values(v, at, func(v any, at string) (any, error) { return only[string](v, at, "a string") })
	case named:
		return f.values(v, at, f.message)
	}
	return f.message(v, at)
}

func (f member) message(v any, at string) (any, error) {
	in, err := only[object](v, at, "an object")
	if err != nil {
		return nil, err
	}
	return f.of.present(in, at)
}

func (f member) each(v any, at string, present func(any, string) (any, error)) (any, error) {
	in, err := only[list](v, at, "a list")
	if err != nil {
		return nil, err
	}
	out := make(list, len(in))
	for i, e := range in {
		if out[i], err = present(e, fmt.Sprintf("%s/%d", at, i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f member) values(v any, at string, present func(any, string) (any, error)) (any, error) {
	in, err := only[object](v, at, "an object")
	if err != nil {
		return nil, err
	}
	out := object{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if out[name], err = present(in[name], at+"/"+name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func only[T any](v any, at, what string) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("%s is not %s", at, what)
	}
	return t, nil
}

// empty is the value of a required member that is not set.
func (f member) empty() any {
	switch f.kind {
	case text:
		return ""
	case truth:
		return false
	case texts, several:
		return list{}
	case one:
		out, _ := f.of.present(object{}, "")
		return out
	}
	return object{}
}

// isDefault reports whether a value is the default of a member that has no presence. Messages have presence.
func (f member) isDefault(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case list:
		return len(v) == 0
	case object:
		return len(v) == 0 && (f.kind == textMap || f.kind == named)
	}
	return false
}
