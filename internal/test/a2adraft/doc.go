package a2adraft

// a2agen emits this package for the drafts of versions to come, beside those that a new agent speaks. Only tests import it.
