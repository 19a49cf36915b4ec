// Starts a worker thread of the server. The thread runs the bundle of `orch` with a separate cache of compiled code.
const { join } = require('node:path')
const { runBundle } = require('./run-bundle.cjs')

const dist = join(__dirname, '..', 'dist')
runBundle(join(dist, 'orch.cjs'), { cacheFile: join(dist, 'compiled', 'orch-worker') })
