package postgres

// statements are the texts as they are sent: with the names of the ledger's schema.
type statements struct {
	claim, read, extend              string
	nextAttempt                      string
	effects                          string
	nameAlone, nameShared            string
	standings, recordAlias           string
	dropAliases, forgetAliases, free string
	children                         string
	forgetEffects, forgetAttempts    string
	forgetWork                       string
	lockFence, writeEffect           string
	end, renew                       string
	newer, enterSeries               string
	lockSeries, raise                string
	watch, succeed                   string
	claimMessage, message            string
	moveMessage, dropMessage         string
	register, registered             string
	setKeyCheck, keyCheck            string

	// of a purge
	expired, lockExpired                   string
	lockFamily, existing, family           string
	namesOf, marksOf, tryLocks             string
	purgeEffects, purgeAttempts, purgeWork string
	purgeAliases, purgeMarks, purgeKinds   string
	purgeMessages, places, purgePlaces     string

	amend amendStatements
}

func newStatements(o *options) statements {
	s := statements{amend: newAmendStatements(o)}
	for _, p := range []struct {
		to   *string
		text string
	}{
		{&s.claim, claimSQL},
		{&s.read, readSQL},
		{&s.extend, extendSQL},
		{&s.nextAttempt, nextAttemptSQL},
		{&s.effects, effectsSQL},
		{&s.nameAlone, nameAloneSQL},
		{&s.nameShared, nameSharedSQL},
		{&s.standings, standingsSQL},
		{&s.recordAlias, recordAliasSQL},
		{&s.dropAliases, dropAliasesSQL},
		{&s.forgetAliases, forgetAliasesSQL},
		{&s.free, freeSQL},
		{&s.children, childrenSQL},
		{&s.forgetEffects, forgetEffectsSQL},
		{&s.forgetAttempts, forgetAttemptsSQL},
		{&s.forgetWork, forgetWorkSQL},
		{&s.lockFence, lockFenceSQL},
		{&s.writeEffect, writeEffectSQL},
		{&s.end, endSQL},
		{&s.renew, renewSQL},
		{&s.newer, newerSQL},
		{&s.enterSeries, enterSeriesSQL},
		{&s.lockSeries, lockSeriesSQL},
		{&s.raise, raiseSQL},
		{&s.watch, watchSQL},
		{&s.succeed, succeedSQL},
		{&s.claimMessage, claimMessageSQL},
		{&s.message, messageSQL},
		{&s.moveMessage, moveMessageSQL},
		{&s.dropMessage, dropMessageSQL},
		{&s.register, registerSQL},
		{&s.registered, registeredSQL},
		{&s.setKeyCheck, setKeyCheckSQL},
		{&s.keyCheck, keyCheckSQL},
		{&s.expired, expiredSQL},
		{&s.lockExpired, lockExpiredSQL},
		{&s.lockFamily, lockFamilySQL},
		{&s.existing, existingSQL},
		{&s.family, familySQL},
		{&s.namesOf, namesOfSQL},
		{&s.marksOf, marksOfSQL},
		{&s.tryLocks, tryLocksSQL},
		{&s.purgeEffects, purgeEffectsSQL},
		{&s.purgeAttempts, purgeAttemptsSQL},
		{&s.purgeWork, purgeWorkSQL},
		{&s.purgeAliases, purgeAliasesSQL},
		{&s.purgeMarks, purgeMarksSQL},
		{&s.purgeKinds, purgeKindsSQL},
		{&s.purgeMessages, purgeMessagesSQL},
		{&s.places, placesSQL},
		{&s.purgePlaces, purgePlacesSQL},
	} {
		*p.to = o.sql(p.text)
	}
	return s
}
