// Package canon writes values in the one canonical form from which work IDs,
// effect keys and payload hashes are derived, so that a program in another
// language can derive the same ones with SHA-256 and an RFC 8785 (JSON
// Canonicalization Scheme) library.
//
// Generated derivations call the Append functions: each grows dst by exactly
// one canonical JSON value, or returns dst with its length unchanged and an
// error. There is no reflection in them, and none of them lets dst escape
// except those that take a function (AppendSlice, AppendMap, AppendIntMap), so
// a derivation of fixed shape stays on the stack.
//
// # Strings
//
// A string is trimmed and brought to NFC, because a retyped or re-encoded value
// is the same value. With normalisers the order is:
//
//  1. [Clean]: UTF-8 checked, trimmed, NFC;
//  2. the listed normalisers, in the order of the contract;
//  3. [AppendString] or [AppendText], which trim and bring to NFC once more,
//     since a normaliser may have uncovered white space or a composable pair.
//
// A field marked exact skips 1 and ends in [AppendStringExact] or
// [AppendTextExact], which only check that it is UTF-8.
//
// White space is a fixed list (see [Trim]), not unicode.IsSpace: languages
// disagree on three of its members.
//
// # One field as the whole key
//
// The key of a single field is text without quotes. For strings that is
// [AppendText]; for any other type append the value, ask [Empty], then
// [Unquote].
//
// # JSON that has no Go type
//
// [AppendJSON] and [AppendAny] apply the same rules at run time. Their strings
// are trimmed and in NFC as those of typed fields are; the Exact variants are
// for fields marked exact.
//
// Names of members are never trimmed and always in NFC, but for code points that
// NFC has no composed form of (U+FB33, U+212B): a published vector keeps those.
// Names that meet in full NFC are an error.
//
// # Stability
//
// What this package writes is hashed into keys that live for years. The text of
// numbers, times and URLs depends on nothing outside it. NFC, [Lower] and the
// IDNA step of [URL] use Unicode tables that come with Go and x/text: a newer
// version of Unicode can change the result only for text that holds code
// points unassigned before. Tests pin the tables.
//
// All functions are safe for concurrent use; the package has no state.
package canon
