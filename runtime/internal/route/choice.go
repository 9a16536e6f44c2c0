package route

import "github.com/a2agen/a2agen/runtime"

// Rule is one of those of [Catalog.Route].
type Rule string

// The rules.
const (
	ByMetadata Rule = "metadata"
	ByData     Rule = "data" // that names the skill
	ByOnly     Rule = "only"
	ByMedia    Rule = "media"
	BySchema   Rule = "schema"
	ByWords    Rule = "words"
	ByRouter   Rule = "router"
	ByDefault  Rule = "default"
)

// Choice is why a message went to its skill, for whoever develops the agent.
type Choice struct {
	Message    string      `json:"message,omitempty"` // its id
	Task       string      `json:"task,omitempty"`    // that the message made, if it made one
	Rule       Rule        `json:"rule,omitempty"`    // that decided; "" if none did
	Skill      string      `json:"skill,omitempty"`
	Error      string      `json:"error,omitempty"` // that answered the message
	Candidates []Candidate `json:"candidates"`      // the first skills, in the order of the card
}

// Candidate is what the rules about the content make of a skill, whether or not they were asked.
type Candidate struct {
	Skill  string             `json:"skill"`
	Media  bool               `json:"media"`            // takes the media types of all parts
	Schema string             `json:"schema,omitempty"` // of data: "fits", or why not; "": there is nothing to compare
	Score  float64            `json:"score"`            // of the words
	Words  map[string]float64 `json:"words,omitempty"`  // shared with the text: what each counts for
}

// Limits of what is told.
const (
	maxTold      = 32  // candidates
	maxWords     = 16  // of each
	maxWord      = 40  // bytes
	maxToldError = 300 // bytes
)

// explain tells what the rules about the content make of each skill.
func (k *Catalog) explain(c *Choice, parts []runtime.Part, text string, object []byte) {
	c.Candidates = []Candidate{}
	shared, scores := k.shared(text), make([]float64, len(k.skills))
	k.score(text, scores)
	for i, s := range k.skills[:min(len(k.skills), maxTold)] {
		t := Candidate{Skill: s.ID, Media: s.takes(parts), Score: scores[i], Words: shared[i]}
		if len(object) > 0 && s.Decode != nil {
			t.Schema = "fits"
			if _, err := s.decode(object); err != nil {
				t.Schema = err.Error()[:min(len(err.Error()), maxToldError)]
			}
		}
		c.Candidates = append(c.Candidates, t)
	}
}

// shared returns for each skill the words that it shares with a text, and what each counts for.
func (k *Catalog) shared(text string) []map[string]float64 {
	all := make([]map[string]float64, len(k.skills))
	for _, w := range words(text) {
		having := k.having(w)
		for i, s := range k.skills {
			if s.words[w] == 0 || len(all[i]) == maxWords || len(w) > maxWord {
				continue
			}
			if all[i] == nil {
				all[i] = map[string]float64{}
			}
			all[i][w] = s.words[w] / float64(having)
		}
	}
	return all
}
