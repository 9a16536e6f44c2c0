package conform

import "fmt"

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
	switch {
	case d.version() == "1.0":
		params := d.inline(c)
		params["taskId"] = task
		return params
	case d.def.proto:
		return object{"parent": "tasks/" + task, "configId": c.id, "config": object{
			"name": pushName(task, c.id), "pushNotificationConfig": d.inline(c)}}
	}
	return object{d.pushTask(): task, "pushNotificationConfig": d.inline(c)}
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
	switch {
	case d.version() == "1.0":
		return object{"taskId": task, "id": id}
	case d.def.proto:
		return object{"name": pushName(task, id)}
	case d.version() == "0.1": // where a task has one
		return object{"id": task}
	}
	return object{"id": task, "pushNotificationConfigId": id}
}

// pushesOf makes the parameters that list the configurations of a task.
func (d *dialect) pushesOf(task string) object {
	switch {
	case d.version() == "1.0":
		return object{"taskId": task}
	case d.def.proto:
		return object{"parent": "tasks/" + task}
	}
	return object{"id": task}
}

// readPush reads a configuration that came.
func (d *dialect) readPush(result any) (c pushConfig, task string) {
	inner, task := result, text(result, "taskId")
	if own, ok := member(result, "pushNotificationConfig").(object); ok {
		inner, task = own, text(result, d.pushTask())
	}
	return pushConfig{id: text(inner, "id"), url: text(inner, "url"), token: text(inner, "token")}, task
}

// readPushes reads a list of configurations: in 1.0 and in protos one in a message, else the list itself.
func (d *dialect) readPushes(result any) (all []pushConfig) {
	if o, ok := result.(object); ok {
		result = o["configs"]
	}
	for _, e := range objects(result) {
		c, _ := d.readPush(e)
		all = append(all, c)
	}
	return all
}
