package ledger

import "fmt"

// Steps is how many updates a call of [Sturdy] and [Fragile] makes, each with the text that [Step] gives.
const Steps = 5

// Step is the text of update n of an attempt, from 0 on.
func Step(n, attempt int) string { return fmt.Sprintf("step %d of attempt %d", n, attempt) }

// steps is how far the calls of a task have come, by the texts of its events.
type steps struct{ next, attempt int }

// take checks that a text follows those before it: the next step of the same attempt, or the first one of another
// attempt, which is no earlier one, or of another call. A handler that writes although another has taken its call over
// breaks that, and so does an update that was made twice.
func (s *steps) take(text string) error {
	var n, attempt int
	if _, err := fmt.Sscanf(text, "step %d of attempt %d", &n, &attempt); err != nil {
		return nil // no step
	}
	before := *s
	*s = steps{n + 1, attempt}
	switch {
	case before == steps{}, n == before.next && attempt == before.attempt:
	case n == 0 && (attempt >= before.attempt || before.next == Steps):
	default:
		return &wrong{fmt.Sprintf("%q follows step %d of attempt %d", text, before.next-1, before.attempt)}
	}
	return nil
}
