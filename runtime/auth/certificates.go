package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/security"
)

// EnvClientCA is the environment variable that names the PEM file of the authorities whose client certificates are
// accepted.
const EnvClientCA = "A2A_TLS_CLIENT_CA"

// CertificateConfig says which client certificates are accepted.
type CertificateConfig struct {
	CAFile string // of the authorities, in PEM; the environment's A2A_TLS_CLIENT_CA takes its place
	// Proxies are the networks of proxies that end TLS and pass the client's certificate on in the header Client-Cert
	// (RFC 9440): "10.1.2.3", "10.1.0.0/16". They must remove that header from requests. A proxy is never a caller itself.
	Proxies []string
	Callers []CertificateCaller // who may come in; nil: whoever has a certificate of the authorities
}

// CertificateCaller is the holder of a certificate.
type CertificateCaller struct {
	// ID is what the certificate names: "uri:spiffe://example.com/ci", without such a name "dns:ci.example.com", without
	// either "cn:ci", the common name.
	ID      string
	Scopes  []string
	Tenants []string // for which the caller may act; nil: for any
}

// Certificates verifies client certificates. The environment variable of the scheme (A2A_AUTH_ and its name) adds callers:
// "dns:ci.example.com,uri:spiffe://example.com/ci", with rights as for [Keys].
func Certificates(c CertificateConfig) Verifier { return &certificates{config: c} }

type certificates struct {
	config  CertificateConfig
	cas     *x509.CertPool
	proxies []netip.Prefix
	callers map[string]CertificateCaller // nil: whoever has a certificate
	now     func() time.Time

	mu   sync.Mutex
	good map[[sha256.Size]byte]time.Time // until when a certificate need not be looked at again
}

// How long, and how many, valid certificates are cached.
const (
	goodFor  = time.Minute
	mostGood = 1024
)

func (v *certificates) Prepare(s *Setup) error {
	file := cmp.Or(s.Getenv(EnvClientCA), v.config.CAFile)
	if file == "" {
		return errors.New("no authority for client certificates is named: set " + EnvClientCA + " to a file in PEM")
	}
	var err error
	if v.cas, err = ReadAuthorities(file); err != nil {
		return err
	}
	if v.proxies, err = readNetworks(v.config.Proxies); err != nil {
		return err
	}
	v.now, v.good = s.Now, map[[sha256.Size]byte]time.Time{}
	listed, err := fromEnv(s, v.config.Callers, func(h holder) (CertificateCaller, bool) {
		return CertificateCaller{ID: h.name, Scopes: h.scopes, Tenants: h.tenants}, h.secret == ""
	})
	if err != nil || listed == nil {
		return err
	}
	v.callers = map[string]CertificateCaller{}
	for _, c := range listed {
		id := c.ID
		if strings.HasPrefix(id, dnsName) {
			id = strings.ToLower(id)
		}
		if _, twice := v.callers[id]; twice {
			return fmt.Errorf("the certificate of %s is listed twice", c.ID)
		}
		v.callers[id] = c
	}
	return nil
}

// ClientCAs returns the authorities, for the configuration of TLS.
func (v *certificates) ClientCAs() *x509.CertPool { return v.cas }

// ReadAuthorities reads the authorities of client certificates from a PEM file.
func ReadAuthorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the authorities for client certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate in PEM", file)
	}
	return pool, nil
}

func readNetworks(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if addr, failed := netip.ParseAddr(text); failed == nil {
			p, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("the proxy %q is no address and no network", text)
		}
		all = append(all, p)
	}
	return all, nil
}

func (v *certificates) Verify(_ context.Context, c Credential) (Caller, error) {
	chain, err := c.Certificates, error(nil)
	if v.proxied(c.Request) {
		chain, err = readClientCert(c.Request.Header)
	}
	switch {
	case err != nil:
		return Caller{}, err
	case len(chain) == 0:
		return Caller{}, ErrNone
	}
	if err := v.check(chain); err != nil {
		return Caller{}, err
	}
	caller := Caller{ID: nameOf(chain[0]), Expires: chain[0].NotAfter}
	if v.callers != nil {
		known, ok := v.callers[caller.ID]
		if !ok {
			return Caller{}, fmt.Errorf("%w: %.200q is not listed", ErrWrong, caller.ID)
		}
		caller.Scopes, caller.Tenants = known.Scopes, known.Tenants
	}
	return caller, nil
}

// proxied reports whether a request comes from one of the configured proxies.
func (v *certificates) proxied(r *http.Request) bool {
	if len(v.proxies) == 0 {
		return false
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	for _, p := range v.proxies {
		if p.Contains(from.Addr().Unmap()) {
			return true
		}
	}
	return false
}

// readClientCert reads the certificate that a proxy passes on (RFC 9440): base64 between colons.
func readClientCert(h http.Header) ([]*x509.Certificate, error) {
	read := func(item string) (*x509.Certificate, error) {
		item = strings.Trim(item, " \t")
		if len(item) < 2 || item[0] != ':' || item[len(item)-1] != ':' {
			return nil, security.Malformed("Client-Cert is no certificate")
		}
		der, err := base64.StdEncoding.DecodeString(item[1 : len(item)-1])
		if err != nil {
			return nil, security.Malformed("Client-Cert is not encoded as base64")
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, security.Malformed("Client-Cert is no certificate")
		}
		return cert, nil
	}
	own := h["Client-Cert"]
	switch {
	case len(own) == 0:
		return nil, nil
	case len(own) > 1:
		return nil, security.Malformed("there are several Client-Cert headers")
	}
	leaf, err := read(own[0])
	if err != nil {
		return nil, err
	}
	chain := []*x509.Certificate{leaf}
	for _, line := range h["Client-Cert-Chain"] {
		for item := range strings.SplitSeq(line, ",") {
			cert, err := read(item)
			if err != nil {
				return nil, err
			}
			chain = append(chain, cert)
		}
	}
	return chain, nil
}

// check verifies a certificate against the authorities, now and then.
func (v *certificates) check(chain []*x509.Certificate) error {
	leaf, now := chain[0], v.now()
	mark := sha256.Sum256(leaf.Raw)
	v.mu.Lock()
	until, ok := v.good[mark]
	v.mu.Unlock()
	if ok && now.Before(until) {
		return nil
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: v.cas, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrong, err)
	}
	if !forClients(leaf) {
		return fmt.Errorf("%w: the certificate does not say that it is for client authentication", ErrWrong)
	}
	if nameOf(leaf) == "" {
		return fmt.Errorf("%w: the certificate names nobody", ErrWrong)
	}
	until = now.Add(goodFor)
	if leaf.NotAfter.Before(until) {
		until = leaf.NotAfter
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.good) >= mostGood {
		clear(v.good)
	}
	v.good[mark] = until
	return nil
}

// forClients reports whether a certificate is for client authentication, or for any use. One without a usage may be
// that of a server or for mail, although crypto/x509 accepts it for every use.
func forClients(c *x509.Certificate) bool {
	return slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageClientAuth) || slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageAny)
}

// dnsName is the prefix of a DNS name, whose case does not matter.
const dnsName = "dns:"

// nameOf returns the name in a certificate, with its kind as a prefix, because anybody may have any common name.
func nameOf(c *x509.Certificate) string {
	switch {
	case len(c.URIs) > 0:
		return "uri:" + c.URIs[0].String()
	case len(c.DNSNames) > 0:
		return dnsName + strings.ToLower(c.DNSNames[0])
	case c.Subject.CommonName != "":
		return "cn:" + c.Subject.CommonName
	}
	return ""
}
