package legacy

import (
	"bytes"
	"cmp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// compat is the member of a data part's metadata that says that its data, no object in 1.0, is wrapped as {"value": …}.
// The official SDKs use the same name.
const compat = "data_part_compat"

// AppendPart appends a part of 0.2 and 0.3: {"kind":"text",…}, {"kind":"file","file":{…},…} or {"kind":"data",…}.
func AppendPart(b []byte, p runtime.Part) ([]byte, error) { return appendPart(b, p, `,"kind":"`) }

// AppendTypedPart appends a part of 0.1, whose tag is called type.
func AppendTypedPart(b []byte, p runtime.Part) ([]byte, error) { return appendPart(b, p, `,"type":"`) }

func appendPart(b []byte, p runtime.Part, tag string) ([]byte, error) {
	start := len(b)
	b = append(b, tag...)
	metadata := p.Metadata
	var err error
	switch p.Kind {
	case runtime.PartText:
		b = wire.AppendString(append(b, `text","text":`...), p.Text)
	case runtime.PartRaw, runtime.PartURL:
		b = append(b, `file","file":`...)
		file := len(b)
		if p.Kind == runtime.PartRaw {
			b = wire.AppendBytes(append(b, `,"bytes":`...), p.Raw)
		} else {
			b = wire.AppendString(append(b, `,"uri":`...), p.URL)
		}
		if p.MediaType != "" {
			b = wire.AppendString(append(b, `,"mimeType":`...), p.MediaType)
		}
		if p.Filename != "" {
			b = wire.AppendString(append(b, `,"name":`...), p.Filename)
		}
		b = wire.EndObject(b, file)
	case runtime.PartData:
		data := p.Data
		if data.Kind() != wire.KindObject {
			if metadata, err = mark(p.Metadata); err != nil {
				return b, wire.In(err, "metadata")
			}
			if len(data) == 0 {
				data = wire.Value("null")
			}
			data = append(append(wire.Value(`{"value":`), data...), '}')
		}
		if b, err = wire.AppendValue(append(b, `data","data":`...), data); err != nil {
			return b, wire.In(err, "data")
		}
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

func mark(metadata wire.Object) (wire.Object, error) {
	err := metadata.Set(compat, true)
	return metadata, err
}

// AppendUnknownPart appends a part whose kind is not known: as it was read, if it was read so, else as a data part.
func AppendUnknownPart(b []byte, name string, v wire.Value, metadata wire.Object) ([]byte, error) {
	return appendUnknown(b, name, v, metadata, "kind", AppendPart)
}

// AppendUnknownTypedPart is AppendUnknownPart for 0.1.
func AppendUnknownTypedPart(b []byte, name string, v wire.Value, metadata wire.Object) ([]byte, error) {
	return appendUnknown(b, name, v, metadata, "type", AppendTypedPart)
}

func appendUnknown(b []byte, name string, v wire.Value, metadata wire.Object, tag string, write func([]byte, runtime.Part) ([]byte, error)) ([]byte, error) {
	if wire.HasTag(v, tag, name) {
		return wire.AppendValue(b, v)
	}
	var data wire.Object
	if err := data.Set(name, v); err != nil {
		return b, wire.In(err, name)
	}
	return write(b, runtime.Part{Kind: runtime.PartData, Data: wire.Value(data), Metadata: metadata})
}

// ReadPart reads a part of 0.2 or 0.3. The kind may be missing, or be called type. Of a part of an unknown kind only
// name, its kind, and value, the whole part, are set.
func ReadPart(r *wire.Reader) (p runtime.Part, name string, value wire.Value) {
	start, mark := r.Offset(), r.Mark()
	x := parts{}
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		x.member(r, string(key), key)
	}
	switch {
	case r.Err() != nil:
	case x.kind != "" && x.kind != "text" && x.kind != "file" && x.kind != "data":
		r.Rewind(mark)
		return runtime.Part{}, x.kind, r.Value()
	case x.kind != "" && !x.has(x.kind), x.kind == "" && x.Kind == runtime.PartUnknown:
		r.FailAt(start, "a part needs its text, file or data")
	}
	if x.Kind == runtime.PartData {
		Unwrap(&x.Part)
	}
	return x.Part, "", nil
}

// ReadTypedPart is ReadPart: either name of the tag is read by either.
func ReadTypedPart(r *wire.Reader) (p runtime.Part, name string, value wire.Value) {
	return ReadPart(r)
}

// parts is a part being read.
type parts struct {
	runtime.Part
	kind string
	seen wire.Seen
}

// has reports whether the content is of the kind.
func (x *parts) has(kind string) bool {
	switch kind {
	case "text":
		return x.Kind == runtime.PartText
	case "file":
		return x.Kind == runtime.PartRaw || x.Kind == runtime.PartURL
	default:
		return x.Kind == runtime.PartData
	}
}

// member reads one member.
func (x *parts) member(r *wire.Reader, name string, key []byte) {
	content := func(bit uint) bool {
		return r.Field(&x.seen, bit) && r.Only(x.Kind == runtime.PartUnknown)
	}
	switch name {
	case "kind":
		if r.Field(&x.seen, 4) {
			x.kind = r.String()
		}
	case "type": // the kind, unless that is there too
		if r.Field(&x.seen, 5) {
			x.kind = cmp.Or(x.kind, r.String())
		}
	case "text":
		if content(0) {
			x.Kind, x.Text = runtime.PartText, r.String()
		}
	case "data":
		if content(1) {
			x.Kind, x.Data = runtime.PartData, r.Value()
		}
	case "file":
		if content(2) {
			x.file(r)
		}
	case "metadata":
		if r.Field(&x.seen, 3) {
			x.Metadata = r.Struct()
		}
	default:
		r.Unknown(key)
	}
}

// file reads the nested file. Samples of 0.3 call its bytes data (T38).
func (x *parts) file(r *wire.Reader) {
	start := r.Offset()
	var seen wire.Seen
	for key, ok := r.Object(); ok; key, ok = r.Next() {
		switch string(key) {
		case "bytes", "data":
			if r.Field(&seen, 0) && r.Only(x.Kind == runtime.PartUnknown) {
				x.Kind, x.Raw = runtime.PartRaw, r.Bytes()
			}
		case "uri":
			if r.Field(&seen, 1) && r.Only(x.Kind == runtime.PartUnknown) {
				x.Kind, x.URL = runtime.PartURL, r.String()
			}
		case "mimeType":
			if r.Field(&seen, 2) {
				x.MediaType = r.String()
			}
		case "name":
			if r.Field(&seen, 3) {
				x.Filename = r.String()
			}
		default:
			r.Unknown(key)
		}
	}
	if x.Kind == runtime.PartUnknown && r.Err() == nil {
		r.FailAt(start, "a file needs bytes or a uri")
	}
}

// Unwrap undoes what writing does to data that is no object.
func Unwrap(x *runtime.Part) {
	if x.Data.Kind() != wire.KindObject || !bytes.Contains(x.Metadata, []byte(compat)) {
		return
	}
	marked, _ := x.Metadata.Get(compat)
	value, ok := wire.Object(x.Data).Get("value")
	if !ok || string(marked) != "true" {
		return
	}
	x.Data = append(wire.Value{}, value...)
	x.Metadata.Delete(compat)
}
