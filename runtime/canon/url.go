package canon

// URL is being written.
func URL(s string, dropParams ...string) (string, error) { return s, ErrNotURL }
