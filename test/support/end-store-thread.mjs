/**
 * Imported into a server under test (`NODE_OPTIONS=--import=...`). On SIGWINCH, ends the thread of the server's store.
 */
process.on('worker', (worker) => process.on('SIGWINCH', () => void worker.terminate()))
