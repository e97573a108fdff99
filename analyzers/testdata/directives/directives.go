package directives

/* want "//idem:effect: want class=money, message, queue, third-party, state or internal; got \"cash\"" */ //idem:effect class=cash
func a()                                                                                                   {}

/* want "//idem:pure takes no arguments; got why" */ //idem:pure why=x
func b()                                             {}

/* want "//idem:key: want param=NAME with the name of a parameter of c .id, text.; got \"ref\"" */ //idem:key param=ref
func c(id, text string)                                                                            {}

func d() {
	/* want "//idem:effect says nothing here" */ //idem:effect class=money
	a()
}

/* want "no directive //idem:effects; known are" */ //idem:effects class=money

type e struct {
	/* want "//idem:effect says nothing of a field; key and volatile do" */ //idem:effect class=money
	f                                                                       string
	/* want "//idem:volatile: want kind=" */ //idem:volatile kind=odd
	g                                        string
}

/* want "directive //idem:key: argument param: the quoted value has no end" */ //idem:key param="x
func h(x string)                                                               {}

/* want "//idem:effect takes class and repeat; got klass" */ //idem:effect klass=money
func i()                                                     {}

/* want "//idem:effect: want repeat=safe or no repeat at all; got \"never\"" */ //idem:effect class=money repeat=never
func j()                                                                        {}

func k() {
	/* want "an ignore names a rule and a reason" */ //idemlint:ignore
	a()
	/* want "no rule nosuch to ignore; the rules are randomkey" */ //idemlint:ignore nosuch because
	a()
	//idemlint:ignore randomkey because
	a()
	//nolint:nosuch
	a()
}

var _ = []any{d, e{}, k, b, c, h, i, j}
