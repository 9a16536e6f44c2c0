//go:build unix

package killtest

import "testing"

// What is looked for is found.
func TestComplaints(t *testing.T) {
	log := events{2: "b", 3: "c", 4: "d"}
	for name, c := range map[string]struct {
		taken          []notification
		fault, missing bool
	}{
		"all":         {[]notification{{2, 2, "b"}, {3, 3, "c"}, {4, 4, "d"}}, false, false},
		"merged":      {[]notification{{2, 2, "b"}, {3, 4, "cd"}}, false, false},
		"none":        {nil, false, true},
		"the end":     {[]notification{{2, 2, "b"}, {3, 3, "c"}}, false, true},
		"a gap":       {[]notification{{2, 2, "b"}, {4, 4, "d"}}, true, false},
		"the start":   {[]notification{{3, 3, "c"}, {4, 4, "d"}}, true, false},
		"a double":    {[]notification{{2, 2, "b"}, {2, 2, "B"}, {3, 3, "c"}, {4, 4, "d"}}, true, false},
		"an overlap":  {[]notification{{2, 3, "bc"}, {3, 4, "cd"}}, true, false},
		"not as told": {[]notification{{2, 2, "b"}, {3, 3, "x"}, {4, 4, "d"}}, true, false},
	} {
		if fault, missing := complain(c.taken, log, 4); (fault != "") != c.fault || missing != c.missing {
			t.Errorf("%s: %q, missing %v", name, fault, missing)
		}
	}
}
