package client

import (
	"encoding/json"
	"errors"

	"github.com/a2agen/a2agen/runtime"
)

// Convention names the skill in a message, and puts the input where the agent expects it. A2A has no rule for either;
// these are the conventions of agents. A nil convention is [ByExtension] with an agent whose card declares the skills extension, else
// [BySkillID].
type Convention func(*Calling) error

// Calling is a message that calls a skill, for a [Convention] to complete.
type Calling struct {
	Skill string         // its id
	Parts []runtime.Part // of the message; an input with a schema is the first data part

	metadata, request []member
	extensions        []string
}

// Mark adds a member to the metadata of the message. The value must encode as JSON.
func (k *Calling) Mark(name string, value any) { k.metadata = append(k.metadata, member{name, value}) }

// MarkRequest adds a member to the metadata of the request around the message.
func (k *Calling) MarkRequest(name string, value any) {
	k.request = append(k.request, member{name, value})
}

// Activate names an extension in the message and in the service parameter A2A-Extensions (R152).
func (k *Calling) Activate(uri string) { k.extensions = append(k.extensions, uri) }

// data returns the first data part; nil without one.
func (k *Calling) data() *runtime.Part {
	for i := range k.Parts {
		if k.Parts[i].Kind == runtime.PartData {
			return &k.Parts[i]
		}
	}
	return nil
}

// errNoInput is the error of a convention that needs an input with a schema.
var errNoInput = errors.New("this skill is called with data, and the message has none")

// ByExtension names the skill by the skills extension of a2agen.
func ByExtension(k *Calling) error { return byExtension(k, runtime.SkillsExtension) }

func byExtension(k *Calling, uri string) error {
	if k.Activate(uri); k.Skill != "" {
		k.Mark(uri, extension{Skill: k.Skill})
	}
	return nil
}

// BySkillID names the skill by the metadata member "skillId", which most agents with several skills recognize.
func BySkillID(k *Calling) error {
	if k.Skill != "" {
		k.Mark("skillId", k.Skill)
	}
	return nil
}

// ByParameters sends one data part with the skill and its input: {"skill": id, "parameters": input}.
func ByParameters(k *Calling) error {
	in := k.data()
	if in == nil {
		return errNoInput
	}
	*in = runtime.Data(map[string]any{"skill": k.Skill, "parameters": json.RawMessage(in.Data)})
	return nil
}

// ByJSONText sends the input as JSON in a text part, for agents that accept only text, and names the skill as [BySkillID] does.
func ByJSONText(k *Calling) error {
	if in := k.data(); in != nil {
		*in = runtime.Text(string(in.Data))
	}
	return BySkillID(k)
}

// Unnamed does not name the skill: for an agent that has one skill, or chooses by itself.
func Unnamed(*Calling) error { return nil }

// ByInvocation puts the skill and its input into the metadata of the message, under the extension's URI: {"skillId": id, "arguments": input},
// as A2A#2178 proposes, whose form may still change. The message has the input as a data part, too.
func ByInvocation(uri string) Convention {
	return func(k *Calling) error {
		in := k.data()
		if in == nil {
			return errNoInput
		}
		k.Activate(uri)
		k.Mark(uri, map[string]any{"skillId": k.Skill, "arguments": json.RawMessage(in.Data)})
		return nil
	}
}

// ByContract selects a contract of the schema contract extension with that URI, as A2A#2180 proposes: in the metadata of the request, and
// in those of the part with the input. input and output name their representations; "" is none.
func ByContract(uri, contract, input, output string) Convention {
	return func(k *Calling) error {
		k.Activate(uri)
		selection := map[string]any{"contractId": contract}
		if output != "" {
			selection["acceptedOutputRepresentationIds"] = []string{output}
		}
		if input != "" {
			in := k.data()
			if in == nil {
				in = &k.Parts[0] // there is one
			}
			selection["inputRepresentationId"] = input
			var err error
			in.Metadata, err = object([]member{{uri, map[string]any{
				"contractId": contract, "direction": "input", "representationId": input, "role": "primary"}}})
			if err != nil {
				return err
			}
		}
		k.MarkRequest(uri, selection)
		return nil
	}
}

// Attach adds parts to the message of a skill's call, behind its input: files, or data that goes with a text.
func Attach(parts ...runtime.Part) CallOption {
	return func(c *call) { c.parts = append(c.parts, parts...) }
}

// TextInput is [Skill].In for a skill without input schema. An empty text makes no part, for a call that has others ([Attach]).
func TextInput(text string) ([]runtime.Part, error) {
	if text == "" {
		return nil, nil
	}
	return []runtime.Part{runtime.Text(text)}, nil
}
