package names

import (
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
)

// Skills names the handlers of skills, and their files.
func Skills(skills []*ir.Skill) {
	methods, files := NewScope(), NewScope(scaffoldFiles...)
	for _, s := range skills {
		s.Go, s.File = methods.Take(Go(s.ID)), files.Take(handlerFile(s.ID))
	}
}

// scaffoldFiles are the files of the skills package that are no handlers; "rpc" is the test of one that older tools wrote.
var scaffoldFiles = []string{"agent", "rpc", "doc"}

// handlerFile is the base name of a handler's file. One that is taken gets a word, not a number, where the word says
// more.
func handlerFile(id string) string {
	base := FileBase(id)
	if slices.Contains(scaffoldFiles, base) {
		return base + "_skill"
	}
	return base
}

// ClientMethods names the methods of the client of a protocol: its own, then one an operation that it calls.
func ClientMethods(p *ir.Protocol) {
	scope := NewScope(ClientOwn...)
	p.ClientMethods = slices.Clone(ClientOwn)
	for _, op := range called(p) {
		op.Method = scope.Take(op.Go)
		p.ClientMethods = append(p.ClientMethods, op.Method)
	}
}

// called are the operations of the newest version, and those that other versions alone have. One that no
// binding can carry is not among them.
func called(p *ir.Protocol) []*ir.Operation {
	var ops []*ir.Operation
	for i, v := range p.Versions {
		for _, op := range v.Operations {
			known := slices.ContainsFunc(ops, func(o *ir.Operation) bool { return o.Go == op.Go })
			if !op.Unserved && (i == 0 || op.Role == ir.RoleOther && !known) {
				ops = append(ops, op)
			}
		}
	}
	return ops
}

// Join names what an agent's packages call by the names of the protocol's: the methods of its client, and what its
// handlers may implement beside the skills.
func Join(p *ir.Protocol, a *ir.Agent) {
	nameSkillMethods(p, a)
	nameFakes(a)
	types, methods := takenInAgent(a)
	nameOwnOperations(p, a, types, methods)
	nameRemotes(a, types, methods)
}

// nameSkillMethods names the client's methods of all skills so that none collide with each other, with the embedded
// client's field or with its methods.
func nameSkillMethods(p *ir.Protocol, a *ir.Agent) {
	scope := NewScope(append([]string{"Client"}, p.ClientMethods...)...)
	for _, s := range a.Skills {
		s.Client.Call = scope.Take(s.Go)
	}
	for _, s := range a.Skills {
		s.Client.Stream = scope.Take(s.Client.Call + "Stream")
		s.Client.Answer = scope.Take(s.Client.Call + "Answer")
	}
	for _, s := range a.Skills { // after the others, whose names do not move
		s.Client.AnswerStream = scope.Take(s.Client.Call + "AnswerStream")
	}
}

// nameFakes names what the agent's fake has for each skill, apart from what every fake has. A skill is called as in the client,
// if it can be.
func nameFakes(a *ir.Agent) {
	scope := NewScope(FakeOwn...)
	for _, s := range a.Skills {
		s.Fake.Field = scope.Take(s.Client.Call)
	}
	for _, s := range a.Skills {
		s.Fake.On = scope.Take("On" + s.Fake.Field)
	}
}

// nameOwnOperations lists the operations that the runtime does not know. Their names avoid those of the package, and
// of the methods that the user writes.
func nameOwnOperations(p *ir.Protocol, a *ir.Agent, types, methods *Scope) {
	a.Operations = nil
	for _, op := range p.Called() {
		if op.Role == ir.RoleOther && !(op.Stream && op.Response.Type == nil) { // a stream of nothing is none
			a.Operations = append(a.Operations, &ir.OwnOperation{
				Operation: op, Interface: types.Take(op.Go + "Operation"), Handler: methods.Take(op.Go),
			})
		}
	}
}

// nameRemotes names the fields with the clients of other agents, and the type that has them. The user's agent embeds it, so
// that a field must not be called as a handler is.
func nameRemotes(a *ir.Agent, types, methods *Scope) {
	if len(a.Remotes) == 0 {
		return
	}
	a.RemotesType = types.Take("Clients")
	methods.Take(a.RemotesType) // the name of what is embedded
	methods.Take("Options")     // its other field
	for _, r := range a.Remotes {
		name := Go(r.Client)
		if methods.Has(name) {
			name += "Client"
		}
		r.Go = methods.Take(name)
	}
}

// takenInAgent are the names of what the agent's package declares, and of the handlers.
func takenInAgent(a *ir.Agent) (types, methods *Scope) {
	types, methods = OfSkills(), NewScope()
	for _, t := range a.Types {
		types.Take(t.Go)
		for _, v := range t.Values {
			types.Take(v.Go)
		}
	}
	for _, s := range a.Skills {
		methods.Take(s.Go)
	}
	return types, methods
}

// ClientOptions names the options of an agent's client that give credentials, by the schemes of the card: "WithCorp".
func ClientOptions(a *ir.Agent) {
	scope := OfSkills()
	for _, t := range a.Types {
		scope.Take(t.Go)
		for _, v := range t.Values {
			scope.Take(v.Go)
		}
	}
	for _, c := range a.Calls.Credentials {
		c.Go = scope.Take("With" + Go(c.Scheme))
	}
}

// ClientExtensions names what an agent's client has for the extensions of the agent, beside [ClientOptions].
func ClientExtensions(a *ir.Agent) {
	scope := OfSkills()
	for _, t := range a.Types {
		scope.Take(t.Go)
		for _, v := range t.Values {
			scope.Take(v.Go)
		}
	}
	for _, c := range a.Calls.Credentials {
		scope.Take(c.Go)
	}
	for _, x := range a.Extensions {
		x.With = scope.Take("With" + x.Go)
		x.WithRequest, x.WithPart = scope.Take(x.With+"Request"), scope.Take(x.With+"Part")
		x.ParamsOf = scope.Take(x.Go + "Params")
	}
}
