// Package ringtest is a test: three processes of an agent share a PostgreSQL server, each behind a proxy of its own, and
// work under load, while processes are killed, stopped and restarted, connections are cut, slow or silent, and the
// server is restarted, killed, filled up and replaced by its standby. Clients and webhooks compare what they were told.
//
//	go test -v ./internal/test/ringtest                            # three seconds of it
//	FOR=1h go test -v -timeout 2h ./internal/test/ringtest         # as make replicas FOR=1h does
//	SEED=42 go test -v ./internal/test/ringtest                    # the choices of a run again; moments are the machine's
//	A2A_POSTGRES=postgres://… go test -v ./internal/test/ringtest  # on that server, which is then left alone
package ringtest
