package sqlite

// setLock is F_OFD_SETLK: the lock is the open file's. One of the process would go with whatever else of the process
// closes the file.
const setLock = 37
