// Command server is a Temporal server that keeps all in memory and ends with its
// standard input. It says where it is, and which namespace there is.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/temporaltest"
)

func main() {
	server := temporaltest.NewServer()
	for !knows(server) {
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Println(server.GetFrontendHostPort(), server.GetDefaultNamespace())
	_, _ = io.Copy(io.Discard, os.Stdin) // until whoever started it is gone
}

// knows tells whether workflows can be listed, which is so once the namespace has got
// to all parts of the server.
func knows(server *temporaltest.TestServer) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := server.GetDefaultClient().WorkflowService().ListWorkflowExecutions(ctx,
		&workflowservice.ListWorkflowExecutionsRequest{Namespace: server.GetDefaultNamespace()})
	return err == nil
}
