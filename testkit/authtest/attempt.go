package authtest

import (
	"crypto/rand"
	"encoding/json"
	"slices"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
)

// attempt is one request to try.
type attempt struct {
	name    string
	op      *runtime.Operation
	request any // the generated one
}

// The push configuration of the test. Its address is one that nobody has (RFC 5737).
const (
	pushID   = "authtest"
	pushHost = "192.0.2.1"
)

// message returns an attempt to send a message, to a task if one is named.
func (x *trial) message(task string) attempt {
	for _, op := range x.operations() {
		if op.Role == runtime.RoleSend {
			return x.sending(op, task)
		}
	}
	x.t.Fatalf("A2A %s has no operation that sends a message", x.version.Name)
	return attempt{}
}

func (x *trial) sending(op *runtime.Operation, task string) attempt {
	name := op.RPC
	if task != "" {
		name += " to the task"
	} else if x.version.Rules.ClientIDs {
		task = rand.Text()
	}
	skill, _ := json.Marshal(map[string]string{"skillId": x.skill}) // texts always encode
	message := x.Protocol.NewMessage(runtime.MessageData{
		MessageInfo: runtime.MessageInfo{ID: rand.Text(), TaskID: task, User: true, Metadata: skill},
		Parts:       client.Say("hello"),
	})
	return attempt{name, op, x.Protocol.NewSend(runtime.SendRequest{Message: message})}
}

// attempts returns all requests to try, with a task and without one.
func (x *trial) attempts(task string) (all []attempt) {
	for _, op := range x.operations() {
		if op.Role.Sends() {
			all = append(all, x.sending(op, ""))
		}
	}
	all = append(all, x.pick(task, func(r runtime.Role) bool { return !r.Sends() && !ofTask(r) })...)
	return append(all, x.about(task)...)
}

// ofTask reports whether the requests of a role name a task.
func ofTask(r runtime.Role) bool { return r.OfTask() || r.OfPush() }

// about returns all requests to try with a task. Those that end it come last.
func (x *trial) about(task string) (all []attempt) {
	for _, op := range x.operations() {
		if op.Role.Sends() {
			all = append(all, x.sending(op, task))
		}
	}
	all = append(all, x.pick(task, func(r runtime.Role) bool { return ofTask(r) && !r.Info().Ends })...)
	return append(all, x.pick(task, func(r runtime.Role) bool { return ofTask(r) && r.Info().Ends })...)
}

// pick returns attempts of the operations with some roles, in the order of the version's table.
func (x *trial) pick(task string, wanted func(runtime.Role) bool) (all []attempt) {
	for _, op := range x.operations() {
		if !wanted(op.Role) {
			continue
		}
		if request := x.request(op, task); request != nil {
			all = append(all, attempt{op.RPC, op, request})
		}
	}
	return all
}

// only accepts one role.
func only(role runtime.Role) func(runtime.Role) bool {
	return func(r runtime.Role) bool { return r == role }
}

// operations returns those that the version has over the binding.
func (x *trial) operations() []*runtime.Operation { return x.version.Over(x.binding.Name).Operations }

// request makes the request of an operation for a task; nil if it needs more than is known here.
func (x *trial) request(op *runtime.Operation, task string) any {
	if op.Role.OfTask() {
		return x.Protocol.NewTaskRequest(op.Role, runtime.TaskRequest{ID: task})
	}
	switch op.Role {
	case runtime.RolePushCreate:
		return x.Protocol.NewPushConfig("", task, runtime.PushConfig{ID: pushID, URL: "https://" + pushHost})
	case runtime.RolePushGet, runtime.RolePushDelete:
		return x.read(op, func(v any) bool {
			r, ok := v.(*runtime.PushRequest)
			return ok && r.TaskID == task && (r.Config.ID == pushID || r.Config.ID == "") // 0.1 has no ids of them
		}, map[string]string{"taskId": task, "id": pushID}, map[string]string{"id": task, "pushNotificationConfigId": pushID})
	case runtime.RolePushList:
		return x.read(op, func(v any) bool {
			r, ok := v.(*runtime.PushRequest)
			return ok && r.TaskID == task
		}, map[string]string{"taskId": task}, map[string]string{"id": task})
	}
	return x.read(op, func(any) bool { return true }, nil)
}

// read decodes a request from the first of some spellings that means what it should: versions name fields
// differently. It uses the version's JSON-RPC decoder, or the binding's for what JSON-RPC does not have.
func (x *trial) read(op *runtime.Operation, fits func(any) bool, spellings ...map[string]string) any {
	same := func(o *runtime.Operation) bool { return o.Role == op.Role && o.RPC == op.RPC }
	decode := op.Decode
	if own := slices.IndexFunc(x.version.Operations, same); own >= 0 {
		decode = x.version.Operations[own].Decode
	}
	for _, s := range spellings {
		text := []byte("{}")
		if s != nil {
			text, _ = json.Marshal(s)
		}
		v, err := decode(text)
		if err != nil || !fits(v) {
			continue
		}
		switch r := v.(type) { // the generated request of a neutral one
		case *runtime.ListRequest:
			return r.Source
		case *runtime.PushRequest:
			return r.Source
		case *runtime.TaskRequest:
			return r.Source
		}
		return v
	}
	return nil
}
