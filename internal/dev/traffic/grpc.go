package traffic

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/a2agen/a2agen/spec"
	"github.com/a2agen/a2agen/testkit/record"
)

// Definitions know the messages of services of gRPC.
type Definitions struct{ files []*protoregistry.Files }

// NewDefinitions reads definitions, each a serialized FileDescriptorSet. The first that has a service counts.
func NewDefinitions(sets ...[]byte) (*Definitions, error) {
	d := &Definitions{}
	for _, set := range sets {
		var s descriptorpb.FileDescriptorSet
		if err := proto.Unmarshal(set, &s); err != nil {
			return nil, fmt.Errorf("read a definition: %w", err)
		}
		files, err := protodesc.NewFiles(&s)
		if err != nil {
			return nil, fmt.Errorf("read a definition: %w", err)
		}
		d.files = append(d.files, files)
	}
	return d, nil
}

// Shipped are the definitions in sets, which come first, and those that the tool has. It is nil if one cannot be read:
// then nothing of gRPC is.
func Shipped(sets [][]byte) *Definitions {
	for _, version := range spec.Versions() {
		if doc, err := spec.ShippedProto(version); err == nil && doc != nil {
			sets = append(sets, doc.Descriptor)
		}
	}
	d, err := NewDefinitions(slices.DeleteFunc(sets, func(set []byte) bool { return len(set) == 0 })...)
	if err != nil {
		return nil
	}
	return d
}

// method finds a method by its path: "/lf.a2a.v1.A2AService/GetTask". It is nil if no definition has it.
func (d *Definitions) method(path string) protoreflect.MethodDescriptor {
	if d == nil {
		return nil
	}
	service, name, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok || !protoreflect.FullName(service).IsValid() {
		return nil
	}
	for _, f := range d.files {
		found, err := f.FindDescriptorByName(protoreflect.FullName(service))
		if s, ok := found.(protoreflect.ServiceDescriptor); err == nil && ok {
			return s.Methods().ByName(protoreflect.Name(name))
		}
	}
	return nil
}

const messageHeader = 5 // a flag, and the length

// message reads a message of gRPC with its header, and returns it as JSON, masked, with the secrets that it has. It is
// nil for one that is compressed, or does not fit.
func (m *mask) message(frame []byte, of protoreflect.MessageDescriptor) (text json.RawMessage, secrets []string) {
	if of == nil || len(frame) < messageHeader || frame[0] != 0 || int(binary.BigEndian.Uint32(frame[1:])) != len(frame)-messageHeader {
		return nil, nil
	}
	v := dynamicpb.NewMessage(of)
	if proto.Unmarshal(frame[messageHeader:], v) != nil {
		return nil, nil
	}
	secrets = secretsOf(v)
	for _, s := range secrets {
		m.find(s)
	}
	text, err := protojson.Marshal(v)
	if err != nil {
		return nil, secrets
	}
	return m.text(text), secrets
}

// secretsOf returns the secrets of a message, by the names of their fields.
func secretsOf(v protoreflect.Message) (secrets []string) {
	v.Range(func(f protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case f.IsMap():
			value.Map().Range(func(k protoreflect.MapKey, e protoreflect.Value) bool {
				if f.MapValue().Message() != nil {
					secrets = append(secrets, secretsOf(e.Message())...)
				}
				if s := stringIn(e); s != "" && record.SecretMember(k.String()) {
					secrets = append(secrets, s)
				}
				return true
			})
		case f.IsList() && f.Message() != nil:
			for i := range value.List().Len() {
				secrets = append(secrets, secretsOf(value.List().Get(i).Message())...)
			}
		case f.Message() != nil && !f.IsList():
			secrets = append(secrets, secretsOf(value.Message())...)
		case f.Kind() == protoreflect.StringKind && !f.IsList() && record.SecretMember(string(f.Name())):
			secrets = append(secrets, value.String())
		}
		return true
	})
	return secrets
}

// stringIn returns a string, also where it is a google.protobuf.Value.
func stringIn(v protoreflect.Value) string {
	switch x := v.Interface().(type) {
	case string:
		return x
	case protoreflect.Message:
		if f := x.Descriptor().Fields().ByName("string_value"); f != nil && x.Has(f) {
			return x.Get(f).String()
		}
	}
	return ""
}
