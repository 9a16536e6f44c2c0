package fleet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestTheComposeFileIsWhole: Compose's own reader takes it, every file that it names is there, and nginx knows each replica.
func TestTheComposeFileIsWhole(t *testing.T) {
	folder, err := filepath.Abs(example)
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: folder, ConfigFiles: []types.ConfigFile{{Filename: folder + "/compose.yaml"}}, Environment: types.Mapping{},
	})
	if err != nil {
		t.Fatal(err)
	}
	nginx, err := os.ReadFile(folder + "/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	replicas := 0
	for name, s := range project.Services {
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s.Build != nil {
			if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s can be reached from outside, at %s", name, p.HostIP)
			}
		}
		if !strings.HasPrefix(name, "replica") {
			continue
		}
		replicas++
		if !strings.Contains(string(nginx), "server "+name+":8080") {
			t.Errorf("nginx does not know %s", name)
		}
		if store := s.Environment["A2A_STORE"]; store == nil || !strings.HasPrefix(*store, "postgres://reports@database/") {
			t.Errorf("%s has no store", name)
		}
		if got := s.Environment["REPLICA"]; got == nil || *got != name {
			t.Errorf("%s has another name", name)
		}
	}
	if replicas != 3 {
		t.Errorf("%d replicas", replicas)
	}
}
