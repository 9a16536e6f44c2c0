package legacy

import "strings"

// The proto of 0.3 names things by where they are, as Google's APIs do: "tasks/T" and "tasks/T/pushNotificationConfigs/C".
// Reading strips the collections; a name without them is taken as the id itself.
const (
	taskCollection   = "tasks/"
	taskSingular     = "task/" // as a path of the proto has it by mistake (T33)
	configCollection = "/pushNotificationConfigs"
)

func taskName(id string) string { return taskCollection + id }

func taskOf(name string) (id string) {
	if id, ok := strings.CutPrefix(name, taskCollection); ok {
		return id
	}
	return strings.TrimPrefix(name, taskSingular)
}

func configName(taskID, id string) string { return taskName(taskID) + configCollection + "/" + id }

func configOf(name string) (taskID, id string) {
	name = taskOf(name)
	if taskID, id, ok := strings.Cut(name, configCollection+"/"); ok {
		return taskID, id
	}
	return strings.TrimSuffix(name, configCollection), ""
}
