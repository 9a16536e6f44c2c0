package client

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime"
	ext "github.com/a2agen/a2agen/runtime/gen/extension"
	"github.com/a2agen/a2agen/runtime/wire"
)

// WithExtension activates an extension of the agent, and sends a value with the message unless it is nil. A value that breaks
// its schema is an error before anything is sent. Generated clients have an option for each extension.
func WithExtension[T any, P ext.Encoder[T]](x *ext.Contract, v P) CallOption {
	return func(c *call) {
		c.ask(x)
		if v != nil {
			c.metadata = append(c.metadata, encoded(x, v))
		}
	}
}

// WithRequestExtension is [WithExtension] for a value in the metadata of the request.
func WithRequestExtension[T any, P ext.Encoder[T]](x *ext.Contract, v P) CallOption {
	return func(c *call) {
		c.ask(x)
		if v != nil {
			c.reqMetadata = append(c.reqMetadata, encoded(x, v))
		}
	}
}

// MethodsOf activates an extension in calls of its operations.
func MethodsOf(x *ext.Contract) Option {
	return func(c *Client) { c.extended = append(c.extended, x) }
}

// urisOf lists the extensions that a call of an operation activates, also by headers that the user set.
func (c *Client) urisOf(op *runtime.Operation, cl *call) []string {
	var uris []string
	for _, name := range []string{"A2A-Extensions", "X-A2A-Extensions"} {
		for _, line := range cl.header.Values(name) {
			uris = append(uris, strings.Split(line, ",")...)
		}
	}
	all := append(uris, cl.extensions...)
	uris = nil
	for _, uri := range all {
		if uri = strings.TrimSpace(uri); uri != "" {
			uris = ext.Named(uris, uri)
		}
	}
	for _, x := range c.extended {
		if slices.Contains(x.Methods, op.RPC) {
			uris = ext.Named(uris, x.URI)
		}
	}
	return uris
}

// AskFor activates an extension of the agent.
func AskFor(x *ext.Contract) CallOption { return func(c *call) { c.ask(x) } }

// WithExtensionPart is [WithExtension] for a value in a part of the message, behind the input.
func WithExtensionPart[T any, P ext.Encoder[T]](x *ext.Contract, v P) CallOption {
	return func(c *call) {
		c.ask(x)
		p, err := ext.Part(x, v)
		if err != nil {
			p = runtime.Part{Text: err.Error()} // an error before anything is sent
		}
		c.parts = append(c.parts, p)
	}
}

// encoded is the member of metadata for a value, or for the error of encoding it.
func encoded[T any, P ext.Encoder[T]](x *ext.Contract, v P) member {
	value, err := v.AppendJSON(nil)
	if err != nil {
		return member{x.Name(), err}
	}
	return member{x.Name(), wire.Value(value)}
}

// ask names an extension in the service parameter and in the message.
func (cl *call) ask(x *ext.Contract) {
	cl.extensions = append(cl.extensions, x.URI)
	cl.message.Extensions = ext.Named(cl.message.Extensions, x.URI)
}

// ExtensionParams decodes the params of an extension in the agent's card; nil if the card does not declare the extension, or
// declares it without params.
func ExtensionParams[T any, P ext.Decoder[T]](c *Client, x *ext.Contract) (P, error) {
	for _, e := range c.agent.info.Extensions {
		if e.URI != x.URI || len(e.Params) == 0 {
			continue
		}
		v := P(new(T))
		if err := v.UnmarshalJSON(e.Params); err != nil {
			return nil, invalid("the params of the extension "+x.URI, err)
		}
		return v, nil
	}
	return nil, nil
}

// checkRequired returns an error for a request without an extension that the agent requires (A2A 1.0 §3.3.4), except the
// skills extension, which calls of skills activate.
func (c *Client) checkRequired(uris []string) error {
	for _, e := range c.agent.info.Extensions {
		if !e.Required || runtime.IsSkillsExtension(e.URI) || slices.Contains(uris, e.URI) {
			continue
		}
		return runtime.ErrExtensionSupportRequired.AsReceived().
			With("the agent's card requires the extension %s: ask for it by an option of the call, Extensions or DefaultExtensions", e.URI).
			WithMetadata("extension", e.URI)
	}
	return nil
}
