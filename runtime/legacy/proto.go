package legacy

import (
	"strings"

	"github.com/a2agen/a2agen/runtime/wire"
)

// The proto of 0.3 names things by where they are, as Google's APIs do: "tasks/T" and "tasks/T/pushNotificationConfigs/C".
// Reading strips the collections; a name without them is taken as the id itself.
const (
	taskCollection   = "tasks/"
	taskSingular     = "task/" // as a path of the proto has it by mistake (T33)
	configCollection = "/pushNotificationConfigs"
)

// HasTaskName reports whether there is a task to name.
func HasTaskName(id string) bool { return id != "" }

// AppendTaskName appends the resource name of a task.
func AppendTaskName(b []byte, id string) ([]byte, error) {
	return wire.AppendString(b, taskName(id)), nil
}

// ReadTaskName reads the resource name of a task and returns its id.
func ReadTaskName(r *wire.Reader) (id string) { return taskOf(r.String()) }

func taskName(id string) string { return taskCollection + id }

func taskOf(name string) (id string) {
	if id, ok := strings.CutPrefix(name, taskCollection); ok {
		return id
	}
	return strings.TrimPrefix(name, taskSingular)
}

// HasConfigParent reports whether there is a task whose configs to name.
func HasConfigParent(taskID string) bool { return taskID != "" }

// AppendConfigParent appends the name of the task that a push config is for, which official agents take from the path, too.
func AppendConfigParent(b []byte, taskID string) ([]byte, error) {
	return wire.AppendString(b, taskName(taskID)), nil
}

// ReadConfigParent reads the name of the collection of a task's push configs, or of the task, and returns its id.
func ReadConfigParent(r *wire.Reader) (taskID string) {
	taskID, _ = ReadConfigName(r)
	return taskID
}

// HasConfigName reports whether there is a push config to name.
func HasConfigName(taskID, id string) bool { return taskID != "" || id != "" }

// AppendConfigName appends the resource name of a push config. The id may be empty: the only config of the task.
func AppendConfigName(b []byte, taskID, id string) []byte {
	return wire.AppendString(b, configName(taskID, id))
}

// ReadConfigName reads the resource name of a push config, or of its task, and returns the ids.
func ReadConfigName(r *wire.Reader) (taskID, id string) { return configOf(r.String()) }

func configName(taskID, id string) string { return taskName(taskID) + configCollection + "/" + id }

func configOf(name string) (taskID, id string) {
	name = taskOf(name)
	if taskID, id, ok := strings.Cut(name, configCollection+"/"); ok {
		return taskID, id
	}
	return strings.TrimSuffix(name, configCollection), ""
}

// HasBlockingFlag reports whether blocking is true: the proto of 0.3 has no presence for it, so that false is left out.
func HasBlockingFlag(returnImmediately bool) bool { return !returnImmediately }

// AppendBlockingFlag appends the value of blocking.
func AppendBlockingFlag(b []byte, returnImmediately bool) ([]byte, error) {
	return AppendBlocking(b, returnImmediately)
}

// ReadBlockingFlag reads the value of blocking.
func ReadBlockingFlag(r *wire.Reader) (returnImmediately bool) { return ReadBlocking(r) }

// AbsentBlockingFlag is what no blocking means: answer at once.
func AbsentBlockingFlag() (returnImmediately bool) { return AbsentBlocking() }
