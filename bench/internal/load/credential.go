package load

import (
	"bytes"
	"crypto/tls"
)

// Bearing is a dialect over HTTP whose requests have a further header, which says who sends them.
func (d Dialect) Bearing(name, value string) *Dialect {
	d.header, d.bears = d.header.Clone(), value
	d.header.Set(name, value)
	return &d
}

// Secured is the dialect with JSON-RPC over TLS.
func (d Dialect) Secured(c *tls.Config) *Dialect {
	return d.over(rpc{overHTTP{c}}, d.send, d.stream, d.get)
}

// fresh makes credentials for as many requests; nil if all bear the same.
func (t *Target) fresh(requests int) []string {
	if t.Fresh == nil {
		return nil
	}
	all := make([]string, requests)
	for i := range all {
		all[i] = t.Fresh()
	}
	return all
}

// find finds the credential in the request.
func (r *request) find(value string) {
	if at := bytes.Index(r.raw, []byte(value)); value != "" && at >= 0 {
		r.bears = r.raw[at : at+len(value)]
	}
}

// bear writes another credential of the same length into the request.
func (r *request) bear(value string) {
	if copy(r.bears, value) != len(r.bears) {
		panic("credentials are of different lengths")
	}
}
