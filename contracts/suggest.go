package contracts

import (
	"strings"
	"unicode/utf8"
)

// maxSuggest is the longest word, in bytes, for which a suggestion is sought.
const maxSuggest = 64

// Suggest returns the candidate that the word was probably meant to be, or ""
// if none is near. Letter case and underscores weigh nothing; otherwise a
// third of the letters may differ. Of equally near candidates the first wins.
// If none is near, a single candidate that begins with the word is returned.
func Suggest(word string, candidates []string) string {
	if word == "" || len(word) > maxSuggest {
		return ""
	}
	w := fold(word)
	begun := 0
	beginner := ""
	best, bestDistance := "", utf8.RuneCountInString(w)/3+1
	for _, c := range candidates {
		if c == word || c == "" || len(c) > maxSuggest {
			continue
		}
		if d := distance(w, fold(c)); d < bestDistance {
			best, bestDistance = c, d
		}
		if len(w) > 1 && strings.HasPrefix(fold(c), w) {
			beginner, begun = c, begun+1
		}
	}
	if best == "" && begun == 1 {
		return beginner
	}
	return best
}

// DidYouMean is " (did you mean X?)" for the suggestion, or "".
func DidYouMean(word string, candidates []string) string {
	if s := Suggest(word, candidates); s != "" {
		return " (did you mean " + s + "?)"
	}
	return ""
}

func fold(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "_", ""), "-", "")
}

// distance counts insertions, deletions, replacements and swaps of neighbours
// (optimal string alignment).
func distance(s, t string) int {
	a, b := []rune(s), []rune(t)
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
