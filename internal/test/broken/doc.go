// Package broken proves the conformance suite: a good agent behind a proxy that breaks one requirement at a time, each of
// which the suite must find, and nothing else must it find on the agent as it is.
//
//	go test ./internal/test/broken -update    # writes testdata/found.md
package broken
