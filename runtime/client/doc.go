// Package client is what emitted clients link: it calls the operations and the skills of an agent over JSON-RPC or
// HTTP+JSON and server-sent events (A2A 1.0 §9, §11), or over any other [Binding] that it is given ([Use]).
//
// Nothing here knows a generated type. An emitted protocol package hands over its [runtime.Protocol]; an emitted client
// describes each skill by a [Skill] value and wraps its calls in typed methods.
//
// There is no time limit on a call but the one of its context, because a skill may work for hours. A stream on which
// nothing arrives, not even a heartbeat, counts as broken after the idle time ([IdleTimeout]); a broken stream is taken
// up again by subscribing to its task with Last-Event-ID, never by sending the message again ([Reattach]).
//
// Emitted code imports this package as rpc.
package client
