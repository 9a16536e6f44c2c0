package mcptools

import (
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"path"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
)

// contents is the artifact with the contents of a result that are no text.
const contents = "content"

// deliver gives a result to the handler and its task.
func (c *call) deliver(result *sdk.CallToolResult, out any) error {
	texts, files := read(result.Content)
	if result.IsError {
		return &ToolError{Server: c.server.Name, Tool: c.tool.Name, Text: excerpt(strings.Join(texts, "\n"), maxExcerpt)}
	}
	asText, isText := out.(*string)
	var value []byte
	if !isText {
		if value, texts = structured(result, texts); value == nil {
			return &AnswerError{Server: c.server.Name, Err: errors.New("it has no structured content")}
		}
		for _, text := range texts { // that say something else
			files = append(files, runtime.Text(text))
		}
	}
	if len(files) > 0 {
		a := runtime.ArtifactData{Name: contents, Parts: files}
		if c.known.ID != "" {
			a.ID = contents + "-" + c.known.ID // the same when the handler is called again
		}
		if err := c.task.Emit(a); err != nil {
			return err
		}
	}
	if isText {
		if *asText = strings.Join(texts, "\n"); len(result.Content) == 0 && result.StructuredContent != nil {
			value, _ = structured(result, nil)
			*asText = string(value)
		}
		return nil
	}
	if err := json.Unmarshal(value, out); err != nil {
		return &AnswerError{Server: c.server.Name, Err: err}
	}
	return nil
}

// structured is the structured content, as the server wrote it where one of the texts has the same: decoded numbers are
// floats. Without structured content it is the first text that is JSON. rest are the texts that say something else.
func structured(result *sdk.CallToolResult, texts []string) (value []byte, rest []string) {
	for _, text := range texts {
		var v any
		switch err := json.Unmarshal([]byte(text), &v); {
		case err == nil && value == nil && (result.StructuredContent == nil || reflect.DeepEqual(v, result.StructuredContent)):
			value = []byte(text)
		default:
			rest = append(rest, text)
		}
	}
	if value == nil && result.StructuredContent != nil {
		value, _ = json.Marshal(result.StructuredContent) // of decoded JSON
	}
	return value, rest
}

// read returns the texts of a result, and everything else as parts.
func read(list []sdk.Content) (texts []string, files []runtime.Part) {
	for _, c := range list {
		switch c := c.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ImageContent:
			files = append(files, runtime.File(named("image", c.MIMEType), c.MIMEType, c.Data))
		case *sdk.AudioContent:
			files = append(files, runtime.File(named("audio", c.MIMEType), c.MIMEType, c.Data))
		case *sdk.ResourceLink:
			files = append(files, runtime.Link(c.Name, c.MIMEType, c.URI))
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				files = append(files, resource(c.Resource))
			}
		}
	}
	return texts, files
}

// resource is an embedded resource as a file.
func resource(r *sdk.ResourceContents) runtime.Part {
	name := "resource"
	if u, err := url.Parse(r.URI); err == nil {
		if base := path.Base(u.Path); base != "." && base != "/" {
			name = base
		}
	}
	if r.Blob != nil {
		return runtime.File(name, r.MIMEType, r.Blob)
	}
	media := r.MIMEType
	if media == "" {
		media = "text/plain"
	}
	return runtime.File(name, media, []byte(r.Text))
}

// named is the name of a file of a media type: "image.png".
func named(base, media string) string {
	kind, _, err := mime.ParseMediaType(media)
	_, sub, _ := strings.Cut(kind, "/")
	sub, _, _ = strings.Cut(sub, "+")
	if err != nil || sub == "" || strings.Trim(sub, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return base
	}
	return base + "." + sub
}
