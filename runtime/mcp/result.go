package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// brokenOutput is what a model is told of an answer that is not what the schema of the tool promises.
const brokenOutput = "The tool has done its work, but its answer does not fit its schema. Do not call it again for the same."

// result is that of a completed call: of a typed skill its data, of any other all that it says.
func (c *call) result(r *rpc.Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{}}
	parts := r.Parts()
	if c.typed {
		if data := c.structured(r); data != nil {
			out.StructuredContent, parts = data, rest(parts)
			out.Content = append(out.Content, &sdk.TextContent{Text: string(data)})
		} else {
			out = failure(brokenOutput)
		}
	}
	out.Content = append(out.Content, contents(r.TaskID, parts)...)
	for _, a := range r.Beside() {
		out.Content = append(out.Content, contents(r.TaskID, a.Parts)...)
	}
	return withIDs(out, r)
}

// structured is the data of a result as its schema has it; nil if it has none. Clients take only an object.
func (c *call) structured(r *rpc.Result) json.RawMessage {
	data, err := r.JSON()
	switch {
	case err != nil:
		return nil
	case c.wrapped:
		return json.RawMessage(`{"` + valueKey + `":` + string(data) + `}`)
	case !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return nil
	}
	return json.RawMessage(data)
}

// rest is what a typed answer has beside its data: its files.
func rest(parts []runtime.Part) (files []runtime.Part) {
	for _, p := range parts {
		if p.Kind == runtime.PartRaw || p.Kind == runtime.PartURL {
			files = append(files, p)
		}
	}
	return files
}

// failed is the result of a call that came to an error, in words for a model, with what the agent had made by then.
func (c *call) failed(err error) *sdk.CallToolResult {
	if c.Failed != nil {
		c.Failed(c.listed.Name, err)
	}
	out := failure(words(err))
	var ended *rpc.TaskError
	if !errors.As(err, &ended) || ended.Result == nil {
		return out
	}
	for _, a := range ended.Result.Artifacts {
		out.Content = append(out.Content, contents(ended.TaskID, a.Parts)...)
	}
	return withIDs(out, ended.Result)
}

// failure is a result that says what went wrong.
func failure(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// withIDs names the task of a result, for whoever looks at it over A2A.
func withIDs(out *sdk.CallToolResult, r *rpc.Result) *sdk.CallToolResult {
	out.Meta = ids(r)
	return out
}

func ids(r *rpc.Result) sdk.Meta {
	m := sdk.Meta{}
	if r != nil && r.TaskID != "" {
		m["a2a/taskId"] = r.TaskID
	}
	if r != nil && r.ContextID != "" {
		m["a2a/contextId"] = r.ContextID
	}
	return m
}

// contents are parts as MCP has them. Texts that follow each other are one.
func contents(task string, parts []runtime.Part) (list []sdk.Content) {
	var before *sdk.TextContent
	for _, p := range parts {
		if before != nil && p.Kind == runtime.PartText {
			before.Text += p.Text
			continue
		}
		c := content(task, p)
		before = nil
		if p.Kind == runtime.PartText {
			before, _ = c.(*sdk.TextContent)
		}
		list = append(list, c)
	}
	return list
}

func content(task string, p runtime.Part) sdk.Content {
	switch p.Kind {
	case runtime.PartData:
		return &sdk.TextContent{Text: string(p.Data)}
	case runtime.PartURL:
		return &sdk.ResourceLink{URI: p.URL, Name: cmp.Or(p.Filename, "file"), MIMEType: p.MediaType}
	case runtime.PartRaw:
		return file(task, p)
	}
	return &sdk.TextContent{Text: p.Text}
}

// file is the content of a file: text as text, because models read that.
func file(task string, p runtime.Part) sdk.Content {
	kind, _, _ := strings.Cut(p.MediaType, "/")
	switch kind {
	case "image":
		return &sdk.ImageContent{Data: p.Raw, MIMEType: p.MediaType}
	case "audio":
		return &sdk.AudioContent{Data: p.Raw, MIMEType: p.MediaType}
	}
	r := &sdk.ResourceContents{
		URI: "a2a://" + url.PathEscape(cmp.Or(task, "message")) + "/" + url.PathEscape(cmp.Or(p.Filename, "file")), MIMEType: p.MediaType,
	}
	if kind == "text" && utf8.Valid(p.Raw) {
		r.Text = string(p.Raw)
	} else {
		r.Blob = p.Raw
	}
	return &sdk.EmbeddedResource{Resource: r}
}
