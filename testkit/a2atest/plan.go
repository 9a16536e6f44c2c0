package a2atest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
)

// plan is what the server of a fake is made of: a protocol with the versions that it speaks, the card that offers them
// in this process, and what the card says of the skills.
type plan struct {
	protocol *runtime.Protocol
	offers   []offer
	card     runtime.Card
	skills   map[string]cardSkill
}

// cardSkill is a skill as a card has it.
type cardSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`

	input, output string // schemas, if the card has them
}

// offer is an interface of the fake, as a card of 1.0 has it.
type offer struct {
	URL     string `json:"url"`
	Binding string `json:"protocolBinding"`
	Version string `json:"protocolVersion"`
	Tenant  string `json:"tenant,omitempty"`
}

// plan works out what the fake serves.
func (f *Fake) plan() (*plan, error) {
	p := f.config.Protocol
	if p == nil || len(p.Versions) == 0 {
		return nil, fmt.Errorf("FakeConfig has no protocol")
	}
	given, err := f.givenCard()
	if err != nil {
		return nil, err
	}
	offers := f.offers(given.CardInfo().Interfaces)
	text, err := cmp.Or(p.Whole, p.Versions[0]).AppendCard(nil, given)
	if err != nil {
		return nil, fmt.Errorf("the card: %w", err)
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("the card: %w", err)
	}
	only := *p // with the versions of the interfaces alone
	only.Versions = slices.DeleteFunc(slices.Clone(p.Versions), func(v *runtime.Version) bool {
		return !slices.ContainsFunc(offers, func(o offer) bool { return o.Version == v.Name })
	})
	if only.Whole == nil && only.Versions[0] != p.Versions[0] {
		only.Whole = p.Versions[0]
	}
	made := &plan{protocol: &only, offers: offers, skills: map[string]cardSkill{}}
	var list []cardSkill
	_ = json.Unmarshal(members["skills"], &list) // what was written as a card has them
	for _, sk := range list {
		made.skills[sk.ID] = sk
	}
	for _, x := range given.CardInfo().Extensions {
		var params struct {
			Skills map[string]struct{ Input, Output json.RawMessage }
		}
		if !runtime.IsSkillsExtension(x.URI) || json.Unmarshal(x.Params, &params) != nil {
			continue
		}
		for id, schemas := range params.Skills {
			sk := made.skills[id]
			sk.input, sk.output = string(schemas.Input), string(schemas.Output)
			made.skills[id] = sk
		}
	}
	// A card that names no version is known by modes as cards of 0.1 name them (T48).
	if !slices.ContainsFunc(only.Versions, func(v *runtime.Version) bool { return !v.Rules.ClientIDs }) {
		members["defaultInputModes"], members["defaultOutputModes"] = json.RawMessage(`["text"]`), json.RawMessage(`["text"]`)
	}
	made.card, err = offering(p, members, offers)
	return made, err
}

// givenCard is the card of the configuration, or one that is made of the skills.
func (f *Fake) givenCard() (runtime.Card, error) {
	p := f.config.Protocol
	if f.config.Card != nil {
		card := p.Card(withCapabilities(f.config.Card))
		if card == nil {
			return nil, fmt.Errorf("a %T is no card of the protocol package", f.config.Card)
		}
		return card, nil
	}
	var skills []cardSkill
	for _, sk := range f.config.Skills {
		id := sk.skillID()
		skills = append(skills, cardSkill{ID: id, Name: id, Description: "A fake.", Tags: []string{"fake"}})
	}
	text, err := json.Marshal(map[string]any{
		"name": f.name, "description": "A fake.", "version": "1", "capabilities": map[string]any{
			"streaming": true, "extensions": []any{map[string]any{
				"uri":    runtime.SkillsExtension,
				"params": map[string]any{"idempotency": map[string]any{"window": runtime.RepeatWindow.Seconds()}},
			}},
		},
		"supportedInterfaces": []offer{{"/", runtime.BindingJSONRPC, p.Versions[0].Name, ""}},
		"defaultInputModes":   []string{runtime.MediaJSON, runtime.MediaText},
		"defaultOutputModes":  []string{runtime.MediaJSON, runtime.MediaText},
		"skills":              skills,
	})
	if err != nil {
		return nil, err
	}
	return p.DecodeCard(text)
}

// withCapabilities returns a generated card that has capabilities, if only empty ones: clients take cards without, but no
// server has one.
func withCapabilities(card any) any {
	v := reflect.ValueOf(card)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return card
	}
	field := v.Elem().FieldByName("Capabilities")
	if !field.IsValid() || field.Kind() != reflect.Pointer || !field.IsNil() {
		return card
	}
	whole := reflect.New(v.Elem().Type())
	whole.Elem().Set(v.Elem())
	whole.Elem().FieldByName("Capabilities").Set(reflect.New(field.Type().Elem()))
	return whole.Interface()
}

// offers are the interfaces of the fake: those that were asked for, else those of the card, as far as they can be
// served here; else the newest version over JSON-RPC.
func (f *Fake) offers(given []runtime.Interface) (list []offer) {
	add := func(version, binding, tenant string) {
		v := f.version(version)
		o := offer{"/", binding, version, tenant}
		if v != nil && slices.Contains(f.served(), binding) && v.Over(binding) != nil && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	wanted := func(list []string, name string) bool { return list == nil || slices.Contains(list, name) }
	for _, i := range given {
		if wanted(f.versions, i.Version) && wanted(f.bindings, i.Binding) {
			add(i.Version, i.Binding, i.Tenant)
		}
	}
	for _, version := range f.versions {
		for _, binding := range or(f.bindings, f.served()) {
			add(version, binding, "")
		}
	}
	if f.versions == nil {
		for _, binding := range f.bindings {
			for _, v := range f.config.Protocol.Versions {
				add(v.Name, binding, "")
			}
		}
	}
	if len(list) == 0 {
		add(f.config.Protocol.Versions[0].Name, runtime.BindingJSONRPC, "")
	}
	return list
}

// or is a list, or another one if it is empty.
func or[T any](list, other []T) []T {
	if len(list) == 0 {
		return other
	}
	return list
}

// offering is a card with the interfaces of the fake. It has no signature, which would be wrong, and promises neither
// push notifications nor an extended card.
func offering(p *runtime.Protocol, members map[string]json.RawMessage, offers []offer) (runtime.Card, error) {
	var err error
	if members["supportedInterfaces"], err = json.Marshal(offers); err != nil {
		return nil, err
	}
	delete(members, "signatures")
	can := map[string]json.RawMessage{}
	if len(members["capabilities"]) > 0 {
		if err := json.Unmarshal(members["capabilities"], &can); err != nil {
			return nil, fmt.Errorf("the card: capabilities: %w", err)
		}
	}
	delete(can, "pushNotifications")
	delete(can, "extendedAgentCard")
	if members["capabilities"], err = json.Marshal(can); err != nil {
		return nil, err
	}
	text, err := readable(members)
	if err != nil {
		return nil, err
	}
	card, err := p.DecodeCard(text)
	if err != nil {
		return nil, fmt.Errorf("the card: %w", err)
	}
	if got := len(card.CardInfo().Interfaces); got != len(offers) {
		return nil, fmt.Errorf("the card has %d interfaces instead of %d: a fake needs a protocol whose cards have "+
			"supportedInterfaces", got, len(offers))
	}
	return card, nil
}

// readable is a card without its security schemes and requirements if the server cannot read them: a fake does not check
// credentials, and a card from elsewhere may be wrong.
func readable(members map[string]json.RawMessage) ([]byte, error) {
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	if _, err := auth.ReadCard(text); err == nil {
		return text, nil
	}
	var skills []map[string]json.RawMessage
	if err := json.Unmarshal(or(members["skills"], []byte("[]")), &skills); err != nil {
		return nil, fmt.Errorf("the card: skills: %w", err)
	}
	for _, m := range append(skills, members) {
		for _, demand := range []string{"securitySchemes", "securityRequirements", "security"} {
			delete(m, demand)
		}
	}
	if members["skills"], err = json.Marshal(skills); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// route finds the skill of a message that does not name one as the server knows it: by an extension in whose metadata
// it is named. A message without such a skill fails the test.
func (f *Fake) route(_ context.Context, m runtime.Message) (string, error) {
	info := m.MessageInfo()
	var metadata map[string]struct{ SkillID string }
	_ = json.Unmarshal(info.Metadata, &metadata) // members of other shapes name no skill
	for _, member := range metadata {
		if slices.ContainsFunc(f.config.Skills, func(sk AnySkill) bool { return sk.skillID() == member.SkillID }) {
			return member.SkillID, nil
		}
	}
	var contents []any
	for _, p := range m.Contents() {
		if p.Kind == runtime.PartData {
			contents = append(contents, json.RawMessage(p.Data))
		} else {
			contents = append(contents, p.Text)
		}
	}
	parts, _ := json.Marshal(contents)
	f.fail("a2atest: %s: a message came to the fake %q that names no skill, and fits none or several: %s",
		f.at, f.name, shortened(parts))
	return "", nil
}
