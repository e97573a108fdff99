package resolve

import (
	"context"
	"encoding/json"
	"fmt"
	"go/build"
	"slices"
	"strings"
)

// buildContext is what decides which files take part. The go command is asked,
// since it also knows what "go env -w" and a toolchain line have set.
func (r *run) buildContext(ctx context.Context) (*build.Context, error) {
	answer := r.options.World.Go(ctx, r.options.Dir, "env", "-json", "GOFLAGS", "GOOS", "GOARCH", "CGO_ENABLED", "GOVERSION")
	if answer.Err != nil {
		return nil, goError("env", answer.Err, answer.Stderr)
	}
	var env struct{ GOFLAGS, GOOS, GOARCH, CGO_ENABLED, GOVERSION string }
	if err := json.Unmarshal(answer.Stdout, &env); err != nil {
		return nil, fmt.Errorf("read the answer of go env: %w", err)
	}
	c := build.Default
	c.OpenFile = r.options.World.Open
	c.GOOS, c.GOARCH, c.CgoEnabled = env.GOOS, env.GOARCH, env.CGO_ENABLED == "1"
	c.ReleaseTags = releaseTags(env.GOVERSION, c.ReleaseTags)
	tags := r.options.Tags
	if tags == "" {
		tags = tagsOf(env.GOFLAGS)
	}
	c.BuildTags = strings.FieldsFunc(tags, func(r rune) bool { return r == ',' || r == ' ' })
	return &c, nil
}

// tagsOf finds the tags in the value of GOFLAGS: flags between white space, in
// quotes of either kind if they hold some themselves. The last one counts.
func tagsOf(flags string) string {
	tags := ""
	for flags = strings.TrimSpace(flags); flags != ""; flags = strings.TrimSpace(flags) {
		flag := flags
		if q := flags[0]; q == '"' || q == '\'' {
			flag, flags, _ = strings.Cut(flags[1:], string(q))
		} else {
			flag = strings.Fields(flags)[0]
			flags = flags[len(flag):]
		}
		if value, ok := strings.CutPrefix("-"+strings.TrimLeft(flag, "-"), "-tags="); ok {
			tags = value
		}
	}
	return tags
}

// releaseTags are go1.1 to the minor version of the go command; those of the
// toolchain that built idemgen if it calls itself otherwise.
func releaseTags(version string, own []string) []string {
	minor := 0
	if n, err := fmt.Sscanf(version, "go1.%d", &minor); n != 1 || err != nil || minor > 1000 {
		return own
	}
	tags := slices.Clone(own[:min(minor, len(own))])
	for i := len(tags) + 1; i <= minor; i++ {
		tags = append(tags, fmt.Sprintf("go1.%d", i))
	}
	return tags
}
