//go:build !unix

package disk

// Guard does nothing: where folders cannot be locked, two runs at once are the user's to avoid.
func Guard(string) (release func()) { return func() {} }
