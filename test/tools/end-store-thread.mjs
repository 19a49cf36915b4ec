/** Imported into a server under test (`NODE_OPTIONS=--import=...`): SIGUSR2 ends the thread of its store. */
process.on('worker', (worker) => process.on('SIGUSR2', () => void worker.terminate()))
