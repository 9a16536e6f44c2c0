package fault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/runtime"
)

// Card is what [Fault.On] calls the requests for an agent's card, which faults leave alone unless it names them.
const Card = "card"

// maxPeek is how much of a body is read to find its method, in bytes.
const maxPeek = 1 << 20

// otherNames are what other versions and bindings call the operations of 1.0.
var otherNames = map[string]string{
	"message/send":                        "SendMessage",
	"tasks/send":                          "SendMessage",
	"message/stream":                      "SendStreamingMessage",
	"tasks/sendSubscribe":                 "SendStreamingMessage",
	"tasks/get":                           "GetTask",
	"tasks/list":                          "ListTasks",
	"tasks/cancel":                        "CancelTask",
	"tasks/resubscribe":                   "SubscribeToTask",
	"TaskSubscription":                    "SubscribeToTask",
	"tasks/pushNotification/set":          "CreateTaskPushNotificationConfig",
	"tasks/pushNotificationConfig/set":    "CreateTaskPushNotificationConfig",
	"tasks/pushNotification/get":          "GetTaskPushNotificationConfig",
	"tasks/pushNotificationConfig/get":    "GetTaskPushNotificationConfig",
	"tasks/pushNotificationConfig/list":   "ListTaskPushNotificationConfigs",
	"ListTaskPushNotificationConfig":      "ListTaskPushNotificationConfigs",
	"tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
	"agent/getAuthenticatedExtendedCard":  "GetExtendedAgentCard",
	"agent/getCard":                       "GetExtendedAgentCard",
	"GetAgentCard":                        "GetExtendedAgentCard",
}

// operationNamed is what 1.0 calls an operation of any version; Card; "" for a name that is neither.
func operationNamed(name string) string {
	if other := otherNames[name]; other != "" {
		return other
	}
	if name == Card || runtime.RoleOf(name) != runtime.RoleOther {
		return name
	}
	return ""
}

// where limits a fault to requests. The zero where is all but those for the card.
type where struct {
	operations []string // as 1.0 calls them, or Card; none: all
	prefix     string   // of the path
}

// Called returns what a request calls: the operation as A2A 1.0 names it, or [Card], and its binding as cards name it.
// Either is "" if it is not known. Of a body up to 1 MiB is read, and put back.
func Called(r *http.Request) (operation, binding string) {
	base := path.Base(r.URL.Path)
	switch {
	case strings.Contains(r.URL.Path, "/.well-known/agent") && strings.HasSuffix(base, ".json"):
		return Card, ""
	case frames.IsGRPC(r.Header):
		return operationNamed(base), runtime.BindingGRPC
	}
	if name := routed(r.Method, r.URL.Path); name != "" {
		return name, runtime.BindingHTTP
	}
	if r.Method != http.MethodPost || r.Body == nil || !strings.Contains(r.Header.Get("Content-Type"), "json") {
		return "", ""
	}
	var read bytes.Buffer
	method := methodIn(io.TeeReader(io.LimitReader(r.Body, maxPeek), &read))
	r.Body = &replayed{Reader: io.MultiReader(&read, r.Body), Closer: r.Body}
	return operationNamed(method), runtime.BindingJSONRPC
}

// routed finds the operation of HTTP+JSON by the end of the path, before which are a tenant and, in 0.3, "v1".
func routed(verb, at string) string {
	dir, last := path.Split(strings.TrimSuffix(at, "/"))
	before := path.Base(dir)
	id, action, _ := strings.Cut(last, ":")
	switch {
	case verb == http.MethodPost && last == "message:send":
		return "SendMessage"
	case verb == http.MethodPost && last == "message:stream":
		return "SendStreamingMessage"
	case verb == http.MethodPost && before == "tasks" && id != "" && action == "cancel":
		return "CancelTask"
	case before == "tasks" && id != "" && action == "subscribe":
		return "SubscribeToTask"
	case last == "pushNotificationConfigs" && verb == http.MethodPost:
		return "CreateTaskPushNotificationConfig"
	case last == "pushNotificationConfigs" && verb == http.MethodGet:
		return "ListTaskPushNotificationConfigs"
	case before == "pushNotificationConfigs" && verb == http.MethodGet:
		return "GetTaskPushNotificationConfig"
	case before == "pushNotificationConfigs" && verb == http.MethodDelete:
		return "DeleteTaskPushNotificationConfig"
	case verb == http.MethodGet && last == "tasks":
		return "ListTasks"
	case verb == http.MethodGet && before == "tasks":
		return "GetTask"
	case verb == http.MethodGet && (last == "extendedAgentCard" || last == "card" && before == "v1"):
		return "GetExtendedAgentCard"
	}
	return ""
}

// replayed is a body of which a part was read.
type replayed struct {
	io.Reader
	io.Closer
}

// methodIn finds the member "method" of an object; "" if there is none in what can be read.
func methodIn(src io.Reader) string {
	dec := json.NewDecoder(src)
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for depth := 0; ; {
		t, err := dec.Token()
		if err != nil {
			return ""
		}
		switch d, _ := t.(json.Delim); d {
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return ""
			}
			continue
		}
		if depth > 0 {
			continue
		}
		if value, err := dec.Token(); t == "method" {
			name, _ := value.(string)
			return name
		} else if d, _ := value.(json.Delim); err != nil {
			return ""
		} else if d == '{' || d == '[' {
			depth++
		}
	}
}
