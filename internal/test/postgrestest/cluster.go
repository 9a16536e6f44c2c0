package postgrestest

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options say what kind of a cluster a test needs.
type Options struct {
	Fsync    bool              // what was committed is still there after a power failure; without it, after a crash of the server only
	Settings map[string]string // of postgresql.conf
	Dir      string            // for its data: an empty folder, such as a small file system; "": one that is removed afterwards
}

// Cluster is a PostgreSQL server of a test's own, which can be stopped, killed and copied. One goroutine at a time may do that.
type Cluster struct {
	home     string // with its log and its pid
	data     string
	port     int
	settings map[string]string

	process *os.Process // nil: stopped
	ended   *os.File    // at its end when no process of the server is left
}

// Mode is how a server stops.
type Mode syscall.Signal

// Modes of stopping.
const (
	Smart     = Mode(syscall.SIGTERM) // waits until all clients have gone
	Fast      = Mode(syscall.SIGINT)  // ends their connections, then everything in order
	Immediate = Mode(syscall.SIGQUIT) // ends at once: the next start recovers from the log
)

// patience is how long a server may take for anything, on a busy machine.
const patience = time.Minute

// New starts a cluster, which is stopped when the test ends. The test is skipped where there are no binaries.
func New(t testing.TB, o Options) *Cluster {
	t.Helper()
	needBinaries(t)
	c, err := create(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.remove(t) })
	return c
}

// Standby starts a copy of the cluster that follows it by streaming, asynchronously unless synchronous_standby_names is set.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	s, err := prepare("", c.settings)
	if err == nil {
		err = run(exec.Command(filepath.Join(Binaries(), "pg_basebackup"),
			"-d", c.Address(), "-D", s.data, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"))
	}
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.remove(t) })
	return s
}

// Address is a URL of the cluster's superuser. It stays the same when the cluster is started again.
func (c *Cluster) Address() string {
	return fmt.Sprintf("postgres://a2a:%s@%s/postgres?sslmode=disable", password, c.HostPort())
}

// Password is that of the cluster's superuser, a2a.
func (c *Cluster) Password() string { return password }

// HostPort is where the cluster listens.
func (c *Cluster) HostPort() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// Data is the cluster's data directory.
func (c *Cluster) Data() string { return c.data }

// WriteData puts a file into the data directory, for the server alone to read: a certificate, pg_hba.conf.
func (c *Cluster) WriteData(t testing.TB, name string, text []byte) {
	t.Helper()
	path := filepath.Join(c.data, name)
	if err := errors.Join(os.WriteFile(path, text, 0o600), own(path)); err != nil {
		t.Fatal(err)
	}
}

// Pid is the number of the server's first process, 0 when it is stopped.
func (c *Cluster) Pid() int {
	if c.process == nil {
		return 0
	}
	return c.process.Pid
}

// Log is what the server has logged so far.
func (c *Cluster) Log() string {
	text, _ := os.ReadFile(filepath.Join(c.home, "log"))
	return string(text)
}

// Restart stops the server and starts it again, on the same port.
func (c *Cluster) Restart(m Mode) error {
	if err := c.Stop(m); err != nil {
		return err
	}
	return c.Start()
}

// Kill ends the server's first process by SIGKILL, and waits until the others have noticed.
func (c *Cluster) Kill() error { return c.end(os.Kill) }

// Stop ends the server. One that is stopped stays so.
func (c *Cluster) Stop(m Mode) error { return c.end(syscall.Signal(m)) }

func (c *Cluster) end(sig os.Signal) error {
	if c.process == nil {
		return nil
	}
	if err := c.process.Signal(sig); err != nil {
		return fmt.Errorf("stopping PostgreSQL: %w", err)
	}
	c.ended.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.ended.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("PostgreSQL did not stop: %w", err)
	}
	c.process.Wait() // how it ended does not matter
	c.ended.Close()
	c.process = nil
	return os.Remove(c.pidFile())
}

// Promote makes a standby a server that can be written, and waits until it is.
func (c *Cluster) Promote() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.Address())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var done bool
	err = conn.QueryRow(ctx, "SELECT pg_promote(true, $1)", int(patience.Seconds())).Scan(&done)
	if err == nil && !done {
		err = errors.New("PostgreSQL was not promoted in time")
	}
	return err
}

// errPortTaken: another process listens on the server's port, or a connection of one has it at its end.
var errPortTaken = errors.New("the port of PostgreSQL is taken")

// Start starts a stopped server, and waits until it takes connections. A port that was taken meanwhile is waited for.
func (c *Cluster) Start() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if err := c.start(); !errors.Is(err, errPortTaken) || time.Now().After(deadline) {
			return err
		}
	}
}

// begin starts a server for the first time: where its port was taken meanwhile, on another one.
func (c *Cluster) begin() error {
	err := c.start()
	for range 4 {
		if !errors.Is(err, errPortTaken) {
			break
		}
		if c.port, err = freePort(); err != nil {
			break
		}
		err = c.start()
	}
	return err
}

func (c *Cluster) start() error {
	if c.process != nil {
		return errors.New("PostgreSQL has been started")
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	log, err := os.OpenFile(filepath.Join(c.home, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	old := len(c.Log())
	cmd := exec.Command(filepath.Join(Binaries(), "postgres"), "-D", c.data, "-p", strconv.Itoa(c.port), "-h", "127.0.0.1",
		"-c", "unix_socket_directories=")
	for name, value := range c.settings {
		cmd.Args = append(cmd.Args, "-c", name+"="+value)
	}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{w}
	asOwner(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	c.process, c.ended = cmd.Process, r
	if err := os.WriteFile(c.pidFile(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
		return err
	}
	w.Close() // only the server has it now
	return c.awaitReady(old)
}

// awaitReady waits for the line of the server's pid file that says "ready", or "standby". What was logged before this
// start is the first old bytes of the log.
func (c *Cluster) awaitReady(old int) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		text, _ := os.ReadFile(filepath.Join(c.data, "postmaster.pid"))
		if lines := strings.Split(string(text), "\n"); len(lines) > 7 && lines[0] == strconv.Itoa(c.process.Pid) {
			if state := strings.TrimSpace(lines[7]); state == "ready" || state == "standby" {
				return nil
			}
		}
		c.ended.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		if _, err := c.ended.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			text := c.Log()[old:]
			err := errors.New("PostgreSQL did not start:\n" + text)
			if strings.Contains(text, "could not bind") {
				err = fmt.Errorf("%w:\n%s", errPortTaken, text)
			}
			return errors.Join(c.end(os.Kill), err)
		}
	}
	return errors.Join(c.end(os.Kill), errors.New("PostgreSQL was not ready in time:\n"+c.Log()))
}

func (c *Cluster) pidFile() string { return filepath.Join(c.home, "pid") }

func (c *Cluster) remove(t testing.TB) {
	err := c.Stop(Immediate)
	if t.Failed() {
		lines := strings.Split(c.Log(), "\n")
		t.Logf("the last lines of PostgreSQL's log:\n%s", strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
	if err := errors.Join(err, os.RemoveAll(c.home)); err != nil {
		t.Error(err)
	}
}

// create starts a cluster on a copy of the template.
func create(o Options) (*Cluster, error) {
	settings := map[string]string{"max_connections": "200", "shared_buffers": "32MB", "jit": "off", "wal_retrieve_retry_interval": "100ms"}
	if !o.Fsync {
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	for name, value := range o.Settings {
		settings[name] = value
	}
	from, err := template()
	if err != nil {
		return nil, err
	}
	c, err := prepare(o.Dir, settings)
	if err != nil {
		return nil, err
	}
	if err := run(exec.Command("cp", "-R", "-p", from+"/.", c.data)); err != nil {
		return nil, err
	}
	return c, c.begin()
}

var clusters atomic.Int64

// prepare returns a cluster with an empty data directory.
func prepare(data string, settings map[string]string) (*Cluster, error) {
	all, err := folder()
	if err != nil {
		return nil, err
	}
	c := &Cluster{home: filepath.Join(all, strconv.FormatInt(clusters.Add(1), 10)), data: data, settings: settings}
	if c.data == "" {
		c.data = filepath.Join(c.home, "data")
	}
	for _, dir := range []string{c.home, c.data} {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700), own(dir)); err != nil {
			return nil, err
		}
	}
	c.port, err = freePort()
	return c, err
}

// template is the data directory that all clusters of this test binary begin with.
var template = sync.OnceValues(func() (string, error) {
	all, err := folder()
	if err != nil {
		return "", err
	}
	verifier, err := scramVerifier(password)
	if err != nil {
		return "", err
	}
	secret, dir := filepath.Join(all, "password"), filepath.Join(all, "template")
	if err := errors.Join(os.WriteFile(secret, []byte(verifier), 0o600), own(secret)); err != nil {
		return "", err
	}
	args := []string{"-D", dir, "-U", "a2a", "--pwfile", secret, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"}
	err = run(exec.Command(filepath.Join(Binaries(), "initdb"), args...))
	return dir, err
})

// scramVerifier is what a server keeps of a password, made with one iteration: a random password needs no more, and each
// connection of a test would take some milliseconds for 4,096.
func scramVerifier(password string) (string, error) {
	const iterations = 1
	salt := []byte(rand.Text())
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	mac := func(text string) []byte {
		h := hmac.New(sha256.New, salted)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	stored := sha256.Sum256(mac("Client Key"))
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, text(salt), text(stored[:]), text(mac("Server Key"))), nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// run runs a program as the owner of the data.
func run(cmd *exec.Cmd) error {
	asOwner(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}
