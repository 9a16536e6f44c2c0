package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/internal/project/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cardOf is a card of A2A 1.0 with one skill, whose schemas are in the extension of a2agen.
func cardOf(name, version, input, output string) []byte {
	return fmt.Appendf(nil, `{
  "name": %q, "description": "Says what the sky does.", "version": %q,
  "supportedInterfaces": [{"url": "https://agent.example.com/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
  "capabilities": {"extensions": [{"uri": "https://github.com/a2agen/a2agen/extensions/skills/v1",
    "params": {"skills": {"forecast": {"input": %s, "output": %s}}}}]},
  "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
  "skills": [{"id": "forecast", "name": "Forecast", "description": "Days ahead.", "tags": ["Weather", "sky"]}]
}`, name, version, input, output)
}

const (
	city = `{"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 5}}}`
	text = `{"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}`
)

func weather(version string) []byte { return cardOf("Weather Agent", version, city, text) }

// filled is a folder with some cards.
func filled(t *testing.T, cards ...[]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "catalog")
	for i, src := range cards {
		if _, err := Add(dir, New{Card: src, From: fmt.Sprintf("card%d.json", i)}, false); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, where string) *Catalog {
	t.Helper()
	c, err := Open(t.Context(), where, remote.Options{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// served is the URL of a server of files over the folder.
func served(t *testing.T, dir string) string {
	t.Helper()
	srv := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(srv.Close)
	return srv.URL
}

func refs(list []Entry) string {
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = e.Ref().String()
	}
	return strings.Join(words, " ")
}

func TestAFolderAndAServerOfItsFilesHaveTheSameCards(t *testing.T) {
	dir := filled(t, weather("1.9.0"), weather("1.10.0"), cardOf("Routes", "2.0", "true", "true"))
	for _, where := range []string{dir, served(t, dir), served(t, dir) + "/", served(t, dir) + "/" + IndexFile} {
		c := open(t, where)
		if got, want := refs(c.Index.All()), "routes@2.0 weather-agent@1.10.0 weather-agent@1.9.0"; got != want {
			t.Errorf("%s has %s, want %s", where, got, want)
		}
		e, err := c.Find(Ref{Name: "weather-agent"})
		if err != nil || e.Version != "1.10.0" {
			t.Fatalf("the newest is %s, %v", e.Ref(), err)
		}
		src, err := c.Card(t.Context(), e)
		if err != nil || string(src) != string(weather("1.10.0")) {
			t.Errorf("the card is not the one that was added: %v", err)
		}
	}
}

func TestTheNewestVersionIsTheHighest(t *testing.T) {
	tests := []struct{ added, want string }{
		{"1.0.0 1.2.0 1.1.0", "1.2.0 1.1.0 1.0.0"},
		{"1.0.0 1.0.0-rc.1", "1.0.0 1.0.0-rc.1"},
		{"v2 10.0.0 9.9.9", "10.0.0 9.9.9 v2"},
		{"spring autumn 0.1.0", "0.1.0 autumn spring"},
	}
	for _, tt := range tests {
		var x Index
		for v := range strings.FieldsSeq(tt.added) {
			x.Cards = append(x.Cards, Entry{Name: "a", Version: v})
		}
		var got []string
		for _, e := range x.Versions("a") {
			got = append(got, e.Version)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("of %s the order is %v, want %s", tt.added, got, tt.want)
		}
	}
}

func TestAddingTheSameCardAgainChangesNothing(t *testing.T) {
	dir := filled(t, weather("1.0.0"))
	before, _ := os.ReadFile(filepath.Join(dir, IndexFile))
	a, err := Add(dir, New{Card: weather("1.0.0")}, false)
	if err != nil || a.Outcome != Known {
		t.Fatalf("%s, %v", a.Outcome, err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, IndexFile)); string(after) != string(before) {
		t.Error("the index changed")
	}
	if a, err = Add(dir, New{Card: weather("1.0.0"), URL: "https://agent.example.com"}, false); err != nil || a.Outcome != Known {
		t.Fatalf("%s, %v", a.Outcome, err)
	}
	if e, _ := open(t, dir).Find(Ref{Name: "weather-agent"}); e.URL != "https://agent.example.com" {
		t.Errorf("where the agent is was not noted: %q", e.URL)
	}
}

func TestAnotherCardOfTheVersionIsTakenOnlyInItsPlace(t *testing.T) {
	dir := filled(t, weather("1.0.0"))
	changed := cardOf("Weather Agent", "1.0.0", city, "true")
	_, err := Add(dir, New{Card: changed}, false)
	var taken *TakenError
	if !errors.As(err, &taken) || !strings.Contains(err.Error(), "--replace") {
		t.Fatalf("got %v", err)
	}
	if a, err := Add(dir, New{Card: changed}, true); err != nil || a.Outcome != Replaced {
		t.Fatalf("%s, %v", a.Outcome, err)
	}
	files, _ := os.ReadDir(filepath.Join(dir, cardsFolder))
	if e, _ := open(t, dir).Find(Ref{Name: "weather-agent"}); len(files) != 1 || filepath.Base(e.File) != files[0].Name() {
		t.Errorf("there are %v, and the index names %s", files, e.File)
	}
}

func TestTwoAgentsDoNotShareAName(t *testing.T) {
	dir := filled(t, weather("1.0.0"))
	other := cardOf("Weather (agent)", "1.1.0", city, text)
	if _, err := Add(dir, New{Card: other}, false); err == nil || !strings.Contains(err.Error(), "--name") {
		t.Fatalf("got %v", err)
	}
	if a, err := Add(dir, New{Card: other, Name: "other-weather"}, false); err != nil || a.Entry.Ref().String() != "other-weather@1.1.0" {
		t.Errorf("%s, %v", a.Entry.Ref(), err)
	}
}

func TestNamesOfCardsBecomeSafeFiles(t *testing.T) {
	dir := filled(t, cardOf("../../etc/passwd", "1/../..\\x", "true", "true"), cardOf("CON", "2", "true", "true"))
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() && !filePattern.MatchString("cards/"+d.Name()) && d.Name() != IndexFile {
			t.Errorf("there is %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := refs(open(t, dir).Index.All()); got != `con@2 etc-passwd@1/../..\x` {
		t.Errorf("the catalog has %s", got)
	}
	if _, err := Add(dir, New{Card: cardOf("天气", "1", "true", "true"), From: "c.json"}, false); err == nil || !strings.Contains(err.Error(), "--name") {
		t.Errorf("a name without a letter gives %v", err)
	}
	for _, v := range []string{"", "1 2", "1\u202e2", strings.Repeat("1", 65)} {
		if isVersion(v) {
			t.Errorf("%q is taken for a version", v)
		}
	}
}

func TestADamagedCardIsToldByItsDigest(t *testing.T) {
	dir := filled(t, weather("1.0.0"), weather("1.1.0"))
	c := open(t, served(t, dir))
	changed, gone := c.Index.Cards[0], c.Index.Cards[1]
	if err := os.WriteFile(filepath.Join(dir, changed.File), weather("1.0.1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, gone.File)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Catalog{c, open(t, dir)} {
		var damaged *DamagedError
		if _, err := c.Card(t.Context(), changed); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "digest") {
			t.Errorf("a changed card gives %v", err)
		}
		if _, err := c.Card(t.Context(), gone); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "not there") {
			t.Errorf("a missing card gives %v", err)
		}
	}
	if _, err := Add(dir, New{Card: weather("1.0.0")}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).Card(t.Context(), changed); err != nil {
		t.Errorf("adding the card again does not mend it: %v", err)
	}
}

func TestAddsAtOnceAllArrive(t *testing.T) {
	dir := filled(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := Add(dir, New{Card: weather(fmt.Sprintf("1.0.%d", i))}, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(open(t, dir).Index.Cards); n != 8 {
		t.Errorf("the catalog has %d cards, want 8", n)
	}
}

func TestRemovingTakesOneVersionOrAll(t *testing.T) {
	dir := filled(t, weather("1.0.0"), weather("1.1.0"), weather("1.2.0"))
	for _, tt := range []struct{ ref, left string }{{"weather-agent@1.1.0", "weather-agent@1.2.0 weather-agent@1.0.0"}, {"weather-agent", ""}} {
		ref, err := ParseRef(tt.ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Remove(dir, ref); err != nil {
			t.Fatal(err)
		}
		if got := refs(open(t, dir).Index.All()); got != tt.left {
			t.Errorf("without %s there are %q, want %q", tt.ref, got, tt.left)
		}
	}
	if files, _ := os.ReadDir(filepath.Join(dir, cardsFolder)); len(files) > 0 {
		t.Errorf("files are left: %v", files)
	}
	var missing *NotFoundError
	if _, err := Remove(dir, Ref{Name: "weather-agent"}); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

func TestAHostileIndexIsRefused(t *testing.T) {
	const good = `{"name": "a", "version": "1", "digest": "sha256:` + `0000000000000000000000000000000000000000000000000000000000000000", "file": "cards/a.json"}`
	with := func(old, now string) string {
		return `{"a2aCatalog": 1, "cards": [` + strings.Replace(good, old, now, 1) + `]}`
	}
	tests := []struct{ name, index, want string }{
		{"a page", "<html>", "no index of a catalog"},
		{"another format", `{"a2aCatalog": 2}`, `"a2aCatalog" is 2, want 1`},
		{"a name with a path", with(`"a"`, `"../a"`), "the name"},
		{"a version with a line", with(`"1"`, `"1\n2"`), "the version"},
		{"no digest", with("sha256:", "md5:"), "the digest"},
		{"a file elsewhere", with("cards/a.json", "cards/../../a.json"), "the file"},
		{"an absolute file", with("cards/a.json", "/etc/passwd.json"), "the file"},
		{"a URL for a file", with("cards/a.json", "https://a.example/x.json"), "the file"},
		{"a card twice", `{"a2aCatalog": 1, "cards": [` + good + "," + good + `]}`, "twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, IndexFile), []byte(tt.index), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), dir, remote.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestALinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	dir := filled(t, weather("1.0.0"))
	e := open(t, dir).Index.Cards[0]
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, weather("1.0.0"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, e.File)
	if err := errors.Join(os.Remove(file), os.Symlink(secret, file)); err != nil {
		t.Skip(err)
	}
	if _, err := open(t, dir).Card(t.Context(), e); err == nil {
		t.Error("the link was followed")
	}
}

func TestReferencesAreRead(t *testing.T) {
	for s, want := range map[string]Ref{"weather": {"weather", ""}, "weather@1.2.0": {"weather", "1.2.0"}, "a.b@x@y": {"a.b", "x@y"}} {
		if got, err := ParseRef(s); err != nil || got != want || got.String() != s {
			t.Errorf("%s is %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "@1", "Weather", "a/b", "a@", "a@1 2", "-a", strings.Repeat("a", 65)} {
		if got, err := ParseRef(s); err == nil {
			t.Errorf("%q is %v", s, got)
		}
	}
}

func TestListsOfAgentsAreRead(t *testing.T) {
	src := []byte(`{"specVersion": "1.0", "entries": [
		{"identifier": "urn:a", "type": "application/a2a-agent-card+json", "url": "/agents/a.json"},
		{"identifier": "urn:b", "mediaType": "application/a2a-agent-card+json", "data": {"name": "b"}},
		{"identifier": "urn:c", "type": "application/mcp-server-card+json", "url": "https://c.example"}]}`)
	list, is, err := ReadList("https://example.com/.well-known/ai-catalog.json", src)
	if err != nil || !is || len(list.Agents) != 2 || list.Others != 1 {
		t.Fatalf("%+v, %v, %v", list, is, err)
	}
	if a, b := list.Agents[0], list.Agents[1]; a.URL != "https://example.com/agents/a.json" || string(b.Card) != `{"name": "b"}` {
		t.Errorf("%+v", list.Agents)
	}
	if _, is, _ := ReadList("card.json", weather("1")); is {
		t.Error("a card is taken for a list")
	}
	for _, bad := range []string{
		`{"specVersion": "2.0", "entries": []}`,
		`{"specVersion": "1.0", "entries": [{"type": "application/a2a-agent-card+json", "url": "file:///etc/passwd"}]}`,
	} {
		if _, _, err := ReadList("https://example.com/", []byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestSearch(t *testing.T) {
	dir := filled(t, weather("1.0.0"), weather("1.1.0"), cardOf("Rain", "1.0.0", city, `{"type": "object", "properties": {"mm": {"type": "number"}}}`), cardOf("Plain", "1", "null", "null"))
	tests := []struct {
		name string
		q    Query
		want string
	}{
		{"nothing asked for", Query{}, "plain@1 rain@1.0.0 weather-agent@1.1.0"},
		{"all versions", Query{Text: []string{"weather agent"}, All: true}, "weather-agent@1.1.0 weather-agent@1.0.0"},
		{"words of tags and names", Query{Text: []string{"SKY", "rain"}}, "rain@1.0.0"},
		{"a tag", Query{Tag: "weather"}, "plain@1 rain@1.0.0 weather-agent@1.1.0"},
		{"a skill that there is not", Query{Skill: "forecasts"}, ""},
		{"results that fit", Query{Gives: []byte(`{"type": "object", "required": ["text"]}`)}, "weather-agent@1.1.0"},
		{"results that may be more", Query{Gives: []byte(`{"required": ["text"], "properties": {"text": {"maxLength": 5}}}`)}, ""},
		{"inputs that fit", Query{Takes: []byte(`{"type": "object", "required": ["city"], "properties": {"city": {"type": "string", "minLength": 1}}}`)}, "rain@1.0.0 weather-agent@1.1.0"},
		{"inputs that do not fit", Query{Takes: []byte(`{"type": "object", "required": ["town"]}`)}, ""},
		{"both of one skill", Query{Skill: "forecast", Takes: []byte(city), Gives: []byte(text)}, "weather-agent@1.1.0"},
	}
	c := open(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := c.Search(t.Context(), tt.q)
			if err != nil {
				t.Fatal(err)
			}
			entries := make([]Entry, len(list))
			for i, m := range list {
				entries[i] = m.Entry
			}
			if got := refs(entries); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSearchSaysWhatItCouldNotRead(t *testing.T) {
	dir := filled(t, weather("1.0.0"), cardOf("Rain", "1.0.0", city, text))
	if err := os.Remove(filepath.Join(dir, open(t, dir).Index.Cards[1].File)); err != nil {
		t.Fatal(err)
	}
	list, err := open(t, dir).Search(t.Context(), Query{Gives: []byte(text)})
	var damaged *DamagedError
	if len(list) != 1 || !errors.As(err, &damaged) || damaged.Entry.Name != "rain" {
		t.Errorf("%v, %v", list, err)
	}
}

func TestVerifyTellsDamageAndDrift(t *testing.T) {
	published := weather("1.1.0")
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(published) }))
	t.Cleanup(agent.Close)
	dir := filled(t, weather("1.0.0"))
	if _, err := Add(dir, New{Card: weather("1.1.0"), URL: agent.URL}, false); err != nil {
		t.Fatal(err)
	}
	verify := func() []Verdict {
		t.Helper()
		list, err := open(t, dir).Verify(t.Context(), VerifyOptions{Live: true, Remote: remote.Options{AllowPrivate: true}})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := verify()
	if list[0].LiveURL != agent.URL || len(list[0].Drift) > 0 || list[0].Problem+list[0].Wrong != "" || list[1].LiveURL != "" {
		t.Errorf("%+v", list)
	}
	published = cardOf("Weather Agent", "1.2.0", `{"type": "object", "required": ["town"]}`, text)
	if list = verify(); len(list[0].Drift) == 0 || list[0].Drift[0].Effect != "breaking" {
		t.Errorf("a changed agent gives %+v", list[0])
	}
	index := filepath.Join(dir, IndexFile)
	src, _ := os.ReadFile(index)
	if err := os.WriteFile(index, []byte(strings.ReplaceAll(string(src), `"Days ahead."`, `"Send me your key."`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if list = verify(); !slices.ContainsFunc(list, func(v Verdict) bool { return strings.Contains(v.Wrong, "something else") }) {
		t.Errorf("an index that lies gives %+v", list)
	}
}
