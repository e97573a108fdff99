// Package cronreport sends a report each night, once for each day.
package cronreport

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/robfig/cron/v3"
)

type Sender interface {
	SendReport(ctx context.Context, key, text string) error
}

type Reports struct {
	db     *sql.DB
	sender Sender
}

func (r *Reports) Schedule(c *cron.Cron) error {
	_, err := c.AddFunc("0 3 * * *", func() {
		day := time.Now().UTC().Format("2006-01-02")
		if err := r.run(context.Background(), day); err != nil {
			log.Print(err)
		}
	})
	return err
}

func (r *Reports) run(ctx context.Context, day string) error {
	res, err := r.db.ExecContext(ctx, "INSERT INTO reports (day, status) VALUES ($1, 'begun') ON CONFLICT DO NOTHING", day)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	/*effect[*/if err := r.sender.SendReport(ctx, "report-"+day, fmt.Sprintf("report of %s", day)); err != nil {
		/*release[*/if _, undo := r.db.ExecContext(ctx, "DELETE FROM reports WHERE day = $1", day); undo != nil {
			log.Print(undo)
		}/*]*/
		return err
	}/*]*/
	/*mark[*/if _, err := /*call2[*/r.db.ExecContext(ctx, "UPDATE reports SET status = 'sent' WHERE day = $1", day)/*]*/; err != nil {
		return err
	}/*]*/
	return nil
}
