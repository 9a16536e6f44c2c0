package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Place is where a parameter goes.
type Place string

// The places.
const (
	Path   Place = "path"
	Query  Place = "query"
	Header Place = "header"
)

// Style is how a value that is a list or an object is written.
type Style string

// The styles. The zero value repeats a query parameter for each item, and joins items with commas elsewhere.
const (
	Repeated   Style = ""
	Commas     Style = "commas"
	Spaces     Style = "spaces"
	Pipes      Style = "pipes"
	DeepObject Style = "deepObject" // filter[from]=1
	JSON       Style = "json"
)

// Param is a parameter: the member of the input with its name.
type Param struct {
	Name  string
	In    Place
	Style Style
	// Member is the member of the input, where that has another name.
	Member string
}

func (p Param) member() string {
	if p.Member != "" {
		return p.Member
	}
	return p.Name
}

// Body says what is sent as a request's body.
type Body struct {
	From BodyFrom
	Type string // the media type; "" is application/json
}

// BodyFrom is of which members a body is made.
type BodyFrom int

// The kinds of body.
const (
	NoBody     BodyFrom = iota
	BodyRest            // an object of all members that are no parameters
	BodyMember          // the member "body"
)

// The media types of bodies.
const (
	mediaJSON = "application/json"
	MediaForm = "application/x-www-form-urlencoded"
)

// errInput marks an input that cannot be sent.
var errInput = errors.New("the input cannot be sent")

// request makes the request of an operation.
func (op Operation) request(ctx context.Context, base string, in members) (*http.Request, error) {
	path, query, header, err := op.place(in)
	if err != nil {
		return nil, err
	}
	body, media, err := op.body(in)
	if err != nil {
		return nil, err
	}
	at := base + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, op.Method, at, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header = header
	if body != nil {
		req.Header.Set("Content-Type", media)
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", mediaJSON)
		if op.Text {
			req.Header.Set("Accept", "text/plain, */*;q=0.1")
		}
	}
	return req, nil
}

// place puts the parameters where they belong.
func (op Operation) place(in members) (path string, query url.Values, header http.Header, err error) {
	path, query, header = op.Path, url.Values{}, http.Header{}
	for _, p := range op.Params {
		raw, has := in[p.member()]
		if !has || string(raw) == "null" && p.In != Path {
			continue
		}
		var v any
		if err := decodeNumbers(raw, &v); err != nil {
			return "", nil, nil, err
		}
		switch p.In {
		case Path:
			text := strings.Join(flat(v, p.Style), ",")
			if text == "" || text == "." || text == ".." {
				return "", nil, nil, fmt.Errorf("%w: %s must not be %q", errInput, p.Name, text)
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
		case Header:
			text := strings.Join(flat(v, p.Style), ",")
			if strings.ContainsAny(text, "\r\n\x00") {
				return "", nil, nil, fmt.Errorf("%w: %s has a line break", errInput, p.Name)
			}
			header.Set(p.Name, text)
		default:
			addQuery(query, p, v)
		}
	}
	if strings.ContainsAny(path, "{}") {
		return "", nil, nil, fmt.Errorf("%w: a parameter of the path %s is missing", errInput, op.Path)
	}
	return path, query, header, nil
}

// decodeNumbers decodes JSON and keeps numbers as they are written.
func decodeNumbers(src []byte, v *any) error {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("read the input: %w", err)
	}
	return nil
}

// addQuery adds a value to the query.
func addQuery(query url.Values, p Param, v any) {
	object, isObject := v.(map[string]any)
	switch {
	case p.Style == DeepObject:
		addForm(query, p.Name, v)
	case isObject && p.Style == Repeated:
		for _, k := range sortedKeys(object) {
			query.Add(k, text(object[k]))
		}
	case p.Style == Repeated:
		for _, item := range flat(v, p.Style) {
			query.Add(p.Name, item)
		}
	default:
		query.Set(p.Name, strings.Join(flat(v, p.Style), separators[p.Style]))
	}
}

var separators = map[Style]string{Commas: ",", Spaces: " ", Pipes: "|"}

// flat returns a value as texts: a list by its items, an object by its keys and values in turn.
func flat(v any, style Style) []string {
	if style == JSON {
		src, _ := json.Marshal(v) // of decoded JSON
		return []string{string(src)}
	}
	switch v := v.(type) {
	case []any:
		list := make([]string, len(v))
		for i, item := range v {
			list[i] = text(item)
		}
		return list
	case map[string]any:
		var list []string
		for _, k := range sortedKeys(v) {
			list = append(list, k, text(v[k]))
		}
		return list
	}
	return []string{text(v)}
}

// text is a value as it is written in an address: a text as it is, anything else as JSON.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	src, _ := json.Marshal(v) // of decoded JSON
	return string(src)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// body makes the request's body; nil for none.
func (op Operation) body(in members) (io.Reader, string, error) {
	media := op.Body.Type
	if media == "" {
		media = mediaJSON
	}
	var src json.RawMessage
	switch op.Body.From {
	case NoBody:
		return nil, "", nil
	case BodyMember:
		if src = in["body"]; src == nil {
			return nil, "", nil
		}
	case BodyRest:
		rest := map[string]json.RawMessage{}
		for name, v := range in {
			if !slices.ContainsFunc(op.Params, func(p Param) bool { return p.member() == name }) {
				rest[name] = v
			}
		}
		var err error
		if src, err = json.Marshal(rest); err != nil {
			return nil, "", fmt.Errorf("write the body: %w", err)
		}
	}
	if media != MediaForm {
		return bytes.NewReader(src), media, nil
	}
	var v any
	if err := decodeNumbers(src, &v); err != nil {
		return nil, "", err
	}
	form := url.Values{}
	if object, is := v.(map[string]any); is {
		for _, k := range sortedKeys(object) {
			addForm(form, k, object[k])
		}
	}
	return strings.NewReader(form.Encode()), media, nil
}

// addForm adds a value to a form: a list item by item, the members of an object in brackets.
func addForm(form url.Values, name string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for _, k := range sortedKeys(v) {
			addForm(form, name+"["+k+"]", v[k])
		}
	case []any:
		for _, item := range v {
			addForm(form, name, item)
		}
	default:
		form.Add(name, text(v))
	}
}
