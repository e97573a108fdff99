package postgres

// InSchema is a script with the schema that the options say.
func InSchema(script string, opts ...Option) (string, error) {
	o, err := newOptions(opts)
	if err != nil {
		return "", err
	}
	return o.sql(script), nil
}

// Purging is a statement of a purge for an EXPLAIN, with values in the place of its
// parameters.
type Purging struct {
	Text string
	Args []any
}

// Purging lists the statements of a purge.
func (s *Store) Purging(ids []string) []Purging {
	return []Purging{
		{s.stmts.expired, []any{1000}},
		{s.stmts.lockExpired, []any{ids}},
		{s.stmts.lockFamily, []any{ids}},
		{s.stmts.existing, []any{ids}},
		{s.stmts.family, []any{ids}},
		{s.stmts.namesOf, []any{ids}},
		{s.stmts.marksOf, []any{ids}},
		{s.stmts.purgeEffects, []any{ids}},
		{s.stmts.purgeAttempts, []any{ids}},
		{s.stmts.purgeWork, []any{ids}},
		{s.stmts.purgeAliases, []any{ids}},
		{s.stmts.purgeMarks, []any{ids}},
		{s.stmts.purgeKinds, []any{ids, ids}},
		{s.stmts.purgeMessages, []any{100}},
		{s.stmts.places, []any{100}},
		{s.stmts.purgePlaces, []any{ids}},
	}
}
