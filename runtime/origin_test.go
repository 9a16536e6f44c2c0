package runtime_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// asError is an error that shows itself as another one, as errors.As asks for.
type asError struct{ e *runtime.Error }

func (a asError) Error() string { return "as" }

func (a asError) As(target any) bool {
	t, ok := target.(**runtime.Error)
	if ok {
		*t = a.e
	}
	return ok
}

// statusError stands for a status that says who may not come in, without an error of A2A.
type statusError struct{}

func (statusError) Error() string        { return "HTTP 401" }
func (statusError) Is(target error) bool { return runtime.ErrUnauthenticated.Is(target) }

// TestWhatWasReceivedIsNotMade: through whatever wraps, joins, copies or takes apart.
func TestWhatWasReceivedIsNotMade(t *testing.T) {
	made := runtime.ErrTaskNotFound.With("mine")
	received, err := runtime.ReadError([]byte(`{"code":-31401,"message":"theirs"}`))
	if err != nil {
		t.Fatal(err)
	}
	status := runtime.ReadStatus([]byte(`{"error":{"code":403,"details":[{"@type":"` + runtime.TypeErrorInfo + `","reason":"PERMISSION_DENIED"}]}}`))
	for _, c := range []struct {
		name string
		err  error
		want *runtime.Error
	}{
		{"nothing", nil, nil},
		{"another error", errors.New("x"), nil},
		{"made", made, made},
		{"made, wrapped and joined", fmt.Errorf("x: %w", errors.Join(errors.New("y"), made)), made},
		{"made, shown", asError{made}, made},
		{"received", received, nil},
		{"a status", status, nil},
		{"received, wrapped", fmt.Errorf("x: %w", fmt.Errorf("%w, %w", errors.New("y"), received)), nil},
		{"received, shown", asError{received}, nil},
		{"received, with more", received.With("x").WithMetadata("k", "v").WithViolations(runtime.Violation{}), nil},
		{"both", errors.Join(received, made), made},
		{"no pointer", error((*runtime.Error)(nil)), nil},
	} {
		if got := runtime.Made(c.err); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if runtime.ErrTaskNotFound.AsReceived(); runtime.ErrTaskNotFound.Received() {
		t.Error("the table was changed")
	}
}

func TestPassingOnMakesAnErrorOnesOwn(t *testing.T) {
	received, err := runtime.ReadError([]byte(`{"code":-32001,"message":"Task not found","data":[{"@type":"x/y","k":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	wrapped := fmt.Errorf("ask: %w", received)
	passed := fmt.Errorf("again: %w", runtime.PassOn(wrapped))
	got := runtime.Made(passed)
	if got == nil || got.Code != -32001 || len(got.Details) != 1 || !errors.Is(passed, wrapped) || passed.Error() != "again: "+wrapped.Error() || !received.Received() {
		t.Errorf("%v of %v", got, passed)
	}
	if got := runtime.Made(runtime.PassOn(statusError{})); !got.Is(runtime.ErrUnauthenticated) {
		t.Errorf("a status alone: %v", got)
	}
	plain := errors.New("x")
	if runtime.PassOn(nil) != nil || runtime.PassOn(plain) != plain || runtime.PassOn(runtime.ErrInternal) != error(runtime.ErrInternal) {
		t.Error("what is no error of another agent is left as it is")
	}
}
