package ledger

import "testing"

func TestAHandlerThatWritesAfterItsTakeoverIsSeen(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		wrong bool
	}{
		"one attempt":            {[]string{Step(0, 1), "other", Step(1, 1), Step(2, 1)}, false},
		"the end of what was":    {[]string{Step(3, 2), Step(4, 2)}, false},
		"taken over":             {[]string{Step(0, 1), Step(1, 1), Step(0, 2), Step(1, 2)}, false},
		"given back":             {[]string{Step(0, 1), Step(1, 1), Step(0, 1)}, false},
		"the next call":          {[]string{Step(0, 2), Step(1, 2), Step(2, 2), Step(3, 2), Step(4, 2), Step(0, 1)}, false},
		"doubled":                {[]string{Step(0, 1), Step(1, 1), Step(1, 1)}, true},
		"left out":               {[]string{Step(0, 1), Step(2, 1)}, true},
		"an older one goes on":   {[]string{Step(0, 1), Step(0, 2), Step(1, 1)}, true},
		"an older one, at first": {[]string{Step(0, 2), Step(0, 1)}, true},
	} {
		var s steps
		var err error
		for _, text := range c.texts {
			if err == nil {
				err = s.take(text)
			}
		}
		if (err != nil) != c.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}
