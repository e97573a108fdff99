// Package report is what idemlint does with findings: it prints them as text, JSON,
// workflow commands and SARIF, leaves out those that a baseline holds or that are on
// lines which have not changed, and applies their fixes.
package report
