package conform

import (
	"fmt"
)

// pushConfig is a configuration of push notifications, whatever a version calls its members.
type pushConfig struct {
	id, url, token string
	scheme, secret string
}

// inline returns a configuration as its own message has it: in 1.0 that is also what is created.
func (d *dialect) inline(c pushConfig) object {
	o := object{"url": c.url}
	put(o, "token", c.token)
	if d.version() != "0.1" {
		put(o, "id", c.id)
	}
	if c.scheme == "" {
		return o
	}
	auth := object{"credentials": c.secret}
	if d.version() == "1.0" {
		auth["scheme"] = c.scheme
	} else {
		auth["schemes"] = []any{c.scheme}
	}
	o["authentication"] = auth
	return o
}

// withPush puts a configuration into a request that sends a message.
func (d *dialect) withPush(params object, c pushConfig) {
	if d.version() == "0.1" {
		params["pushNotification"] = d.inline(c)
		return
	}
	name := "pushNotificationConfig"
	switch {
	case d.version() == "1.0":
		name = "taskPushNotificationConfig"
	case d.def.proto:
		name = "pushNotification"
	}
	config, _ := params["configuration"].(object)
	if config == nil {
		config = object{}
		params["configuration"] = config
	}
	config[name] = d.inline(c)
}

// pushCreate makes the parameters that add a configuration to a task.
func (d *dialect) pushCreate(task string, c pushConfig) object {
	var params object
	switch {
	case d.version() == "1.0":
		params = d.inline(c)
		params["taskId"] = task
	case d.def.proto:
		params = object{"parent": "tasks/" + task, "configId": c.id, "config": object{
			"name": pushName(task, c.id), "pushNotificationConfig": d.inline(c)}}
	default:
		params = object{d.pushTask(): task, "pushNotificationConfig": d.inline(c)}
	}
	return params
}

// pushTask is the member of a configuration that names its task.
func (d *dialect) pushTask() string {
	if d.version() == "0.1" {
		return "id"
	}
	return "taskId"
}

func pushName(task, id string) string {
	return fmt.Sprintf("tasks/%s/pushNotificationConfigs/%s", task, id)
}

// pushOf makes the parameters that name a configuration.
func (d *dialect) pushOf(task, id string) object {
	var params object
	switch {
	case d.version() == "1.0":
		params = object{"taskId": task, "id": id}
	case d.def.proto:
		params = object{"name": pushName(task, id)}
	default:
		params = object{"id": task}
		if d.version() != "0.1" {
			params["pushNotificationConfigId"] = id
		}
	}
	return params
}

// pushesOf makes the parameters that list the configurations of a task.
func (d *dialect) pushesOf(task string) object {
	params := object{"id": task}
	switch {
	case d.version() == "1.0":
		params = object{"taskId": task}
	case d.def.proto:
		params = object{"parent": "tasks/" + task}
	}
	return params
}

// readPush reads a configuration that came.
func (d *dialect) readPush(result any) (c pushConfig, task string) {
	inner, _ := result.(object)
	if own, ok := inner["pushNotificationConfig"].(object); ok {
		task = text(inner, d.pushTask())
		inner = own
	} else {
		task = text(inner, "taskId")
	}
	return pushConfig{id: text(inner, "id"), url: text(inner, "url"), token: text(inner, "token")}, task
}

// readPushes reads a list of configurations: in 1.0 and in protos one in a message, else the list itself.
func (d *dialect) readPushes(result any) (all []pushConfig) {
	list := result
	if o, ok := result.(object); ok {
		list = o["configs"]
	}
	for _, e := range objects(list) {
		c, _ := d.readPush(e)
		all = append(all, c)
	}
	return all
}
