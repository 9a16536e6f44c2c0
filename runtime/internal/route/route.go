package engine

import (
	"mime"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// target is where a message goes: a skill with its input, or with the question for what is missing. Without a skill
// nothing fits.
type target struct {
	skill   *skill
	input   input
	missing []runtime.Part // what to ask, nil when the input can be tried
}

// route finds the skill for the first message of a task: by our extension, by a data part that names it, by
// metadata.skillId, by a media type that only one skill takes, by the only schema that the data satisfies, by being the
// only skill, by words, by the user's router, and at last, for plain text, by being the default. Naming a skill that there is not is an
// error; when nothing fits the target is empty.
func (e *Engine) route(c *Call, info runtime.MessageInfo) (target, error) {
	parts, k := c.parts, c.sees
	data := dataOf(parts)
	sk, err := k.named(info.Metadata)
	if err != nil {
		return target{}, err
	}
	var value any // of data
	text := textOf(parts)
	seen := data // text that is a JSON object is looked at as data is; it stays text, a person may have written it
	if len(data) == 0 {
		seen = jsonText(text)
	}
	if call, ok := k.callOf(seen); ok && (sk == nil || sk.ID == call.skill.ID) {
		sk = call.skill
		if len(data) > 0 {
			data = call.input
		} else {
			text = string(call.input)
		}
	}
	if sk == nil {
		sk, value = k.fitting(parts, seen)
	}
	if sk == nil && e.router != nil {
		id, err := e.router(c.ctx, c.req.Message)
		if err != nil {
			return target{}, byOwnCode(c.ctx, "router", err)
		}
		if sk = k.byID[id]; sk == nil && id != "" {
			return target{}, k.noSkill("message", id)
		}
	}
	if sk == nil && len(data) == 0 && text != "" {
		sk = k.fallback()
	}
	if sk != nil {
		if err := c.permitted(sk.ID); err != nil {
			return target{}, err
		}
	}
	switch {
	case sk != nil:
		in, missing, err := sk.accept(c.base.ctx, data, text)
		if len(data) > 0 {
			in.value = value
		}
		return target{sk, in, missing}, err
	case len(data) > 0 || text == "":
		return target{}, runtime.ErrInvalidParams.With("the message fits no skill: %s", k.listSkills()).
			WithViolations(runtime.Violation{Field: "message.parts", Description: "fits no skill"})
	}
	return target{}, nil // a person wrote: an answer helps, an error does not
}

// fitting tries the rules that look at the content. value is what the data says, if it was looked at.
func (k *catalog) fitting(parts []runtime.Part, data []byte) (found *skill, value any) {
	if len(k.skills) == 1 {
		return k.skills[0], nil
	}
	if sk := k.only(func(sk *skill) bool { return sk.takes(parts) }); sk != nil {
		return sk, nil
	}
	fits := func(sk *skill) bool {
		in, err := sk.decode(data)
		if err != nil || sk.Decode == nil {
			return false
		}
		value = in.value // where several fit nobody asks for it
		return true
	}
	if len(data) > 0 {
		if sk := k.only(fits); sk != nil {
			return sk, value
		}
	}
	return k.match(textOf(parts)), nil
}

// only returns the one skill that passes, nil if none or several do.
func (k *catalog) only(passes func(*skill) bool) *skill {
	var found *skill
	for _, sk := range k.skills {
		if !passes(sk) {
			continue
		}
		if found != nil {
			return nil
		}
		found = sk
	}
	return found
}

// named finds the skill that the message's metadata name: under our extension, or as skillId.
func (k *catalog) named(metadata wire.Object) (*skill, error) {
	if len(metadata) == 0 {
		return nil, nil
	}
	var present, former, other wire.Value
	for name, v := range metadata.All() {
		switch name {
		case runtime.SkillsExtension:
			present = v
		case runtime.FormerSkillsExtension:
			former = v
		case "skillId":
			other = v
		}
	}
	if present == nil {
		present = former
	}
	if present != nil {
		var id string
		if present.Kind() == wire.KindObject {
			named, _ := wire.Object(present).Get("skill")
			id, _ = stringOf(named)
		}
		if key, err := keyIn(metadata); id == "" && (key != "" || err != nil) { // it is there for the key
			return nil, nil
		}
		return k.existing("message.metadata", id)
	}
	if id, ok := stringOf(other); ok {
		return k.existing("message.metadata.skillId", id)
	}
	return nil, nil
}

// existing finds a skill that somebody names.
func (k *catalog) existing(field, id string) (*skill, error) {
	if sk := k.byID[id]; sk != nil {
		return sk, nil
	}
	return nil, k.noSkill(field, id)
}

// stringOf reads a JSON string; null is an empty one.
func stringOf(v wire.Value) (s string, ok bool) {
	switch v.Kind() {
	case wire.KindNull:
		return "", true
	case wire.KindString:
		var r wire.Reader
		r.Reset(v)
		s = r.String()
		return s, r.Done() == nil
	}
	return "", false
}

func (k *catalog) noSkill(field, id string) error {
	return runtime.ErrInvalidParams.With("there is no skill %.100q: %s", id, k.listSkills()).
		WithViolations(runtime.Violation{Field: field, Description: "names a skill that this agent does not have"})
}

// call is a data part that names a skill and holds its input.
type call struct {
	skill *skill
	input []byte
}

// callOf reads data as {"skill" or "skillId", "parameters" or "input" or "arguments" or "args"}: what callers made up
// before there was a convention. It is only a call when the skill exists.
func (k *catalog) callOf(data []byte) (call, bool) {
	if len(data) == 0 || data[0] != '{' {
		return call{}, false
	}
	const input = 2 // the members from here on hold the input
	var members [6]wire.Value
	for name, v := range wire.Object(data).All() {
		for i, known := range [...]string{"skill", "skillId", "parameters", "input", "arguments", "args"} {
			if strings.EqualFold(name, known) {
				members[i] = v
			}
		}
	}
	for _, named := range members[:input] {
		id, _ := stringOf(named)
		sk := k.byID[id]
		if sk == nil {
			continue
		}
		for _, v := range members[input:] {
			if v != nil && v.Kind() != wire.KindNull {
				return call{sk, v}, true
			}
		}
		return call{sk, []byte("{}")}, true
	}
	return call{}, false
}

// takes reports whether the skill's input modes cover all parts. A skill without input modes takes anything.
func (sk *skill) takes(parts []runtime.Part) bool {
	for i := range parts {
		if !accepts(sk.InputModes, mediaOf(&parts[i])) {
			return false
		}
	}
	return true
}

// checkModes refuses what the skill cannot take, or the client cannot.
func (c *Call) checkModes() error {
	if err := c.checkMedia(); err != nil {
		return err
	}
	return c.checkOutput()
}

// checkMedia refuses files of a type that the skill does not declare. Text and data are always tried: a skill
// that says it takes JSON is still answerable to a chat client.
func (c *Call) checkMedia() error {
	for i := range c.parts {
		p := &c.parts[i]
		if p.Kind != runtime.PartRaw && p.Kind != runtime.PartURL || p.MediaType == "" {
			continue
		}
		if modes := c.skill.InputModes; !accepts(modes, p.MediaType) {
			const text = "part %d has type %.100q, but the skill %s takes %s"
			return runtime.ErrContentTypeNotSupported.With(text, i, p.MediaType, c.skill.ID, strings.Join(modes, ", ")).
				WithMetadata("mediaType", p.MediaType)
		}
	}
	return nil
}

// checkOutput refuses a client that accepts nothing of what the skill gives, before it begins to work. JSON counts as
// text, too (R301).
func (c *Call) checkOutput() error {
	accepted, modes := c.req.AcceptedOutputModes, c.skill.OutputModes
	if len(accepted) == 0 || len(modes) == 0 {
		return nil
	}
	for _, mode := range modes {
		given := []string{mode}
		isJSON := accepts(given, runtime.MediaJSON)
		if accepts(accepted, mode) || isJSON && accepts(accepted, runtime.MediaText) ||
			slices.ContainsFunc(accepted, func(wish string) bool { return accepts(given, wish) }) {
			return nil
		}
	}
	return runtime.ErrContentTypeNotSupported.With("the client accepts %.200s, but the skill %s gives %s",
		strings.Join(accepted, ", "), c.skill.ID, strings.Join(modes, ", "))
}

// mediaOf returns a part's media type; that of text and data is known without saying.
func mediaOf(p *runtime.Part) string {
	switch {
	case p.MediaType != "":
		return p.MediaType
	case p.Kind == runtime.PartText:
		return runtime.MediaText
	case p.Kind == runtime.PartData:
		return runtime.MediaJSON
	}
	return ""
}

// accepts reports whether a list of media types covers one. An empty list accepts everything, as does "*/*"; "image/*"
// accepts images. The names of 0.1, "text" and "data", are understood. A part of unknown type is accepted.
func accepts(modes []string, media string) bool {
	if len(modes) == 0 || media == "" {
		return true
	}
	media = BareMedia(media)
	for _, m := range modes {
		switch m = BareMedia(m); {
		case m == media, m == "*/*":
			return true
		case m == "text" && media == runtime.MediaText, m == "data" && media == runtime.MediaJSON:
			return true
		case strings.HasSuffix(m, "/*") && strings.HasPrefix(media, m[:len(m)-1]):
			return true
		}
	}
	return false
}

// BareMedia drops the parameters of a media type and lowers its case.
func BareMedia(m string) string {
	if !strings.Contains(m, ";") && strings.ToLower(m) == m {
		return strings.TrimSpace(m)
	}
	if parsed, _, err := mime.ParseMediaType(m); err == nil {
		return parsed
	}
	return strings.ToLower(strings.TrimSpace(m))
}

// dataOf returns the first data part's value.
func dataOf(parts []runtime.Part) []byte {
	for i := range parts {
		if parts[i].Kind == runtime.PartData {
			return parts[i].Data
		}
	}
	return nil
}

// listSkills says in one text what the agent can do.
func (k *catalog) listSkills() string {
	var b strings.Builder
	b.WriteString("this agent's skills are")
	for i, sk := range k.skills {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(" " + sk.ID)
		if sk.Name != "" && sk.Name != sk.ID {
			b.WriteString(" (" + sk.Name + ")")
		}
	}
	return b.String()
}

// help is the answer to a person whose message fits no skill.
func (k *catalog) help() string {
	var b strings.Builder
	b.WriteString("I could not tell which of my skills you need. I can do this:\n")
	for _, sk := range k.skills {
		b.WriteString("\n- " + sk.Name)
		if sk.Name != sk.ID {
			b.WriteString(" [" + sk.ID + "]")
		}
		if sk.Description != "" {
			b.WriteString(": " + sk.Description)
		}
		if len(sk.Examples) > 0 {
			b.WriteString(" For example: " + sk.Examples[0])
		}
	}
	return b.String()
}

// skillMetadata is the metadata that names the skill of a message or artifact.
func skillMetadata(id string) wire.Object {
	o, err := wire.ObjectOf(map[string]map[string]string{runtime.SkillsExtension: {"skill": id}})
	if err != nil {
		return nil
	}
	return o
}
