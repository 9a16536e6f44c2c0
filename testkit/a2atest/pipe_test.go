package a2atest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func pipes() (a, b *pipe) {
	x, y := newPipe(address("a"), address("b"))
	return x.(*pipe), y.(*pipe)
}

func TestWhatIsWrittenIsReadToItsEnd(t *testing.T) {
	a, b := pipes()
	if n, err := a.Write([]byte("hello")); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(b); string(got) != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after CloseWrite: %v", err)
	}
	if _, err := b.Write([]byte("back")); err != nil {
		t.Errorf("the other direction: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(a); string(got) != "back" || err != nil {
		t.Errorf("what came before the end: %q, %v", got, err)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read after Close: %v", err)
	}
	if a.LocalAddr().String() != "a" || a.RemoteAddr().String() != "b" || b.RemoteAddr().Network() != "memory" {
		t.Errorf("%v, %v", a.LocalAddr(), a.RemoteAddr())
	}
}

func TestAWriterWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipes()
		sent := bytes.Repeat([]byte("0123456789"), maxBuffered/4)
		done := make(chan error, 1)
		go func() {
			_, err := a.Write(sent)
			done <- errors.Join(err, a.Close())
		}()
		synctest.Wait()
		if n := len(b.in.data); n != maxBuffered {
			t.Errorf("%d bytes are buffered", n)
		}
		if got, err := io.ReadAll(b); !bytes.Equal(got, sent) || err != nil || <-done != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

func TestAWriterWithoutAReaderEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipes()
		done := make(chan error, 1)
		go func() {
			_, err := a.Write(make([]byte, maxBuffered+1))
			done <- err
		}()
		synctest.Wait()
		_ = b.Close()
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%v", err)
		}
	})
}

func TestDeadlinesEndWhatWaitsAndAreMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := pipes()
		began := time.Now()
		took := func(what string, want time.Duration, err error) {
			t.Helper()
			if got := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || got != want {
				t.Errorf("%s: %v after %v", what, err, got)
			}
			began = time.Now()
		}
		_ = a.SetReadDeadline(began.Add(time.Hour))
		_ = a.SetReadDeadline(began.Add(time.Minute))
		_, err := a.Read(make([]byte, 1))
		took("a read", time.Minute, err)

		go func() { time.Sleep(time.Second); _ = a.SetReadDeadline(time.Unix(1, 0)) }()
		_ = a.SetReadDeadline(time.Time{})
		_, err = a.Read(make([]byte, 1))
		took("a read that is ended by another goroutine", time.Second, err)

		_ = a.SetDeadline(began.Add(time.Second))
		n, err := a.Write(make([]byte, maxBuffered+1))
		took("a write", time.Second, err)
		if n != maxBuffered {
			t.Errorf("%d bytes", n)
		}
		_ = a.SetDeadline(time.Now().Add(time.Hour))
		_ = a.Close() // no timer is left
		if _, err := a.Read(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}
