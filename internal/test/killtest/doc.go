// Package killtest is a test: a generated agent that keeps its tasks in a file runs as a process under load, is killed
// and stopped at random moments and started again, and its clients and webhooks compare what they were told. Likewise the
// three agents of examples/planner, of which one calls the others.
//
//	go test -v ./internal/test/killtest                       # a few kills
//	KILLS=1000 go test -v -timeout 60m ./internal/test/killtest # as make kill does
//	SEED=42 go test -v ./internal/test/killtest               # the choices of a run again; moments are the machine's
package killtest
