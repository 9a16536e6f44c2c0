package legacy

import (
	"bytes"
	"encoding/base64"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// AppendWrappedPart appends a part as the proto of 0.3 has it: {"text":…}, {"file":{"fileWithUri":…}} or {"data":{"data":{…}}}
// (T31). A file's name and a part's metadata are what the SDKs of 0.3 read and write, though the tagged definition has neither.
func AppendWrappedPart(b []byte, p runtime.Part) ([]byte, error) {
	start := len(b)
	metadata := p.Metadata
	var err error
	switch p.Kind {
	case runtime.PartText:
		b = wire.AppendString(append(b, `,"text":`...), p.Text)
	case runtime.PartRaw, runtime.PartURL:
		b = appendWrappedFile(append(b, `,"file":`...), p)
	case runtime.PartData:
		data := p.Data
		if data, metadata, err = Wrap(data, metadata); err != nil {
			return b, wire.In(err, "metadata")
		}
		if b, err = wire.AppendValue(append(b, `,"data":{"data":`...), data); err != nil {
			return b, wire.In(err, "data")
		}
		b = append(b, '}')
	default:
		return b, wire.NoCase("text", "file", "data")
	}
	if len(metadata) > 0 {
		if b, err = wire.AppendStruct(append(b, `,"metadata":`...), metadata); err != nil {
			return b, wire.In(err, "metadata")
		}
	}
	return wire.EndObject(b, start), nil
}

// Wrap makes data that is no object one, and marks it.
func Wrap(data wire.Value, metadata wire.Object) (wire.Value, wire.Object, error) {
	if data.Kind() == wire.KindObject {
		return data, metadata, nil
	}
	marked, err := mark(metadata)
	if len(data) == 0 {
		data = wire.Value("null")
	}
	return append(append(wire.Value(`{"value":`), data...), '}'), marked, err
}

func appendWrappedFile(b []byte, p runtime.Part) []byte {
	start := len(b)
	if p.Kind == runtime.PartRaw {
		b = wire.AppendBytes(append(b, `,"fileWithBytes":`...), FileText(p.Raw))
	} else {
		b = wire.AppendString(append(b, `,"fileWithUri":`...), p.URL)
	}
	if p.MediaType != "" {
		b = wire.AppendString(append(b, `,"mimeType":`...), p.MediaType)
	}
	if p.Filename != "" {
		b = wire.AppendString(append(b, `,"name":`...), p.Filename)
	}
	return wire.EndObject(b, start)
}

// AppendUnknownWrappedPart appends a part whose kind is not known as a data part: peers refuse members that they do not know.
func AppendUnknownWrappedPart(b []byte, name string, v wire.Value, metadata wire.Object) ([]byte, error) {
	var data wire.Object
	if err := data.Set(name, v); err != nil {
		return b, wire.In(err, name)
	}
	return AppendWrappedPart(b, runtime.Part{Kind: runtime.PartData, Data: wire.Value(data), Metadata: metadata})
}

// ReadWrappedPart reads a part of the proto of 0.3, or one of its schema ([ReadPart]), which has a kind. Of a part that
// holds a single member, which is not known, only name and value are set.
func ReadWrappedPart(r *wire.Reader) (p runtime.Part, name string, value wire.Value) {
	start, dataAt, tagged := r.Offset(), 0, false
	var seen wire.Seen
	var extra wire.Extra
	content := func(bit uint) bool { return r.Field(&seen, bit) && r.Only(p.Kind == runtime.PartUnknown) }
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch string(key) {
		case "text":
			if content(0) {
				p.Kind, p.Text = runtime.PartText, r.String()
			}
		case "file":
			if content(1) {
				readWrappedFile(r, &p)
			}
		case "data":
			if content(2) {
				dataAt = r.Offset()
				p.Kind, p.Data = runtime.PartData, r.Value()
			}
		case "kind", "type":
			tagged = true
			r.Skip()
		case "metadata":
			if r.Field(&seen, 3) {
				p.Metadata = r.Struct()
			}
		default:
			r.UnknownCase(key, &extra)
		}
	}
	if p.Kind == runtime.PartUnknown && r.Err() == nil {
		if name, value, ok := extra.Case(); ok {
			return runtime.Part{Metadata: p.Metadata}, name, value
		}
		r.FailAt(start, "a part needs its text, file or data")
	}
	if p.Kind == runtime.PartData && r.Err() == nil {
		if !tagged {
			r.Reread(dataAt, p.Data, func(in *wire.Reader) { p.Data = readWrappedData(in) })
		}
		x := parts{Part: p}
		Unwrap(&x.Part)
		p = x.Part
	}
	return p, "", nil
}

func readWrappedFile(r *wire.Reader, p *runtime.Part) {
	start := r.Offset()
	var seen wire.Seen
	content := func(bit uint) bool { return r.Field(&seen, bit) && r.Only(p.Kind == runtime.PartUnknown) }
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch string(key) {
		case "fileWithBytes", "file_with_bytes":
			if content(0) {
				p.Kind, p.Raw = runtime.PartRaw, FileContent(r.Bytes())
			}
		case "bytes":
			if content(0) {
				p.Kind, p.Raw = runtime.PartRaw, r.Bytes()
			}
		case "fileWithUri", "file_with_uri", "uri":
			if content(1) {
				p.Kind, p.URL = runtime.PartURL, r.String()
			}
		case "mimeType", "mime_type":
			if r.Field(&seen, 2) {
				p.MediaType = r.String()
			}
		case "name":
			if r.Field(&seen, 3) {
				p.Filename = r.String()
			}
		default:
			r.Unknown(key)
		}
	}
	if p.Kind == runtime.PartUnknown && r.Err() == nil {
		r.FailAt(start, "a file needs bytes or a uri")
	}
}

// readWrappedData reads {"data":{…}}. Without the inner member the data is an empty object.
func readWrappedData(r *wire.Reader) wire.Value {
	data := wire.Value("{}")
	var seen wire.Seen
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		if string(key) != "data" {
			r.Unknown(key)
		} else if r.Field(&seen, 0) {
			data = wire.Value(r.Struct())
		}
	}
	return data
}

// FileText is what stands for the content of a file in the proto's field of bytes, also in its ProtoJSON: base64, as the
// official SDKs for Go, Python and Java have it, which fail on anything else. The SDK for JavaScript has the content itself.
func FileText(content []byte) []byte {
	return base64.StdEncoding.AppendEncode(make([]byte, 0, base64.StdEncoding.EncodedLen(len(content))), content)
}

// FileContent reads either: what is no base64 is the content itself.
func FileContent(b []byte) []byte {
	content, err := base64.StdEncoding.Strict().AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(b))), b)
	if err != nil || bytes.ContainsAny(b, "\r\n") {
		return b
	}
	return content
}
