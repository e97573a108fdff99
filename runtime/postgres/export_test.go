package postgres

// WithClock replaces the server's clock by another expression.
func WithClock(expression string) Option {
	return func(o *options) { o.clock = expression }
}
