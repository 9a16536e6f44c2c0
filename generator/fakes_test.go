package generator

import (
	"context"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/projecttest"
)

func TestAFakeIsCalledByWhatOthersImport(t *testing.T) {
	for module, want := range map[string]string{
		"example.com/weather":    "client/weathertest/fake.gen.go",
		"example.com/weather/v2": "client/weathertest/fake.gen.go",
		"weather":                "client/weathertest/fake.gen.go",
		"example.com/my-agent":   "client/myagenttest/fake.gen.go",
		"example.com/2go":        "client/x2gotest/fake.gen.go",
		"v2":                     "client/v2test/fake.gen.go",
	} {
		in := inputs(map[string]string{"agent.yaml": projecttest.Skills(1)})
		in.Module = module
		out, list := Generate(context.Background(), in)
		if list.HasErrors() {
			t.Fatal(list)
		}
		if text := string(file(t, out, want)); !strings.Contains(text, "\npackage "+strings.Split(want, "/")[1]+"\n") {
			t.Errorf("%s: the package of %s is another one", module, want)
		}
	}
}

func TestAClientWhereAFakeGoesIsRefused(t *testing.T) {
	in := inputs(map[string]string{
		"agent.yaml":  projecttest.Skills(1),
		"a2agen.yaml": "clients:\n  - {name: a, file: a.json, out: client/weathertest}\n  - {name: b, file: a.json, out: x}\n  - {name: c, file: a.json, out: x/xtest}\n",
		"a.json":      projecttest.RemoteCard,
	})
	in.Module = "example.com/weather"
	_, list := Generate(context.Background(), in)
	var got []string
	for _, d := range list {
		if d.Code == "path" {
			got = append(got, d.Pos.String()+": "+d.Message)
		}
	}
	want := `a2agen.yaml:2:5: the folder of client "a" is that of the fake of the project's own agent: client/weathertest` + "\n" +
		`a2agen.yaml:4:5: the folder of client "c" is that of the fake of client b: x/xtest`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
