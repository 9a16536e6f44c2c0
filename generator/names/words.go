package names

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxText is how much of a text is looked at, in bytes; the rest only enters the hash of a capped name.
const maxText = 1024

// words splits s into runs of letters and digits at everything else and at camel-case boundaries, and reports
// whether s has no lower-case letter. "userURLs2 x-y" gives user, URLs2, x, y.
func words(s string) (ws []string, screaming bool) {
	if len(s) > maxText {
		s = s[:maxText]
	}
	// Compatibility composition makes one name of "é" written either way and of full-width letters.
	rs := []rune(norm.NFKC.String(strings.ToValidUTF8(s, " ")))
	screaming = true
	start := -1
	flush := func(end int) {
		if start >= 0 {
			ws = append(ws, string(rs[start:end]))
		}
		start = -1
	}
	for i, r := range rs {
		if unicode.IsLower(r) {
			screaming = false
		}
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			continue
		case start >= 0 && boundary(rs, i):
			flush(i)
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(rs))
	return ws, screaming
}

// boundary reports whether a camel-case word begins at rs[i], which follows a letter or digit.
func boundary(rs []rune, i int) bool {
	if !unicode.IsUpper(rs[i]) {
		return false
	}
	if unicode.IsLower(rs[i-1]) {
		return true
	}
	if i+1 == len(rs) || !unicode.IsLower(rs[i+1]) {
		return false
	}
	plural := rs[i+1] == 's' && (i+2 == len(rs) || !unicode.IsLower(rs[i+2]))
	return !plural
}

// initialisms are the words that Go writes in a spelling of their own, by their lower-case form.
var initialisms = spell(
	"A2A", "ACL", "AI", "API", "ASCII", "AWS", "CORS", "CPU", "CSS", "CSV", "DB", "DNS", "EOF", "GID", "GPS", "GRPC", "GUID", "HMAC", "HTML", "HTTP", "HTTPS",
	"ID", "IO", "IOS", "IP", "JKU", "JSON", "JWK", "JWKS", "JWS", "JWT", "KID", "LLM", "LHS", "MCP", "MIME", "MTLS", "OAuth", "OAuth2", "OIDC", "OK", "OS", "PDF", "PKCE",
	"QPS", "RAM", "REST", "RHS", "RPC", "SDK", "SLA", "SMTP", "SQL", "SSE", "SSH", "SVG", "TCP", "TLS", "TTL", "UDP", "UI", "UID", "URI", "URL", "URN", "UTC", "UTF8",
	"UUID", "VM", "XML", "XSS", "YAML",
)

// codes are the words that text without lower case spells as they are; elsewhere they may be others: "us", "pin".
var codes = spell(
	"AMER", "ANZ", "APAC", "APJ", "ASEAN", "B2B", "B2C", "BIC", "BRICS", "CET", "CHF", "CIF", "CNY", "CRM", "DACH", "EAN", "EMEA", "ERP", "EU", "EUR", "FAQ", "FOB", "GBP", "GDP",
	"GDPR", "GMT", "HR", "IBAN", "INR", "ISBN", "ISO", "JPY", "KPI", "KYC", "LATAM", "LED", "MENA", "NATO", "NFC", "OECD", "PIN", "PNG", "POS", "RFID", "ROI", "SEO", "SEPA", "SKU",
	"SLO", "SMS", "SWIFT", "UAE", "UK", "UN", "UPC", "US", "USA", "USB", "USD", "USSD", "VAT", "VIN", "VIP", "VPN",
)

func spell(spellings ...string) map[string]string {
	m := make(map[string]string, len(spellings))
	for _, s := range spellings {
		m[strings.ToLower(s)] = s
	}
	return m
}

// predeclared are the identifiers of Go's universe block, and the two that mean something in a package block.
var predeclared = []string{
	"any", "append", "bool", "byte", "cap", "clear", "close", "comparable", "complex", "complex128", "complex64", "copy",
	"delete", "error", "false", "float32", "float64", "imag", "int", "int16", "int32", "int64", "int8", "iota", "len", "make",
	"max", "min", "new", "nil", "panic", "print", "println", "real", "recover", "rune", "string", "true", "uint", "uint16",
	"uint32", "uint64", "uint8", "uintptr", "init", "main",
}
