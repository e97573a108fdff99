package audit

import (
	"encoding/json"
	"fmt"
	"io"
)

// Formats are the names of the forms that a report can take.
func Formats() []string { return []string{"text", "markdown", "json", "html"} }

// Write writes a report in one of the formats; width is of lines of text.
func Write(w io.Writer, r *Report, format string, width int) error {
	switch format {
	case "text":
		return Text(w, r, width)
	case "markdown":
		return Markdown(w, r)
	case "json":
		return JSON(w, r)
	case "html":
		return HTML(w, r)
	}
	return fmt.Errorf("no format %q", format)
}

// JSON writes the report as it is, for programs.
func JSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
