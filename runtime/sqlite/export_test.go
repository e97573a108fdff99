package sqlite

// RenewSQL lets a test look at its plan.
const RenewSQL = renewSQL
