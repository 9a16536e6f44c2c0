package spec

import (
	"bytes"
	"regexp"
)

// The compiler knows edition 2023. What 2024 has besides is about names and who sees them, and has no effect on any wire: it is
// blanked out, so that places stay where they are.
var (
	edition2024 = regexp.MustCompile(`(?m)^[ \t]*edition[ \t]*=[ \t]*["']2024["'][ \t]*;`)
	of2024      = []*regexp.Regexp{
		regexp.MustCompile(`(?m)^[ \t]*(export|local)[ \t]+(?:message|enum)\b`),
		regexp.MustCompile(`(?m)^[ \t]*import[ \t]+(option)[ \t]+["']`),
		regexp.MustCompile(`(?m)^[ \t]*(option[ \t]+features\.(?:enforce_naming_style|default_symbol_visibility)[ \t]*=[ \t]*\w+[ \t]*;)`),
	}
)

// withoutEdition2024 returns a proto source of edition 2024 as one of 2023; any other as it is.
func withoutEdition2024(src []byte) []byte {
	head := edition2024.FindIndex(src)
	if head == nil {
		return src
	}
	src = bytes.Clone(src)
	copy(src[head[0]:head[1]], bytes.Replace(src[head[0]:head[1]], []byte("2024"), []byte("2023"), 1))
	for _, word := range of2024 {
		for _, at := range word.FindAllSubmatchIndex(src, -1) {
			for i := at[2]; i < at[3]; i++ {
				src[i] = ' '
			}
		}
	}
	return src
}
