package store

// Located is implemented by stores that outlive the process, so that an agent can log the address of its tasks.
type Located interface {
	// Location returns the kind of the store, "a file" or "PostgreSQL", and its address without a password.
	Location() (kind, address string)
}
