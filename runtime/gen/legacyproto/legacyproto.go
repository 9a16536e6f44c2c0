// Package legacyproto has the protobuf sides of the hooks of package legacy, which only agents with gRPC link.
package legacyproto

import (
	"cmp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/gen/legacy"
	"github.com/a2agen/a2agen/runtime/gen/proto"
	"github.com/a2agen/a2agen/runtime/wire"
)

// The hooks of package legacy of the same names, for protobuf.
var (
	TaskName = proto.Hook[string]{
		Write: putTaskName,
		Read:  func(r *proto.Reader, _ string) (id string) { return legacy.TaskOfName(r.String()) },
	}
	ConfigParent = proto.Hook[string]{
		Write: putTaskName,
		Read: func(r *proto.Reader, _ string) (taskID string) {
			taskID, _ = legacy.ConfigOfName(r.String())
			return taskID
		},
	}
	ConfigName = proto.Pair{
		Write: func(w *proto.Writer, tag uint32, taskID, id string) {
			if taskID != "" || id != "" {
				w.String(tag, legacy.NameOfConfig(taskID, id))
			}
		},
		Read: func(r *proto.Reader) (taskID, id string) { return legacy.ConfigOfName(r.String()) },
	}
	BlockingFlag = proto.Hook[bool]{
		Write: func(w *proto.Writer, tag uint32, returnImmediately bool) error {
			if !returnImmediately {
				w.Bool(tag, true)
			}
			return nil
		},
		Read:   func(r *proto.Reader, _ bool) (returnImmediately bool) { return !r.Bool() },
		Absent: func() (returnImmediately bool) { return true },
	}
	// Schemes are elements of a list (T46). The first that is not empty counts.
	Schemes = proto.Hook[string]{
		Write: func(w *proto.Writer, tag uint32, scheme string) error {
			putText(w, tag, scheme)
			return nil
		},
		Read: func(r *proto.Reader, old string) string { return cmp.Or(old, r.String()) },
	}
)

func putTaskName(w *proto.Writer, tag uint32, id string) error {
	if id != "" {
		w.String(tag, legacy.NameOfTask(id))
	}
	return nil
}

// Fields of messages that hooks read and write whole, as tags of delimited fields.
const (
	protoText, protoFile, protoData, protoMetadata         = 1<<3 | 2, 2<<3 | 2, 3<<3 | 2, 4<<3 | 2 // Part
	protoFileURI, protoFileBytes, protoFileType, protoName = 1<<3 | 2, 2<<3 | 2, 3<<3 | 2, 4<<3 | 2 // FilePart
	protoDataData                                          = 1<<3 | 2                               // DataPart
	protoURL, protoTransport                               = 1<<3 | 2, 2<<3 | 2                     // AgentInterface
)

// PutInterfaces writes one of the card's fields for the interfaces of a version, or for all if there are none of it.
func PutInterfaces(w *proto.Writer, tag uint32, list []runtime.Interface, version, member string) {
	main, whole := legacy.InterfacesFor(list, version)
	text := map[string]string{"url": main.URL, "preferredTransport": main.Binding, "protocolVersion": legacy.FullVersions[version]}[member]
	if text != "" {
		w.String(tag, text)
	}
	if member != "additionalInterfaces" {
		return
	}
	for _, i := range whole {
		m := w.Begin(tag)
		putText(w, protoURL, i.URL)
		putText(w, protoTransport, i.Binding)
		w.End(m)
	}
}

func putText(w *proto.Writer, tag uint32, text string) {
	if text != "" {
		w.String(tag, text)
	}
}

// TakeInterfaces reads the value of one of the fields.
func TakeInterfaces(i *legacy.Interfaces, r *proto.Reader, member string) {
	switch member {
	case "url":
		i.URL = r.String()
	case "preferredTransport":
		i.Transport = r.String()
	case "protocolVersion":
		i.Version = r.String()
	default:
		var one runtime.Interface
		m := r.Enter(2)
		for tag := r.Tag(); tag != 0; tag = r.Tag() {
			switch tag {
			case protoURL:
				one.URL = r.String()
			case protoTransport:
				one.Binding = r.String()
			default:
				r.Skip(tag)
			}
		}
		r.Leave(m)
		i.More = append(i.More, one)
	}
}

// PutWrappedPart writes the content of a part.
func PutWrappedPart(w *proto.Writer, p runtime.Part) (err error) {
	data, metadata := p.Data, p.Metadata
	if p.Kind == runtime.PartData {
		if data, metadata, err = legacy.Wrap(p.Data, p.Metadata); err != nil {
			return wire.In(err, "metadata")
		}
	}
	if len(metadata) > 0 {
		if err := w.Struct(protoMetadata, metadata); err != nil {
			return wire.In(err, "metadata")
		}
	}
	switch p.Kind {
	case runtime.PartText:
		w.String(protoText, p.Text)
	case runtime.PartRaw, runtime.PartURL:
		m := w.Begin(protoFile)
		putText(w, protoFileType, p.MediaType)
		putText(w, protoName, p.Filename)
		if p.Kind == runtime.PartRaw {
			w.Bytes(protoFileBytes, legacy.FileText(p.Raw))
		} else {
			w.String(protoFileURI, p.URL)
		}
		w.End(m)
	case runtime.PartData:
		m := w.Begin(protoData)
		if err := w.Struct(protoDataData, wire.Object(data)); err != nil {
			return wire.In(err, "data")
		}
		w.End(m)
	default:
		return wire.NoCase("text", "file", "data")
	}
	return nil
}

// PutUnknownWrappedPart writes the content of a part whose kind is not known as that of a data part.
func PutUnknownWrappedPart(w *proto.Writer, name string, v wire.Value, metadata wire.Object) error {
	var data wire.Object
	if err := data.Set(name, v); err != nil {
		return wire.In(err, name)
	}
	return PutWrappedPart(w, runtime.Part{Kind: runtime.PartData, Data: wire.Value(data), Metadata: metadata})
}

// TakeWrappedPart reads the content of a part. Of one that holds a single field, which is not known, only name and value are
// set. The last content counts, as everywhere in protobuf.
func TakeWrappedPart(r *proto.Reader) (p runtime.Part, name string, value wire.Value) {
	var extra proto.Extra
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag {
		case protoText:
			p = runtime.Part{Kind: runtime.PartText, Text: r.String(), Metadata: p.Metadata}
		case protoFile:
			m := r.Enter(1)
			takeFile(r, &p)
			r.Leave(m)
		case protoData:
			p = runtime.Part{Kind: runtime.PartData, Data: wire.Value("{}"), Metadata: p.Metadata}
			m := r.Enter(1)
			for tag := r.Tag(); tag != 0; tag = r.Tag() {
				if tag == protoDataData {
					p.Data = wire.Value(r.Struct(nil))
				} else {
					r.Skip(tag)
				}
			}
			r.Leave(m)
		case protoMetadata:
			p.Metadata = r.Struct(p.Metadata)
		default:
			r.UnknownCase(tag, &extra)
		}
	}
	switch p.Kind {
	case runtime.PartUnknown:
		if name, value, ok := extra.Case(); ok {
			return p, name, value
		}
		r.Incomplete()
	case runtime.PartData:
		legacy.Unwrap(&p)
	}
	return p, "", nil
}

// takeFile reads a file. One without bytes and uri leaves the part without content.
func takeFile(r *proto.Reader, p *runtime.Part) {
	*p = runtime.Part{Metadata: p.Metadata}
	for tag := r.Tag(); tag != 0; tag = r.Tag() {
		switch tag {
		case protoFileURI:
			p.Kind, p.URL, p.Raw = runtime.PartURL, r.String(), nil
		case protoFileBytes:
			p.Kind, p.Raw, p.URL = runtime.PartRaw, legacy.FileContent(r.Bytes()), ""
		case protoFileType:
			p.MediaType = r.String()
		case protoName:
			p.Filename = r.String()
		default:
			r.Skip(tag)
		}
	}
}
