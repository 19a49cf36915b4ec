// A worker of the server, which is the program `orch` in a thread of its own: its bundle, with compiled code of its own.
const { join } = require('node:path')
const { runBundle } = require('./run-bundle.cjs')

const dist = join(__dirname, '..', 'dist')
runBundle(join(dist, 'orch.cjs'), { cacheFile: join(dist, 'compiled', 'orch-worker') })
