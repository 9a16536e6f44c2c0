package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/a2agen/a2agen"
)

// writeProxy writes the module as the files that a module proxy serves, so that GOPROXY=file://… finds the version.
func (r release) writeProxy(dir string) error {
	var zipped bytes.Buffer
	if err := modzip.CreateFromVCS(&zipped, module.Version{Path: a2agen.Module, Version: r.version}, r.dir, "HEAD", ""); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{r.version, r.time})
	if err != nil {
		return err
	}
	escaped, err := module.EscapePath(a2agen.Module)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(r.version + "\n"), r.version + ".info": info, r.version + ".mod": a2agen.GoMod(), r.version + ".zip": zipped.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// builder builds the command as its users do, by "go install …@version": only so it knows its version and the hash of the module, which new
// projects get in their go.sum.
type builder struct {
	release
	proxy string // folder
	dir   string // for the module cache, which must not hold another state of the version, and the programs
}

// program is the command for a platform.
type program struct {
	platform string
	file     string
	info     *debug.BuildInfo
}

func (b builder) build(platform string) (program, error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return program{}, fmt.Errorf("platform %q: write one like linux/amd64", platform)
	}
	has, err := goEnv("GOPROXY", "GOMODCACHE", "GOCACHE")
	if err != nil {
		return program{}, err
	}
	cmd := exec.Command("go", "install", "-ldflags=-s -w", a2agen.Module+"/cmd/a2agen@"+b.version)
	cmd.Dir = filepath.Dir(b.dir)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GO") { // settings of the person who releases change no byte
			cmd.Env = append(cmd.Env, v)
		}
	}
	// Every module that is linked is compared with go.sum afterwards, so no checksum database is asked.
	cmd.Env = append(cmd.Env, "GOENV=off", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-trimpath", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch,
		"GOPATH="+b.dir, "GOCACHE="+has[2], "GONOSUMDB=*", "GOPROXY="+fileURL(b.proxy)+","+fileURL(filepath.Join(has[1], "cache", "download"))+","+has[0])
	if out, err := cmd.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("build for %s: %w\n%s", platform, err, out)
	}
	p := program{platform: platform, file: filepath.Join(b.dir, "bin", system+"_"+arch, "a2agen")}
	if system == runtime.GOOS && arch == runtime.GOARCH {
		p.file = filepath.Join(b.dir, "bin", "a2agen")
	}
	if system == "windows" {
		p.file += ".exe"
	}
	p.info, err = buildinfo.ReadFile(p.file)
	if err != nil {
		return p, err
	}
	for _, m := range p.info.Deps {
		if line := m.Path + " " + m.Version + " " + m.Sum + "\n"; !bytes.Contains(a2agen.GoSum(), []byte(line)) {
			return p, fmt.Errorf("%s %s is linked with the hash %s, which go.sum does not have", m.Path, m.Version, m.Sum)
		}
	}
	return p, nil
}

// goEnv returns settings of the go command.
func goEnv(names ...string) ([]string, error) {
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}

func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir
	}
	return "file://" + dir
}

// writeArchive packs a program with the licences: zip for Windows, else tar.gz.
func (r release) writeArchive(dir string, p program, notices []byte) error {
	prog, err := os.ReadFile(p.file)
	if err != nil {
		return err
	}
	licence, err := os.ReadFile(filepath.Join(r.dir, "LICENSE"))
	if err != nil {
		return err
	}
	name := r.name() + "_" + strings.ReplaceAll(p.platform, "/", "_")
	files := []struct {
		name string
		mode fs.FileMode
		data []byte
	}{{filepath.Base(p.file), 0o755, prog}, {"LICENSE", 0o644, licence}, {"LICENSES-of-libraries.txt", 0o644, notices}}
	var packed bytes.Buffer
	if strings.HasPrefix(p.platform, "windows/") {
		name += ".zip"
		w := zip.NewWriter(&packed)
		for _, f := range files {
			h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
			h.SetMode(f.mode)
			to, err := w.CreateHeader(h)
			if err != nil {
				return err
			}
			if _, err := to.Write(f.data); err != nil {
				return err
			}
		}
		err = w.Close()
	} else {
		name += ".tar.gz"
		gz, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		w := tar.NewWriter(gz)
		for _, f := range files {
			h := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: r.time, Format: tar.FormatPAX}
			if err := w.WriteHeader(h); err != nil {
				return err
			}
			if _, err := w.Write(f.data); err != nil {
				return err
			}
		}
		if err = w.Close(); err == nil {
			err = gz.Close()
		}
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), packed.Bytes(), 0o644)
}

// writeSums writes the SHA-256 of all files in the form of sha256sum.
func writeSums(dir string) error {
	var sums bytes.Buffer
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		fmt.Fprintf(&sums, "%x  %s\n", h.Sum(nil), path.Clean(filepath.ToSlash(name)))
		return err
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "checksums.txt"), sums.Bytes(), 0o644)
}
