package emit

import "github.com/a2agen/a2agen/generator/ir"

// ClientMethods returns the names of the methods of the agent's typed client that call its skills, in the card's order.
// They are the skills' Go names, with a number where the client has the name itself: Close2.
func ClientMethods(p *ir.Protocol, a *ir.Agent) []string {
	c := skillClient{agent: a, protocol: p}
	var list []string
	for _, m := range c.methods() {
		list = append(list, m.call)
	}
	return list
}
