package auth_test

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
)

// rounds is the hash of a password with as many rounds.
func rounds(t *testing.T, password string, n int) string {
	t.Helper()
	sum, err := pbkdf2.Key(sha256.New, password, []byte("some salt"), n, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("pbkdf2-sha256$%d$%s$%s", n, b64([]byte("some salt")), b64(sum))
}

func say(user, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// TestNobodySeesWhichUsersThereAre: neither by what is answered nor by how long it takes, whatever their hashes cost.
func TestNobodySeesWhichUsersThereAre(t *testing.T) {
	g := guardOf(t, basicCard, auth.Verifiers{"b": auth.Passwords(
		auth.Password{User: "ada", Hash: rounds(t, "ada's", 100_000)}, auth.Password{User: "bob", Hash: rounds(t, "bob's", 250_000)},
	)})
	var cost atomic.Int64
	auth.WatchHashes(t, func(rounds int) { cost.Add(int64(rounds)) })
	told := map[string]string{}
	for _, c := range []string{"ada:wrong", "bob:wrong", "eve:wrong", "bob:ada's", "ada:ada's"} {
		user, password, _ := strings.Cut(c, ":")
		cost.Store(0)
		_, denial := g.Check(request(say(user, password)))
		if n := cost.Load(); n != 250_000 {
			t.Errorf("%s: %d rounds", c, n)
		}
		if denial != nil {
			told[fmt.Sprint(denial.Status, denial.Challenges, denial.Told(), denial.RetryAfter)] = c
		} else if c != "ada:ada's" {
			t.Errorf("%s comes in", c)
		}
	}
	if len(told) != 1 {
		t.Errorf("they are told different things: %v", told)
	}
}

// TestManyWhoGuess do not keep out who is known, and are told to come back before they have waited for long.
func TestManyWhoGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guardOf(t, basicCard, auth.Verifiers{"b": auth.Passwords(auth.Password{User: "ada", Hash: rounds(t, "ada's", 100_000)})})
		auth.WatchHashes(t, func(int) { time.Sleep(200 * time.Millisecond) })
		if got := whoIs(g, request(say("ada", "ada's"))); got != "b|ada" {
			t.Fatal(got)
		}
		var all sync.WaitGroup
		var busy atomic.Int64
		for range 300 {
			all.Go(func() {
				began := time.Now()
				got := whoIs(g, request(say("ada", "guess")))
				if took := time.Since(began); took > 6*time.Second || got != "401" && got != "503" {
					t.Errorf("%s after %v", got, took)
				}
				if got == "503" {
					busy.Add(1)
				}
			})
		}
		for range 10 {
			time.Sleep(30 * time.Second) // longer in all than a password is known that nobody uses
			began := time.Now()
			if got := whoIs(g, request(say("ada", "ada's"))); got != "b|ada" || time.Since(began) > 0 {
				t.Errorf("who is known gets %s after %v", got, time.Since(began))
			}
		}
		all.Wait()
		if busy.Load() == 0 {
			t.Error("nobody is told to come back")
		}
		time.Sleep(2 * time.Minute)
		if began := time.Now(); whoIs(g, request(say("ada", "ada's"))) != "b|ada" || time.Since(began) == 0 {
			t.Error("a password is known for ever")
		}
	})
}
