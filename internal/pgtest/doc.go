// Package pgtest gives tests a PostgreSQL server: the one that IDEM_TEST_POSTGRES_URL
// leads to, or a throw-away one that it starts from what is installed.
//
//	var server = pgtest.New()
//
//	func TestMain(m *testing.M) { os.Exit(server.Main(m)) }
//
//	func TestIt(t *testing.T) { url := server.URL(t) … }
//
// Without either, tests skip and say so; with IDEM_REQUIRE_POSTGRES=1 they fail
// instead, so that a machine that is to run them cannot pass without. So it is with
// PgBouncer, and IDEM_REQUIRE_PGBOUNCER, for those which ask for [Server.Pooler].
package pgtest
