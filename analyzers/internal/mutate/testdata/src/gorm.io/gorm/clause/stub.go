// Package clause stands for the library.
package clause

type OnConflict struct{ DoNothing bool }
