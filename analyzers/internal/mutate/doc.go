// Package mutate measures how many mistakes the rules find. Its tests hold a corpus
// of handlers that are right, in testdata/src/handlers, against the rules: none is
// reported. Then a program makes one mistake at a time in them, of the kinds that
// the rules are there for, and counts how many the rules find in the right line.
//
// The handlers mark with comments what the program may change:
//
//	/*key[*/ "order-" + o.ID /*]*/
//
// is an expression that becomes a key; what each mark means stands beside the
// operator that uses it. A mark may hold what takes the place of its text,
// /*name:other text[*/. Libraries are stubs under testdata/src: the names and types
// that the rules go by, without their insides.
package mutate
