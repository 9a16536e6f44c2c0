package growth

import (
	"syscall"
	"time"
	"unsafe"
)

// threadClock is CLOCK_THREAD_CPUTIME_ID, which package syscall does not name.
const threadClock = 3

// processorTime is what the calling thread has used of its processor.
func processorTime() time.Duration {
	var used syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&used)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(used.Nano())
}
