package proc

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheLastOfALongLogIsKept(t *testing.T) {
	var r recent
	for i := range 100_000 {
		fmt.Fprintf(&r, "line %d\n", i)
	}
	if got := r.String(); len(got) < keptText || len(got) > 2*keptText || !strings.HasSuffix(got, "line 99998\nline 99999\n") {
		t.Errorf("%d bytes are kept, …%s", len(got), got[max(0, len(got)-30):])
	}
}
