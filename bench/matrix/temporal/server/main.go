// Command server is a Temporal server that keeps all in memory and ends with its
// standard input. It says where it is, and which namespace there is.
package main

import (
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/temporaltest"
)

func main() {
	server := temporaltest.NewServer()
	fmt.Println(server.GetFrontendHostPort(), server.GetDefaultNamespace())
	_, _ = io.Copy(io.Discard, os.Stdin) // until whoever started it is gone
}
