package legacy

import "strings"

// The proto of 0.3 names things by where they are, as Google's APIs do: "tasks/T" and "tasks/T/pushNotificationConfigs/C".
// Reading strips the collections; a name without them is taken as the id itself.
const (
	taskCollection   = "tasks/"
	taskSingular     = "task/" // as a path of the proto has it by mistake (T33)
	configCollection = "/pushNotificationConfigs"
)

// NameOfTask is the name of a task.
func NameOfTask(id string) string { return taskCollection + id }

// TaskOfName is the id of the task of a name.
func TaskOfName(name string) (id string) {
	if id, ok := strings.CutPrefix(name, taskCollection); ok {
		return id
	}
	return strings.TrimPrefix(name, taskSingular)
}

// NameOfConfig is the name of a push config.
func NameOfConfig(taskID, id string) string { return NameOfTask(taskID) + configCollection + "/" + id }

// ConfigOfName are the ids of a push config, or of its task, by a name.
func ConfigOfName(name string) (taskID, id string) {
	name = TaskOfName(name)
	if taskID, id, ok := strings.Cut(name, configCollection+"/"); ok {
		return taskID, id
	}
	return strings.TrimSuffix(name, configCollection), ""
}
