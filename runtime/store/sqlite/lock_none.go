//go:build !unix && !windows

package sqlite

import "os"

// There are no locks of files.

func lockOpen(*os.File) error { return nil }

func names(*os.File) int { return 1 }
