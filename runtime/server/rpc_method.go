package server

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/engine"
)

// ages says of which versions of A2A a method is, for a client of another age than the agent. Methods of spoken versions are in their tables.
var ages = map[string]string{
	"agent/getCard":                       "0.1",
	"tasks/send":                          "0.1",
	"tasks/sendSubscribe":                 "0.1",
	"tasks/pushNotification/set":          "0.1",
	"tasks/pushNotification/get":          "0.1",
	"tasks/get":                           "0.1 to 0.3",
	"tasks/cancel":                        "0.1 to 0.3",
	"tasks/resubscribe":                   "0.1 to 0.3",
	"message/send":                        "0.2 and 0.3",
	"message/stream":                      "0.2 and 0.3",
	"tasks/pushNotificationConfig/set":    "0.2 and 0.3",
	"tasks/pushNotificationConfig/get":    "0.2 and 0.3",
	"tasks/pushNotificationConfig/list":   "0.2 and 0.3",
	"tasks/pushNotificationConfig/delete": "0.2 and 0.3",
	"agent/authenticatedExtendedCard":     "0.2",
	"agent/getAuthenticatedExtendedCard":  "0.3",
	"SendMessage":                         "1.0",
	"SendStreamingMessage":                "1.0",
	"GetTask":                             "1.0",
	"ListTasks":                           "1.0",
	"CancelTask":                          "1.0",
	"SubscribeToTask":                     "1.0",
	"CreateTaskPushNotificationConfig":    "1.0",
	"GetTaskPushNotificationConfig":       "1.0",
	"ListTaskPushNotificationConfigs":     "1.0",
	"DeleteTaskPushNotificationConfig":    "1.0",
	"GetExtendedAgentCard":                "1.0",
}

// unknownMethod says of a method that the request's version does not have which one has it, and what is spoken here.
func (q *request) unknownMethod(method []byte) *runtime.Error {
	if age := ages[string(method)]; age != "" {
		return runtime.ErrMethodNotFound.With("%s is a method of A2A %s, the request is one of %s; this agent speaks %s", method, age, q.Version.Name, q.s.engine.SpokenNames())
	}
	return runtime.ErrMethodNotFound.With("there is no %.100q in A2A %s", method, q.Version.Name)
}

// methodsOf are the operations of a version by method.
func methodsOf(v *engine.Version) map[string]*runtime.Operation {
	methods := make(map[string]*runtime.Operation, len(v.Operations))
	for _, op := range v.Operations {
		methods[op.RPC] = op
	}
	return methods
}
