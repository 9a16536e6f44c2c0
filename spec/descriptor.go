package spec

import (
	"path"
	"strings"

	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// descriptorOf is a definition as one who knows nothing of it can use it: a serialized FileDescriptorSet of the file and
// of what it imports, imports first. It is without comments, and without options that are not protobuf's own: what they
// say is for generators, and needs further files. The file is named after its package, whatever it is called: files of two
// versions differ then, unless they declare the same things.
func descriptorOf(root protoreflect.FileDescriptor) ([]byte, error) {
	set, seen := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	if err := addDescriptor(set, seen, root); err != nil {
		return nil, err
	}
	file := set.File[len(set.File)-1]
	file.Name = proto.String(path.Join(strings.ReplaceAll(file.GetPackage(), ".", "/"), "a2a.proto"))
	return proto.MarshalOptions{Deterministic: true}.Marshal(set)
}

func addDescriptor(set *descriptorpb.FileDescriptorSet, seen map[string]bool, f protoreflect.FileDescriptor) error {
	if seen[f.Path()] {
		return nil
	}
	seen[f.Path()] = true
	file, err := bare(protoutil.ProtoFromFileDescriptor(f))
	if err != nil {
		return err
	}
	file.Dependency, file.PublicDependency, file.WeakDependency = nil, nil, nil
	for i := range f.Imports().Len() {
		imp := f.Imports().Get(i)
		if forGenerators(imp.Path()) {
			continue
		}
		if imp.IsPublic {
			file.PublicDependency = append(file.PublicDependency, int32(len(file.Dependency)))
		}
		file.Dependency = append(file.Dependency, imp.Path())
		if err := addDescriptor(set, seen, imp.FileDescriptor); err != nil {
			return err
		}
	}
	set.File = append(set.File, file)
	return nil
}

// forGenerators reports whether a file that is built in has nothing but options.
func forGenerators(name string) bool {
	return strings.HasPrefix(name, "google/") && !strings.HasPrefix(name, "google/protobuf/")
}

// bare is a file without comments and without options that protobuf itself does not know.
func bare(f *descriptorpb.FileDescriptorProto) (*descriptorpb.FileDescriptorProto, error) {
	src, err := proto.Marshal(f)
	if err != nil {
		return nil, err
	}
	file := new(descriptorpb.FileDescriptorProto)
	none := new(protoregistry.Types)
	if err := (proto.UnmarshalOptions{DiscardUnknown: true, Resolver: none}).Unmarshal(src, file); err != nil {
		return nil, err
	}
	file.SourceCodeInfo = nil
	if features := file.GetOptions().GetFeatures(); features != nil {
		file.Options = &descriptorpb.FileOptions{Features: features}
	} else {
		file.Options = nil // packages of languages
	}
	return file, nil
}
