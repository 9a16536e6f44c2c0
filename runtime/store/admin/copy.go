package admin

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// A store that is copied, one that is filled, and how far that is. Packages sqlite and postgres open them, with OpenWhole.
type (
	Whole    = transfer.Whole
	Empty    = transfer.Empty
	Progress = transfer.Progress
)

// Copy copies all that a store has into an empty one, and compares both sides. Run again after it was ended in the middle,
// it goes on; run again after it has finished, it only compares. told is called now and then with what is there so far.
func Copy(ctx context.Context, from Whole, to Empty, told func(Progress)) (Progress, error) {
	return transfer.Copy(ctx, from, to, told)
}

// DryCopy says what Copy would copy, or why it cannot. to is nil for a store that is not there yet.
func DryCopy(ctx context.Context, from Whole, to Empty, told func(Progress)) (Progress, error) {
	return transfer.DryCopy(ctx, from, to, told)
}
