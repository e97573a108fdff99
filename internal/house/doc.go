// Package house holds the test that keeps the module's rooms in order: who may
// import whom, and what a user's module pulls in.
package house
