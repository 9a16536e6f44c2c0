package spec

import "strings"

// match pairs the types of two documents.
type match struct {
	toNew map[string]string // name in the old document → in the new one
	toOld map[string]string
}

// matchTypes pairs types of one name, and then those that take one another's place where paired types, or operations, use
// them: a type that is gone, and one of the same kind that is new.
func matchTypes(old, new *Document) match {
	m := match{toNew: map[string]string{}, toOld: map[string]string{}}
	before, after := typeKinds(old), typeKinds(new)
	for name, kind := range before {
		if after[name] == kind {
			m.toNew[name], m.toOld[name] = name, name
		}
	}
	pair := func(a, b Type) bool {
		for a.Elem != nil && b.Elem != nil && a.Kind == b.Kind {
			a, b = *a.Elem, *b.Elem
		}
		_, there := before[b.Name]
		_, still := after[a.Name]
		if a.Name == "" || b.Name == "" || a.Kind != b.Kind || there || still || m.toNew[a.Name] != "" || m.toOld[b.Name] != "" {
			return false
		}
		m.toNew[a.Name], m.toOld[b.Name] = b.Name, a.Name
		return true
	}
	for again := true; again; {
		again = false
		usedAlike(old, new, m, func(a, b Type) {
			if pair(a, b) {
				again = true
			}
		})
	}
	return m
}

// typeKinds returns the kinds of all declared types by name.
func typeKinds(doc *Document) map[string]Kind {
	kinds := map[string]Kind{}
	for _, m := range doc.Messages {
		kinds[m.Name] = MessageOf
	}
	for _, e := range doc.Enums {
		kinds[e.Name] = EnumOf
	}
	for _, c := range doc.Choices {
		kinds[c.Name] = ChoiceOf
	}
	return kinds
}

// usedAlike calls f with each two types that paired things use in the same place.
func usedAlike(old, new *Document, m match, f func(a, b Type)) {
	ops := pairOperations(old, new)
	for _, op := range old.Operations {
		if now := ops[op]; now != nil {
			f(op.Request, now.Request)
			f(op.Response, now.Response)
		}
	}
	messages := messagesByName(new)
	for _, msg := range old.Messages {
		now := messages[m.toNew[msg.Name]]
		if now == nil {
			continue
		}
		fields := fieldsByJSON(now)
		for _, field := range msg.Fields {
			if other := fields[field.JSON]; other != nil {
				f(field.Type, other.Type)
			}
		}
	}
}

// pairOperations pairs the operations of one name in one service, then those of one name where one side does not have the other's service,
// then those of one JSON-RPC method.
func pairOperations(old, new *Document) map[*Operation]*Operation {
	pairs, taken := map[*Operation]*Operation{}, map[*Operation]bool{}
	pair := func(like func(op, now *Operation) bool) {
		for _, op := range old.Operations {
			for _, now := range new.Operations {
				if pairs[op] == nil && !taken[now] && like(op, now) {
					pairs[op], taken[now] = now, true
				}
			}
		}
	}
	had, has := services(old), services(new)
	pair(func(op, now *Operation) bool { return op.Name == now.Name && service(op) == service(now) })
	pair(func(op, now *Operation) bool { return op.Name == now.Name && !has[service(op)] && !had[service(now)] })
	pair(func(op, now *Operation) bool { return op.RPC != "" && op.RPC == now.RPC })
	return pairs
}

// service is the name of an operation's service without the package; empty in a schema.
func service(op *Operation) string {
	path := strings.TrimPrefix(op.GRPC, "/")
	path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	return path[strings.LastIndexByte(path, '.')+1:]
}

// services are those of a definition.
func services(doc *Document) map[string]bool {
	all := map[string]bool{}
	for _, op := range doc.Operations {
		all[service(op)] = true
	}
	return all
}

// operationName is how people call an operation: with its service, where there are several.
func operationName(doc *Document, op *Operation) string {
	if len(services(doc)) > 1 {
		return service(op) + "." + op.Name
	}
	return op.Name
}

func messagesByName(doc *Document) map[string]*Message {
	byName := map[string]*Message{}
	for _, m := range doc.Messages {
		byName[m.Name] = m
	}
	return byName
}

func fieldsByJSON(m *Message) map[string]*Field {
	byJSON := map[string]*Field{}
	for _, f := range m.Fields {
		byJSON[f.JSON] = f
	}
	return byJSON
}

// directions finds out who writes each type: clients what requests hold, servers what responses hold, and cards, which
// early versions have no operation for. Without operations everything may go both ways.
func directions(doc *Document) map[string]direction {
	all := map[string]direction{}
	w := walker{messages: messagesByName(doc), choices: map[string]*Choice{}, all: all}
	for _, c := range doc.Choices {
		w.choices[c.Name] = c
	}
	for _, op := range doc.Operations {
		w.walk(op.Request, direction{byClient: true})
		w.walk(op.Response, direction{byServer: true})
	}
	w.walk(Type{Kind: MessageOf, Name: "AgentCard"}, direction{byServer: true})
	if len(doc.Operations) == 0 {
		for name := range typeKinds(doc) {
			all[name] = direction{byClient: true, byServer: true}
		}
	}
	return all
}

// walker follows types to what they hold.
type walker struct {
	messages map[string]*Message
	choices  map[string]*Choice
	all      map[string]direction
}

func (w *walker) walk(t Type, dir direction) {
	for t.Elem != nil {
		t = *t.Elem
	}
	if t.Name == "" || w.all[t.Name].or(dir) == w.all[t.Name] {
		return
	}
	w.all[t.Name] = w.all[t.Name].or(dir)
	if m := w.messages[t.Name]; m != nil {
		for _, f := range m.Fields {
			w.walk(f.Type, dir)
		}
		if m.Extra != nil {
			w.walk(*m.Extra, dir)
		}
	}
	if c := w.choices[t.Name]; c != nil {
		for _, o := range c.Types {
			w.walk(o, dir)
		}
	}
}
