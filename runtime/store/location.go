package store

// Located is implemented by stores that outlive the process, so that an agent can log where its tasks are.
type Located interface {
	// Location returns what kind of store it is, "a file" or "PostgreSQL", and its address, which never has a password.
	Location() (kind, address string)
}
