//go:build !windows && (!unix || solaris || aix)

package oauth

import "os"

// tryLock does nothing: where files cannot be locked, two processes that refresh one token at once are the user's to avoid.
func tryLock(*os.File) (bool, error) { return true, nil }
