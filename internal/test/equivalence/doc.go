// Package equivalence holds the test that an agent answers alike over every binding, in every version and encoding: one
// table of scenarios, which every speaker plays with the same agent, and whose answers are equal once they are decoded.
//
// A scenario is a script of requests in the words of A2A 1.0 (script_test.go). A speaker (speaker_test.go) writes them
// as its version, binding and encoding have them and reads what comes back. What comes back is compared with what 1.0
// over JSON-RPC gets, as far as the speaker's version can say it at all. What a version lawfully does otherwise is
// declared, with the reason, in lawful_test.go.
package equivalence
