package a2amore

// a2agen emits this package for the drafts of versions to come and for 1.0, with made-up operations (internal/regen/own), as a
// definition of a user's own may have them. Only tests import it.
