// Starts a thread of the server from its bundle in dist/, whose file name is the only argument
// (src/base/files/program-files.ts). Each kind of thread has a cache of compiled code.
const { basename, join } = require('node:path')
const { runBundle } = require('./run-bundle.cjs')

const [, , bundle] = process.argv
const dist = join(__dirname, '..', 'dist')
runBundle(join(dist, bundle), { cacheFile: join(dist, 'compiled', `thread-${basename(bundle, '.cjs')}`) })
