package equivalence

import (
	"regexp"
	"strconv"
	"strings"
)

// seen are the names that the agent gave.
type seen struct {
	tasks         []string
	context, time string
	page          string
}

var (
	taskNames = regexp.MustCompile(`"(?:taskId|task":\{"id)":"([^"]+)"|^\{"id":"([^"]+)","contextId":`)
	contexts  = regexp.MustCompile(`"contextId":"([^"]+)"`)
	times     = regexp.MustCompile(`"timestamp":"([^"]+)"`)
	pages     = regexp.MustCompile(`"nextPageToken":"([^"]*)"`)
)

// look takes the names out of an answer in the words of 1.0.
func (n *seen) look(answer string) {
	for _, m := range taskNames.FindAllStringSubmatch(answer, -1) {
		if id := m[1] + m[2]; len(n.tasks) == 0 || n.tasks[len(n.tasks)-1] != id {
			n.tasks = append(n.tasks, id)
		}
	}
	last := func(re *regexp.Regexp, to *string) {
		if all := re.FindAllStringSubmatch(answer, -1); len(all) > 0 {
			*to = all[len(all)-1][1]
		}
	}
	last(contexts, &n.context)
	last(times, &n.time)
	last(pages, &n.page)
}

// fill puts the names into a request.
func (n *seen) fill(request string) string {
	for i := len(n.tasks); i > 0; i-- {
		request = strings.ReplaceAll(request, "$task"+strconv.Itoa(i), n.tasks[i-1])
	}
	if len(n.tasks) > 0 {
		request = strings.ReplaceAll(request, "$task", n.tasks[len(n.tasks)-1])
	}
	return strings.NewReplacer("$context", n.context, "$time", n.time, "$page", n.page).Replace(request)
}
