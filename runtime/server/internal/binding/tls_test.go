package binding

import (
	"bytes"
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/testcert"
)

// files writes a pair for a test.
func files(t *testing.T, dir string, p testcert.Pair) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for name, data := range map[string][]byte{cert: p.Cert, key: p.Key} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A pair that is exchanged is used for the next connection; what is no pair changes nothing, and is said once.
func TestTheCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	first, second := testcert.New(t, "first"), testcert.New(t, "second")
	cert, key := files(t, dir, first)
	var log bytes.Buffer
	p, err := ReadCertificate(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	names := func() string {
		p.looked = time.Time{}
		leaf, err := x509.ParseCertificate(p.current().Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(leaf.DNSNames, " ")
	}
	age := func(by time.Duration) { // a file system's clock may be coarse
		for _, name := range []string{cert, key} {
			if err := os.Chtimes(name, time.Time{}, time.Now().Add(by)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := names(); got != "first" {
		t.Fatal(got)
	}
	files(t, dir, testcert.Pair{Cert: second.Cert, Key: first.Key})
	age(time.Minute)
	if got := names() + names(); got != "firstfirst" || strings.Count(log.String(), "stays in use") != 1 {
		t.Errorf("%s: %s", got, log.String())
	}
	files(t, dir, second)
	age(2 * time.Minute)
	if got := names(); got != "second" {
		t.Errorf("%s: %s", got, log.String())
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if got := names(); got != "second" {
		t.Errorf("%s: %s", got, log.String())
	}
}
