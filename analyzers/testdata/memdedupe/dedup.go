package inbox

// Deduplicator has callers that are not seen.
type Deduplicator struct{ keys map[string]struct{} }

// IsUnique tells whether a key is new.
func (d *Deduplicator) IsUnique(key string) bool {
	_, ok := d.keys[key] // want `a restart or a second instance forgets what was done, and does it again: Deduplicator.IsUnique → d.keys`
	d.keys[key] = struct{}{}
	return !ok
}
