package a2awires

import (
	"encoding/json"
	"path"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

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
		codecOf("MessageSendParams", codecSendMessageRequestV03JSON.Append, codecSendMessageRequestV03JSON.Read),
		codecOf("SendMessageSuccessResponse.result", codecSendMessageResponseV03JSON.Append, codecSendMessageResponseV03JSON.Read),
		codecOf("SendStreamingMessageSuccessResponse.result", codecStreamResponseV03JSON.Append, codecStreamResponseV03JSON.Read),
		codecOf("Task", codecTaskV03JSON.Append, codecTaskV03JSON.Read),
		codecOf("Message", codecMessageV03JSON.Append, codecMessageV03JSON.Read),
		codecOf("Part", codecPartV03JSON.Append, codecPartV03JSON.Read),
		codecOf("Artifact", codecArtifactV03JSON.Append, codecArtifactV03JSON.Read),
		codecOf("TaskQueryParams", codecGetTaskRequestV03JSON.Append, codecGetTaskRequestV03JSON.Read),
		codecOf("TaskIdParams", codecCancelTaskRequestV03JSON.Append, codecCancelTaskRequestV03JSON.Read),
		codecOf("TaskIdParams", codecSubscribeToTaskRequestV03JSON.Append, codecSubscribeToTaskRequestV03JSON.Read),
		codecOf("TaskPushNotificationConfig", codecTaskPushNotificationConfigV03JSON.Append, codecTaskPushNotificationConfigV03JSON.Read),
		codecOf("GetTaskPushNotificationConfigParams", codecGetTaskPushNotificationConfigRequestV03JSON.Append, codecGetTaskPushNotificationConfigRequestV03JSON.Read),
		codecOf("ListTaskPushNotificationConfigParams", codecListTaskPushNotificationConfigsRequestV03JSON.Append, codecListTaskPushNotificationConfigsRequestV03JSON.Read),
		codecOf("ListTaskPushNotificationConfigSuccessResponse.result", codecListTaskPushNotificationConfigsResponseV03JSON.Append, codecListTaskPushNotificationConfigsResponseV03JSON.Read),
		codecOf("DeleteTaskPushNotificationConfigParams", codecDeleteTaskPushNotificationConfigRequestV03JSON.Append, codecDeleteTaskPushNotificationConfigRequestV03JSON.Read),
		codecOf("AgentCard", codecAgentCardV03JSON.Append, codecAgentCardV03JSON.Read),
	},
	"0.2": {
		codecOf("MessageSendParams", codecSendMessageRequestV02JSON.Append, codecSendMessageRequestV02JSON.Read),
		codecOf("SendMessageSuccessResponse.result", codecSendMessageResponseV02JSON.Append, codecSendMessageResponseV02JSON.Read),
		codecOf("SendStreamingMessageSuccessResponse.result", codecStreamResponseV02JSON.Append, codecStreamResponseV02JSON.Read),
		codecOf("Task", codecTaskV02JSON.Append, codecTaskV02JSON.Read),
		codecOf("Message", codecMessageV02JSON.Append, codecMessageV02JSON.Read),
		codecOf("Part", codecPartV02JSON.Append, codecPartV02JSON.Read),
		codecOf("Artifact", codecArtifactV02JSON.Append, codecArtifactV02JSON.Read),
		codecOf("TaskQueryParams", codecGetTaskRequestV02JSON.Append, codecGetTaskRequestV02JSON.Read),
		codecOf("TaskIdParams", codecCancelTaskRequestV02JSON.Append, codecCancelTaskRequestV02JSON.Read),
		codecOf("TaskIdParams", codecSubscribeToTaskRequestV02JSON.Append, codecSubscribeToTaskRequestV02JSON.Read),
		codecOf("TaskPushNotificationConfig", codecTaskPushNotificationConfigV02JSON.Append, codecTaskPushNotificationConfigV02JSON.Read),
		codecOf("GetTaskPushNotificationConfigParams", codecGetTaskPushNotificationConfigRequestV02JSON.Append, codecGetTaskPushNotificationConfigRequestV02JSON.Read),
		codecOf("ListTaskPushNotificationConfigParams", codecListTaskPushNotificationConfigsRequestV02JSON.Append, codecListTaskPushNotificationConfigsRequestV02JSON.Read),
		codecOf("ListTaskPushNotificationConfigSuccessResponse.result", codecListTaskPushNotificationConfigsResponseV02JSON.Append, codecListTaskPushNotificationConfigsResponseV02JSON.Read),
		codecOf("DeleteTaskPushNotificationConfigParams", codecDeleteTaskPushNotificationConfigRequestV02JSON.Append, codecDeleteTaskPushNotificationConfigRequestV02JSON.Read),
		codecOf("AgentCard", codecAgentCardV02JSON.Append, codecAgentCardV02JSON.Read),
	},
	"0.1": {
		codecOf("TaskSendParams", codecSendMessageRequestV01JSON.Append, codecSendMessageRequestV01JSON.Read),
		codecOf("Task", codecSendMessageResponseV01JSON.Append, codecSendMessageResponseV01JSON.Read),
		codecOf("SendTaskStreamingResponse.result", codecStreamResponseV01JSON.Append, codecStreamResponseV01JSON.Read),
		codecOf("Task", codecTaskV01JSON.Append, codecTaskV01JSON.Read),
		codecOf("Message", codecMessageV01JSON.Append, codecMessageV01JSON.Read),
		codecOf("Part", codecPartV01JSON.Append, codecPartV01JSON.Read),
		codecOf("Artifact", codecArtifactV01JSON.Append, codecArtifactV01JSON.Read),
		codecOf("TaskQueryParams", codecGetTaskRequestV01JSON.Append, codecGetTaskRequestV01JSON.Read),
		codecOf("TaskQueryParams", codecSubscribeToTaskRequestV01JSON.Append, codecSubscribeToTaskRequestV01JSON.Read),
		codecOf("TaskIdParams", codecCancelTaskRequestV01JSON.Append, codecCancelTaskRequestV01JSON.Read),
		codecOf("TaskIdParams", codecGetTaskPushNotificationConfigRequestV01JSON.Append, codecGetTaskPushNotificationConfigRequestV01JSON.Read),
		codecOf("TaskPushNotificationConfig", codecTaskPushNotificationConfigV01JSON.Append, codecTaskPushNotificationConfigV01JSON.Read),
		codecOf("AgentCard", codecAgentCardV01JSON.Append, codecAgentCardV01JSON.Read),
	},
}

// schemas compiles the definitions that the codecs of a version name. "X.result" is that member of X.
func schemas(t *testing.T, version string) map[string]*jsonschema.Schema {
	t.Helper()
	src, err := spec.Source(version)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.NewDecoder(bytesReader(src)).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("a2a.json", doc); err != nil {
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
