package a2awires

import (
	"errors"
	"path"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/a2agen/a2agen/runtime/wire"
	"github.com/a2agen/a2agen/spec"
)

// oldCodec is how one hub type is written and read in an older version.
type oldCodec struct {
	typ    reflect.Type
	append func(b []byte, x any) ([]byte, error)
	read   func(src []byte) (any, error)
	// def is the definition of the published schema that the value is written by.
	def string
}

func codecOf[T any](def string, write func([]byte, *T) ([]byte, error), read func(*wire.Reader, *T)) oldCodec {
	return oldCodec{
		typ: reflect.TypeFor[T](), def: def,
		append: func(b []byte, x any) ([]byte, error) { return write(b, x.(*T)) },
		read: func(src []byte) (any, error) {
			var r wire.Reader
			r.Reset(src)
			x := new(T)
			read(&r, x)
			if err := r.Done(); err != nil {
				return nil, err
			}
			return x, nil
		},
	}
}

// oldWires are the older wires with the types that between them hold all others.
var oldWires = map[string][]oldCodec{
	"0.3": {
		codecOf("MessageSendParams", appendSendMessageRequestV03JSON, readSendMessageRequestV03JSON),
		codecOf("SendMessageSuccessResponse.result", appendSendMessageResponseV03JSON, readSendMessageResponseV03JSON),
		codecOf("SendStreamingMessageSuccessResponse.result", appendStreamResponseV03JSON, readStreamResponseV03JSON),
		codecOf("Task", appendTaskV03JSON, readTaskV03JSON),
		codecOf("Message", appendMessageV03JSON, readMessageV03JSON),
		codecOf("Part", appendPartV03JSON, readPartV03JSON),
		codecOf("Artifact", appendArtifactV03JSON, readArtifactV03JSON),
		codecOf("TaskQueryParams", appendGetTaskRequestV03JSON, readGetTaskRequestV03JSON),
		codecOf("TaskIdParams", appendCancelTaskRequestV03JSON, readCancelTaskRequestV03JSON),
		codecOf("TaskIdParams", appendSubscribeToTaskRequestV03JSON, readSubscribeToTaskRequestV03JSON),
		codecOf("TaskPushNotificationConfig", appendTaskPushNotificationConfigV03JSON, readTaskPushNotificationConfigV03JSON),
		codecOf("GetTaskPushNotificationConfigParams", appendGetTaskPushNotificationConfigRequestV03JSON, readGetTaskPushNotificationConfigRequestV03JSON),
		codecOf("ListTaskPushNotificationConfigParams", appendListTaskPushNotificationConfigsRequestV03JSON, readListTaskPushNotificationConfigsRequestV03JSON),
		codecOf("ListTaskPushNotificationConfigSuccessResponse.result", appendListTaskPushNotificationConfigsResponseV03JSON, readListTaskPushNotificationConfigsResponseV03JSON),
		codecOf("DeleteTaskPushNotificationConfigParams", appendDeleteTaskPushNotificationConfigRequestV03JSON, readDeleteTaskPushNotificationConfigRequestV03JSON),
		codecOf("AgentCard", appendAgentCardV03JSON, readAgentCardV03JSON),
	},
	"0.2": {
		codecOf("MessageSendParams", appendSendMessageRequestV02JSON, readSendMessageRequestV02JSON),
		codecOf("SendMessageSuccessResponse.result", appendSendMessageResponseV02JSON, readSendMessageResponseV02JSON),
		codecOf("SendStreamingMessageSuccessResponse.result", appendStreamResponseV02JSON, readStreamResponseV02JSON),
		codecOf("Task", appendTaskV02JSON, readTaskV02JSON),
		codecOf("Message", appendMessageV02JSON, readMessageV02JSON),
		codecOf("Part", appendPartV02JSON, readPartV02JSON),
		codecOf("Artifact", appendArtifactV02JSON, readArtifactV02JSON),
		codecOf("TaskQueryParams", appendGetTaskRequestV02JSON, readGetTaskRequestV02JSON),
		codecOf("TaskIdParams", appendCancelTaskRequestV02JSON, readCancelTaskRequestV02JSON),
		codecOf("TaskIdParams", appendSubscribeToTaskRequestV02JSON, readSubscribeToTaskRequestV02JSON),
		codecOf("TaskPushNotificationConfig", appendTaskPushNotificationConfigV02JSON, readTaskPushNotificationConfigV02JSON),
		codecOf("GetTaskPushNotificationConfigParams", appendGetTaskPushNotificationConfigRequestV02JSON, readGetTaskPushNotificationConfigRequestV02JSON),
		codecOf("ListTaskPushNotificationConfigParams", appendListTaskPushNotificationConfigsRequestV02JSON, readListTaskPushNotificationConfigsRequestV02JSON),
		codecOf("ListTaskPushNotificationConfigSuccessResponse.result", appendListTaskPushNotificationConfigsResponseV02JSON, readListTaskPushNotificationConfigsResponseV02JSON),
		codecOf("DeleteTaskPushNotificationConfigParams", appendDeleteTaskPushNotificationConfigRequestV02JSON, readDeleteTaskPushNotificationConfigRequestV02JSON),
		codecOf("AgentCard", appendAgentCardV02JSON, readAgentCardV02JSON),
	},
	"0.1": {
		codecOf("TaskSendParams", appendSendMessageRequestV01JSON, readSendMessageRequestV01JSON),
		codecOf("Task", appendSendMessageResponseV01JSON, readSendMessageResponseV01JSON),
		codecOf("SendTaskStreamingResponse.result", appendStreamResponseV01JSON, readStreamResponseV01JSON),
		codecOf("Task", appendTaskV01JSON, readTaskV01JSON),
		codecOf("Message", appendMessageV01JSON, readMessageV01JSON),
		codecOf("Part", appendPartV01JSON, readPartV01JSON),
		codecOf("Artifact", appendArtifactV01JSON, readArtifactV01JSON),
		codecOf("TaskQueryParams", appendGetTaskRequestV01JSON, readGetTaskRequestV01JSON),
		codecOf("TaskQueryParams", appendSubscribeToTaskRequestV01JSON, readSubscribeToTaskRequestV01JSON),
		codecOf("TaskIdParams", appendCancelTaskRequestV01JSON, readCancelTaskRequestV01JSON),
		codecOf("TaskIdParams", appendGetTaskPushNotificationConfigRequestV01JSON, readGetTaskPushNotificationConfigRequestV01JSON),
		codecOf("TaskPushNotificationConfig", appendTaskPushNotificationConfigV01JSON, readTaskPushNotificationConfigV01JSON),
		codecOf("AgentCard", appendAgentCardV01JSON, readAgentCardV01JSON),
	},
}

// schemas compiles the definitions that the codecs of a version name. "X.result" is that member of X.
func schemas(t *testing.T, version string) map[string]*jsonschema.Schema {
	t.Helper()
	src, err := spec.Source(version)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("a2a.json", bytesReader(src)); err != nil {
		t.Fatal(err)
	}
	folder := "definitions"
	if version == "0.1" {
		folder = "$defs"
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, c := range oldWires[version] {
		name := c.def
		if whole, member, ok := cutDot(name); ok {
			name = path.Join(whole, "properties", member)
		}
		s, err := compiler.Compile("a2a.json#/" + folder + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		compiled[c.def] = s
	}
	return compiled
}

// violation is the innermost reason why doc is not valid.
func violation(s *jsonschema.Schema, doc any) error {
	err := s.Validate(doc)
	var v *jsonschema.ValidationError
	if errors.As(err, &v) {
		return errors.New(v.GoString())
	}
	return err
}
