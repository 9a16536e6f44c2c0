package equivalence

import "fmt"

// class is how bindings that are no JSON-RPC class an error: a status of HTTP, and the name of a google.rpc.Code.
type class struct {
	http int
	code string
}

// classTable is a table of classes, by the errors' codes.
type classTable map[int]class

// asTheTable stands for the class that an error has by its table. Nobody has to say it again.
const asTheTable = "as the table says"

// say says how a binding has classed an error.
func (t classTable) say(f *fault) string {
	want := t[f.Code]
	if f.Reason == "RESOURCE_EXHAUSTED" {
		want = class{503, "UNAVAILABLE"}
	}
	if f.class.http == 404 { // a status that stands for a code by itself, which a body names then
		want.code = "NOT_FOUND"
	}
	switch {
	case (f.class.http == 0 || f.class.http == want.http) && (f.class.code == "" || f.class.code == want.code):
		return asTheTable
	case f.class.http != 0:
		return fmt.Sprintf("HTTP %d", f.class.http)
	}
	return f.class.code
}

// with is a table in which some classes are others.
func (t classTable) with(others classTable) classTable {
	all := classTable{}
	for _, part := range []classTable{t, others} {
		for code, c := range part {
			all[code] = c
		}
	}
	return all
}

// The tables of A2A 1.0.1 and 1.0.0 (§5.4, and what follows from its §3.3.2), and for 0.3 what its official
// servers answer over HTTP and its official clients know over gRPC (T9).
var (
	classes101 = classTable{
		-32700: {400, "INVALID_ARGUMENT"}, -32600: {400, "INVALID_ARGUMENT"}, -32602: {400, "INVALID_ARGUMENT"},
		-32603: {500, "INTERNAL"}, -32001: {404, "NOT_FOUND"}, -32002: {400, "FAILED_PRECONDITION"},
		-32003: {400, "FAILED_PRECONDITION"}, -32004: {400, "FAILED_PRECONDITION"}, -32005: {400, "INVALID_ARGUMENT"},
		-32006: {500, "INTERNAL"}, -32007: {400, "FAILED_PRECONDITION"}, -32008: {400, "FAILED_PRECONDITION"},
		-32009: {400, "FAILED_PRECONDITION"}, -31401: {401, "UNAUTHENTICATED"}, -31403: {403, "PERMISSION_DENIED"},
	}
	classes100 = classes101.with(classTable{
		-32002: {409, "FAILED_PRECONDITION"}, -32003: {400, "UNIMPLEMENTED"}, -32004: {400, "UNIMPLEMENTED"},
		-32005: {415, "INVALID_ARGUMENT"}, -32006: {502, "INTERNAL"}, -32009: {400, "UNIMPLEMENTED"},
	})
	classes03 = classes101.with(classTable{
		-32700: {400, "INTERNAL"}, -32602: {422, "INVALID_ARGUMENT"}, -32002: {409, "FAILED_PRECONDITION"},
		-32003: {501, "UNIMPLEMENTED"}, -32004: {501, "UNIMPLEMENTED"}, -32005: {415, "INVALID_ARGUMENT"}, -32006: {502, "INTERNAL"},
		-32007: {404, "FAILED_PRECONDITION"},
	})
)

// classesOf is the table by which a speaker's errors are classed by an agent.
func classesOf(sp *speaker, agent string) classTable {
	switch {
	case sp.version.Rules.PlainErrors:
		return classes03
	case agent == "former":
		return classes100
	}
	return classes101
}
