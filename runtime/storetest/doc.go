// Package storetest is what every [idem.Store] has to pass.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, clock func() time.Time) idem.Store[*sql.Tx] { … })
//	}
//
// It knows a store by its interface alone. Most tests are named after a failure
// that other systems had in public; model.go compares long random histories with
// a model that a page holds.
package storetest
