package check

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ParseDuration reads a duration such as "P1DT2H30M" (ISO 8601) in weeks, days of 24 hours, and less; a fraction of
// seconds, which the format duration does not have, as well. Years and months, which have no fixed length, are an error.
func ParseDuration(s string) (time.Duration, error) {
	whole := s
	if before, fraction, ok := strings.Cut(s, "."); ok && len(fraction) > 1 && strings.Trim(fraction, "0123456789") == "S" {
		whole = before + "S"
	}
	if !IsDuration(whole) {
		return 0, fmt.Errorf("%q is not a duration", s)
	}
	units := map[byte]time.Duration{'W': 7 * 24 * time.Hour, 'D': 24 * time.Hour, 'H': time.Hour, 'M': time.Minute, 'S': time.Second}
	days, clock, _ := strings.Cut(s[1:], "T")
	if strings.ContainsAny(days, "YM") {
		return 0, errors.New("years and months have no fixed length")
	}
	var total float64
	for rest := days + clock; rest != ""; {
		i := strings.IndexAny(rest, "WDHMS")
		n, err := strconv.ParseFloat(rest[:i], 64)
		if err != nil {
			return 0, err
		}
		total += n * float64(units[rest[i]])
		rest = rest[i+1:]
	}
	if total >= 1<<63 {
		return 0, fmt.Errorf("%q is too long", s)
	}
	return time.Duration(total), nil
}

// IsDuration reports whether s is a duration of RFC 3339 appendix A, which has no fractions.
func IsDuration(s string) bool { return duration().MatchString(s) }

// duration is the pattern of all. A variable with a function that makes it would link regexp into
// every agent.
func duration() *regexp.Regexp {
	durations.once.Do(func() {
		const clock = `T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)`
		durations.re = regexp.MustCompile(`^P(\d+W|(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)(` + clock + `)?|` + clock + `)$`)
	})
	return durations.re
}

var durations struct {
	once sync.Once
	re   *regexp.Regexp
}
