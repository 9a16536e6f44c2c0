// Package prototest makes random protobuf messages of a definition, to compare our codecs with google.golang.org/protobuf.
package prototest

import (
	"context"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Compile compiles a proto file that imports nothing but google's.
func Compile(source string) (protoreflect.FileDescriptor, error) {
	const name = "test.proto"
	resolve := func(path string) (protocompile.SearchResult, error) {
		if path == name {
			return protocompile.SearchResult{Source: strings.NewReader(source)}, nil
		}
		d, err := protoregistry.GlobalFiles.FindFileByPath(path)
		return protocompile.SearchResult{Desc: d}, err
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(protocompile.ResolverFunc(resolve))}
	files, err := compiler.Compile(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// needed are messages that have to be there although the proto of 0.3 does not say so.
var needed = []string{"Task.status", "TaskStatusUpdateEvent.status", "TaskArtifactUpdateEvent.artifact", "TaskPushNotificationConfig.push_notification_config"}

// required reports whether the field has google.api.field_behavior REQUIRED. Compiled options hold extensions in a form that
// the typed getters refuse; a trip through bytes turns them into the registered one.
func required(f protoreflect.FieldDescriptor) bool {
	if slices.Contains(needed, string(f.Parent().Name())+"."+string(f.Name())) {
		return true
	}
	b, err := proto.Marshal(f.Options())
	if err != nil || len(b) == 0 {
		return false
	}
	var typed descriptorpb.FieldOptions
	if err := proto.Unmarshal(b, &typed); err != nil {
		return false
	}
	behaviors, _ := proto.GetExtension(&typed, annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	for _, x := range behaviors {
		if x == annotations.FieldBehavior_REQUIRED {
			return true
		}
	}
	return false
}
