package runtime

import "errors"

// Where an error comes from decides what becomes of it: one that the agent made is its answer to its caller, one that it
// received from another agent is not, unless it is passed on. What is received is marked where it is read, so that no
// wrapping, joining or taking apart makes an answer of it.

// AsReceived returns a copy that counts as received from another agent. Clients mark with it what they find wrong
// with the agent they call; what [ReadError], [ReadStatus] and [Error.Recognize] read is marked already.
func (e *Error) AsReceived() *Error {
	c := e.clone()
	c.received = true
	return c
}

// Received reports whether the error came from another agent, or was found in what that answered.
func (e *Error) Received() bool { return e.received }

// Made returns the A2A error in err that the agent made itself, or passes on ([PassOn]): its answer. Errors that were
// received from another agent are none, nor is what they wrap; nil means that err holds no other.
func Made(err error) *Error {
	switch e := err.(type) {
	case nil:
		return nil
	case *Error:
		if e == nil || e.received {
			return nil
		}
		return e
	case interface{ Unwrap() error }:
		if found := Made(e.Unwrap()); found != nil {
			return found
		}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if found := Made(one); found != nil {
				return found
			}
		}
	}
	if as, ok := err.(interface{ As(any) bool }); ok {
		if e := (*Error)(nil); as.As(&e) {
			return Made(e)
		}
	}
	return nil
}

// PassOn makes the error of a call to another agent one's own: a handler, router, hook or operation that returns it
// answers with that agent's code, words and details. That is for an agent which stands for another one, as a gateway
// does; otherwise what another agent says of its caller, a 401 for example, is nothing that one's own caller could do
// something about. An err without an A2A error is returned as it is.
func PassOn(err error) error {
	if err == nil || Made(err) != nil {
		return err
	}
	var e *Error
	if !errors.As(err, &e) {
		for _, known := range []*Error{ErrUnauthenticated, ErrPermissionDenied} { // a status alone says so
			if errors.Is(err, known) {
				e = known
			}
		}
	}
	if e == nil {
		return err
	}
	told := e.clone()
	told.received = false
	return &passed{told, err}
}

// passed is an error of another agent as one's own, and where it came from.
type passed struct {
	told  *Error
	cause error
}

func (p *passed) Error() string   { return p.cause.Error() }
func (p *passed) Unwrap() []error { return []error{p.told, p.cause} }
