package ledger

import "testing"

// What is looked for is found.
func TestComplaints(t *testing.T) {
	log := events{2: "b", 3: "c", 4: "d"}.sums()
	for name, c := range map[string]struct {
		taken          []notification
		fault, missing bool
	}{
		"all":         {[]notification{{2, 2, sumOf("b")}, {3, 3, sumOf("c")}, {4, 4, sumOf("d")}}, false, false},
		"merged":      {[]notification{{2, 2, sumOf("b")}, {3, 4, sumOf("cd")}}, false, false},
		"none":        {nil, false, true},
		"the end":     {[]notification{{2, 2, sumOf("b")}, {3, 3, sumOf("c")}}, false, true},
		"a gap":       {[]notification{{2, 2, sumOf("b")}, {4, 4, sumOf("d")}}, true, false},
		"the start":   {[]notification{{3, 3, sumOf("c")}, {4, 4, sumOf("d")}}, true, false},
		"a double":    {[]notification{{2, 2, sumOf("b")}, {2, 2, sumOf("B")}, {3, 3, sumOf("c")}, {4, 4, sumOf("d")}}, true, false},
		"an overlap":  {[]notification{{2, 3, sumOf("bc")}, {3, 4, sumOf("cd")}}, true, false},
		"not as told": {[]notification{{2, 2, sumOf("b")}, {3, 3, sumOf("x")}, {4, 4, sumOf("d")}}, true, false},
	} {
		if fault, missing := complain(c.taken, log, 4); (fault != "") != c.fault || missing != c.missing {
			t.Errorf("%s: %q, missing %v", name, fault, missing)
		}
	}
}
