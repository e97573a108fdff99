// Lint measures what idemlint costs beside go vet, staticcheck and temporal's
// workflowcheck, each over the same module:
//
//	go run ./lint                                          a small module that it writes itself
//	go run ./lint -module DIR                              a copy of a folder
//	go run ./lint -module go.temporal.io/server@v1.31.0    a module of the proxy
//	go run ./lint -gopls FILE …                            and an edit in that gopls
//
// The build cache is warm and what vet remembers is cold: each run has a copy of
// the tool that differs in bytes which mean nothing, so that the go command takes it
// for another one. The tools take turns; a ratio is that of medians. CPU time is
// that of all processes of a run; memory the highest sum of what they held at once,
// looked at every 20 ms.
package main
