package equivalence

import (
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// A script is a conversation, a line for each step, in the words of A2A 1.0:
//
//	send "book"                              a message of that text
//	send "book" {"configuration": {…}}       with further members of the request, or of its message
//	get {"id": "$task"}                      any operation, with its request
//	raw get {"id": 7}                        with a request that no careful client would write
//	s = subscribe {"id": "$task"}            opens a stream, of which nothing is read yet
//	s next 2                                 reads as many events
//	s rest                                   reads to the end
//	s close, s resume                        goes away, and takes up again what follows the last event that was read
//	param A2A-Version: 9.0                   sets a service parameter from here on; an empty one is not sent
//	release                                  lets the handler go on that waits
//	grant mine                               redeems the handle of the authorization that the agent waits for, with that word
//	until completed                          waits until the task is in that state
//
// In a request, $task is the task of which the agent spoke last, $task1 the first one, $context the conversation,
// $time when the task's state last changed, $page the token of the next page, $me the caller, $version the speaker's, and
// $hook where notifications may go.

// operations are those of 1.0 by the words of scripts; others are called by their names.
var operations = map[string]runtime.Role{
	"send": runtime.RoleSend, "stream": runtime.RoleStream, "get": runtime.RoleGet, "list": runtime.RoleList,
	"cancel": runtime.RoleCancel, "subscribe": runtime.RoleSubscribe, "card": runtime.RoleExtendedCard,
	"push-create": runtime.RolePushCreate, "push-get": runtime.RolePushGet, "push-list": runtime.RolePushList,
	"push-delete": runtime.RolePushDelete,
}

// stepsOf are the lines of a script. One that begins with a brace goes on with the one before.
func stepsOf(script string) (steps []string) {
	for line := range strings.SplitSeq(script, "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case line[0] == '{', line[0] == '"':
			steps[len(steps)-1] += line
		default:
			steps = append(steps, line)
		}
	}
	return steps
}
