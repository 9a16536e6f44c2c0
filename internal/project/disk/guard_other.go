//go:build !unix

package disk

// guard does nothing: where folders cannot be locked, two runs at once are the user's to avoid.
func guard(string) (release func()) { return func() {} }
