/** Imported into a server under test (`NODE_OPTIONS=--import=...`). SIGWINCH ends the thread of its store. */
process.on('worker', (worker) => process.on('SIGWINCH', () => void worker.terminate()))
