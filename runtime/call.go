package runtime

// Call is one call of a handler, as the handler's task has it: what few handlers ask for, and what generated code does.
type Call interface {
	// TaskID is the task's id. Before the task exists it is the id that it will have.
	TaskID() string
	// Request is the request that brought the message. It belongs to the task: do not change it.
	Request() *SendRequest
	// Attempt is how often a handler was called for this message, this time included. It is more than 1 where the
	// skill's calls are tried again after a crash: then some of the work may have been done. What an earlier attempt
	// said is in the task; the first that this one says of an artifact of its own replaces what was there.
	Attempt() int
	// IdempotencyKey is a text that names the work that this message asks for: the same in all attempts, and no other
	// message has it. It is for what the handler does outside, such as a payment, which must be done once.
	IdempotencyKey() string
	// Snapshot is a copy of the task as it stands, nil before it exists.
	Snapshot() Task
	// Authorized reads what a handle was redeemed with into v. It reports whether this call came of that: else of a
	// message.
	Authorized(v any) (bool, error)
	// Activated reports whether a caller asked for an extension whose contract the agent has (A2A 1.0 §4.6): with this
	// message or an earlier one of the task, in the service parameter A2A-Extensions, in the extensions that the message
	// lists, or by sending a value of it.
	Activated(uri string) bool
	// OnResult has f change the artifact with the skill's output before it is sent, except for its parts. Generated
	// packages of extensions call it.
	OnResult(f func(*ArtifactData))
	// Begin says that the input is good and the work begins. When the client waits for a task (a stream, or
	// returnImmediately) it is created now, so that the client sees it at once; otherwise Begin does nothing. Generated
	// code calls it for skills whose result is a task.
	Begin() error
}
