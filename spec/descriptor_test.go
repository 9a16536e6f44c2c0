package spec

import (
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

// A descriptor is all that a peer needs to call what the definition declares, and no more.
func TestDescriptorsStandAlone(t *testing.T) {
	const definition = `syntax = "proto3";
package acme.v2;
option go_package = "example.com/acme";
import "google/api/annotations.proto";
import "google/protobuf/empty.proto";
import "parts/thing.proto";
// Things is a service.
service Things {
  // Drop drops.
  rpc Drop(Thing) returns (google.protobuf.Empty) { option (google.api.http) = { delete: "/things" }; option deprecated = true; }
}
`
	folder := fstest.MapFS{"parts/thing.proto": {Data: []byte("syntax = \"proto3\";\npackage acme.v2;\n// Thing is one.\nmessage Thing { map<string, string> names = 1; }\n")}}
	doc, problems := ReadIn("defs/my.proto", []byte(definition), folder)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	set := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(doc.Descriptor, set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"acme/v2/a2a.proto", "parts/thing.proto", "google/protobuf/empty.proto"} {
		f, err := files.FindFileByPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if f.SourceLocations().Len() > 0 || proto.Size(f.Options()) > 0 {
			t.Errorf("%s has comments or options: %v", name, f.Options())
		}
	}
	if files.NumFiles() != 3 {
		t.Errorf("%d files", files.NumFiles())
	}
	drop, err := files.FindDescriptorByName("acme.v2.Things.Drop")
	if err != nil {
		t.Fatal(err)
	}
	if options := drop.Options().(*descriptorpb.MethodOptions); !options.GetDeprecated() || len(options.ProtoReflect().GetUnknown()) > 0 {
		t.Errorf("the options are %v", options)
	}
	names, err := files.FindDescriptorByName("acme.v2.Thing.names")
	if err != nil || names.FullName() != "acme.v2.Thing.names" {
		t.Error(err)
	}
}
