// Command measure runs a command and prints, as JSON, what it took. It exists because the kernel counts the memory of the
// process that starts another one as the other's own: a small starter keeps the figure of the peak honest.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// result is what a command took: times in nanoseconds, memory in bytes.
type result struct{ Wall, CPU, Peak int64 }

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: measure COMMAND [ARGUMENT…]")
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		log.Fatal(err)
	}
	took := result{Wall: time.Since(began).Nanoseconds()}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	took.CPU = usage.Utime.Nano() + usage.Stime.Nano()
	took.Peak = usage.Maxrss << 10 // kB on Linux
	if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
		log.Fatal(err)
	}
}
