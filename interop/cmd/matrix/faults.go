package main

import "strings"

// fault is what a peer does wrong, or has not. Empty members stand for all, a check for all whose names begin with it.
type fault struct {
	peer, direction, version, binding, check string
	why                                      string
}

// faults are those of the peers as agents of our client, and as clients of our agent.
var faults = []fault{
	{"a2a-go 2.4.0", ourCalls, "1.0", "", "ended task", "it answers InvalidParams, where A2A 1.0 §3.1.1 has UnsupportedOperation"},

	{"a2a-go 2.4.0", theirClient, "0.3", grpcBinding, "ended task", "it knows the error by its code in 1.0 alone, FAILED_PRECONDITION"},

	{"a2a-sdk 1.3.0 (Python)", ourCalls, "0.3", restBinding, "push delete", "it has no path for that"},

	{"a2a-sdk 0.3.26 (Python)", theirClient, "0.3", restBinding, "unknown task", onlyStatus},
	{"a2a-sdk 0.3.26 (Python)", theirClient, "0.3", restBinding, "canceled twice", onlyStatus},
	{"a2a-sdk 0.3.26 (Python)", theirClient, "0.3", restBinding, "ended task", onlyStatus},
	{"a2a-sdk 0.3.26 (Python)", theirClient, "0.3", grpcBinding, "unknown task", passedOn},
	{"a2a-sdk 0.3.26 (Python)", theirClient, "0.3", grpcBinding, "canceled twice", passedOn},
	{"a2a-sdk 0.3.26 (Python)", theirClient, "0.3", grpcBinding, "ended task", passedOn},
	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", "", "subscribe", "it ends the subscription to a task that is canceled without the events of that"},
	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", restBinding, "push list", "it answers every list with an internal error"},
	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", restBinding, "push delete", "it has no path for that"},
	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", restBinding, "ended task", "its errors have a text and a status of HTTP, but nothing to know them by"},

	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", grpcBinding, "push list", "it does not have the operation"},
	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", grpcBinding, "push delete", "it does not have the operation"},
	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", grpcBinding, "extended card", "it answers its public card"},

	{"a2a-java-sdk 0.3.3.Final", "", "0.3", restBinding, "parts", "it cannot send a null in data, and loses a file's name and type"},
	{"a2a-java-sdk 0.3.3.Final", "", "0.3", restBinding, "unknown task", "it knows few errors but by names of classes that only its own agents write"},
	{"a2a-java-sdk 0.3.3.Final", "", "0.3", restBinding, "canceled twice", "it knows few errors but by names of classes that only its own agents write"},
	{"a2a-java-sdk 0.3.3.Final", "", "0.3", restBinding, "ended task", "it knows few errors but by names of classes that only its own agents write"},
	{"a2a-java-sdk 0.3.3.Final", "", "0.3", restBinding, "extended card", "its client never asks for it"},
	{"a2a-java-sdk 0.3.3.Final", "", "0.3", grpcBinding, "parts", "it cannot send a null in data, and loses a file's name and type"},
	{"a2a-java-sdk 0.3.3.Final", "", "0.3", grpcBinding, "extended card", "its client never asks for it"},

	{"grpcurl 1.9.4", theirClient, "0.3", grpcBinding, "parts", "files have no names in the definition of 0.3"},

	{"@a2a-js/sdk 1.3.0", "", "0.3", restBinding, "parts", noNames},
	{"@a2a-js/sdk 1.3.0", "", "0.3", grpcBinding, "parts", noNames},
	{"@a2a-js/sdk 1.3.0", ourCalls, "0.3", restBinding, "push", "it wants a field of the request as the body, where all others, and its own 0.3.14, want the request"},

	{"@a2a-js/sdk 0.3.14", "", "0.3", restBinding, "parts", noNames},
	{"@a2a-js/sdk 0.3.14", theirClient, "0.3", grpcBinding, "parts", "it cannot send a null in data"},
	{"@a2a-js/sdk 0.3.14", theirClient, "0.3", grpcBinding, "ended task", "it knows no error of a message over gRPC but a task that is not there"},
	{"@a2a-js/sdk 0.3.14", ourCalls, "0.3", grpcBinding, "parts", "it makes 0 of a null in data"},

	{"a2a-go 2.4.0", cardForm, "1.0", "", specified, "it cannot read a card of 1.0 with security requirements, but in the form that it writes: `requirements: list`"},
	{"a2a-go 2.4.0", "API key, query", "", "", right, asHeader},
	{"a2a-go 2.4.0", "API key, cookie", "", "", right, asHeader},
	{"a2a-go 2.4.0", "Basic", "", "", right, asBearer},
	{"a2a-go 2.4.0", "OAuth 2", "", restBinding, narrow, unauthorized},
	{"a2a-go 2.4.0", "OAuth 2", "1.0", grpcBinding, narrow, unauthorized},
	{"a2a-go 2.4.0", "OpenID Connect", "", "", right, noOpenID},
	{"a2a-go 2.4.0", "OpenID Connect", "", "", narrow, noOpenID},
	{"a2a-go 2.4.0", "key and Bearer", "", "", right, onlyOne},

	{"a2a-go 0.3.15", "API key, query", "", "", right, asHeader},
	{"a2a-go 0.3.15", "API key, cookie", "", "", right, asHeader},
	{"a2a-go 0.3.15", "Basic", "", "", right, asBearer},
	{"a2a-go 0.3.15", "OpenID Connect", "", "", right, noOpenID},
	{"a2a-go 0.3.15", "OpenID Connect", "", "", narrow, noOpenID},
	{"a2a-go 0.3.15", "key and Bearer", "", "", right, onlyOne},

	{"a2a-sdk 1.3.0 (Python)", "API key, query", "", "", right, unsent},
	{"a2a-sdk 1.3.0 (Python)", "API key, cookie", "", "", right, unsent},
	{"a2a-sdk 1.3.0 (Python)", "Basic", "", "", right, unsent},
	{"a2a-sdk 1.3.0 (Python)", "key and Bearer", "", "", right, onlyOne},

	{"a2a-sdk 0.3.26 (Python)", "API key, query", "", "", right, unsent},
	{"a2a-sdk 0.3.26 (Python)", "API key, cookie", "", "", right, unsent},
	{"a2a-sdk 0.3.26 (Python)", "Basic", "", "", right, unsent},
	{"a2a-sdk 0.3.26 (Python)", "key and Bearer", "", rpcBinding, right, onlyOne},
	{"a2a-sdk 0.3.26 (Python)", "", "", restBinding, right, rpcHook},
	{"a2a-sdk 0.3.26 (Python)", "", "", restBinding, narrow, rpcHook},
	{"a2a-sdk 0.3.26 (Python)", "", "", grpcBinding, right, rpcHook},
	{"a2a-sdk 0.3.26 (Python)", "", "", grpcBinding, narrow, rpcHook},

	{"a2a-java-sdk 0.3.3.Final", "API key, query", "", "", right, asHeader},
	{"a2a-java-sdk 0.3.3.Final", "API key, cookie", "", "", right, asHeader},
	{"a2a-java-sdk 0.3.3.Final", "Basic", "", "", right, unsent},
	{"a2a-java-sdk 0.3.3.Final", "key and Bearer", "", "", right, onlyOne},
}

// What more than one does.
const (
	noNames    = "files have no names in its 0.3 over HTTP+JSON and gRPC, nor their bytes in base64 as those of the SDKs for Go, Python and Java"
	onlyStatus = "it knows errors by the status of HTTP alone"
	passedOn   = "it passes on the error of gRPC, with its code and text, and knows none of A2A's"

	unauthorized = "it knows the error by a reason of its own alone, UNAUTHORIZED"

	asHeader = "its hook sends the key as a header of that name"
	asBearer = "its hook sends the secret as a Bearer token"
	noOpenID = "its hook sends nothing for OpenID Connect"
	onlyOne  = "its hook sends one of two credentials that are needed together"
	unsent   = "its hook sends nothing for it"
	rpcHook  = "its hook is asked over JSON-RPC alone"
)

// excuses says whether the fault is that of a check.
func (f *fault) excuses(r *row, check string) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return is(f.peer, r.peer) && is(f.direction, r.direction) && is(f.version, r.spoken.version) &&
		is(f.binding, r.spoken.binding) && strings.HasPrefix(check, f.check)
}
