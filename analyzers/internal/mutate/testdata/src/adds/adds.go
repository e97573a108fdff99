// Package adds imports whatever a mutation may need.
package adds

import (
	_ "crypto/rand"
	_ "encoding/hex"
	_ "fmt"
	_ "log"
	_ "math/rand"
	_ "os"
	_ "strconv"
	_ "strings"
	_ "sync"
	_ "time"

	_ "github.com/google/uuid"
	_ "github.com/hashicorp/golang-lru/v2"
	_ "github.com/oklog/ulid/v2"
	_ "github.com/patrickmn/go-cache"
	_ "github.com/rs/xid"
)
