package cycle

type order struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount"`
}

type receipt struct {
	Ref string `json:"ref"`
}
