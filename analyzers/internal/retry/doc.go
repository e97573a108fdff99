// Package retry finds code that does something again when it has failed: loops that
// end on success and go round on error, calls of retry helpers, and round trippers
// that send a request again.
//
// It goes by syntax and types. A loop counts only if following the statements after
// the call, once for no error and once for an error, shows that success can leave
// the loop and failure can go round it; so a loop over items or messages, in which
// success goes on to the next one, is none.
package retry
