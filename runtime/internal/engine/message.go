package engine

import (
	"cmp"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/invalid"
	"github.com/a2agen/a2agen/runtime/wire"
)

// maxName is the longest id or name that a client may give to something, in bytes: contexts and tasks repeat theirs in
// every event.
const maxName = 512

// checkName refuses an id that is too long.
func checkName(field, id string) error {
	if len(id) > maxName {
		return invalid.Field(field, "must not be longer than "+strconv.Itoa(maxName)+" bytes")
	}
	return nil
}

// checkSend validates what the codec does not (R35, R36).
func (e *Engine) checkSend(req *runtime.SendRequest, op *runtime.Operation) (info runtime.MessageInfo, err error) {
	if req.Message == nil {
		return info, invalid.Field("message", "is required")
	}
	info = req.Message.MessageInfo()
	switch {
	case info.ID == "":
		return info, invalid.Field("message.messageId", "is required")
	case !info.User:
		return info, invalid.Field("message.role",
			"must be "+e.roleOfUser(op)+": agents do not send messages to agents as themselves")
	case req.HistoryLength != nil && *req.HistoryLength < 0:
		return info, invalid.Field("configuration.historyLength", "must not be negative")
	}
	for i, id := range info.References {
		if err := checkName("message.referenceTaskIds["+strconv.Itoa(i)+"]", id); err != nil {
			return info, err
		}
	}
	return info, cmp.Or(
		checkName("message.messageId", info.ID),
		checkName("message.contextId", info.ContextID),
		checkName("message.taskId", info.TaskID),
	)
}

// roleOfUser is the word for the user's role in the JSON of an operation that sends a message.
func (e *Engine) roleOfUser(op *runtime.Operation) string {
	user := runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("")}}
	sample, err := op.AppendRequest(nil, e.protocol.NewSend(runtime.SendRequest{Message: e.protocol.NewMessage(user)}))
	for _, member := range []string{"message", "request"} {
		if message, ok := wire.Object(sample).Get(member); ok && err == nil {
			if role, ok := wire.Object(message).Get("role"); ok {
				return string(role)
			}
		}
	}
	return "the user's"
}
