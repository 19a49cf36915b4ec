// The start of the single executable (scripts/package/executable.mjs): of the program, and of each of its threads, which define
// `threadProgram` first (src/base/files/program-files.ts). The name of the executable selects the program: `orchctl`, or
// `orch` for every other name. V8's compiled code is stored in the user's cache directory.
const { homedir } = require('node:os')
const { basename, join } = require('node:path')
const { getAsset } = require('node:sea')
const { runText } = require('./run-bundle.cjs')

/** Files of threads whose code is not in the file of the same name. */
const sameCode = { '../bin/worker.cjs': 'orch.cjs' }
/** Files that are functions already, for bin/launch.cjs. */
const programs = new Set(['orch.cjs', 'orchctl.cjs'])
/** glibc keeps freed memory unless it is told to share arenas between threads and to return large blocks at once. */
const memory = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }

if (typeof threadProgram === 'undefined') runProgram()
else run(sameCode[threadProgram] ?? basename(threadProgram), basename(threadProgram, '.cjs'))

function runProgram() {
  const program = basename(process.argv0) === 'orchctl' ? 'orchctl' : 'orch'
  const command = process.argv[2]
  // The program replaces itself with this to exit without the cleanup of its threads (damaged-memory.ts).
  if (command === '--exit-with') process.exit(Number(process.argv[3]))
  const isServer = program === 'orch' && (command === 'up' || command === 'apiserver')
  if (isServer) returnFreedMemory()
  // A program that is told to stop before it has anything to stop has done so.
  const leave = () => process.exit(0)
  const signals = program === 'orch' ? ['SIGINT', 'SIGTERM'] : []
  for (const signal of signals) process.on(signal, leave)
  run(`${program}.cjs`, isServer ? `orch-${command}` : program)
  for (const signal of signals) process.off(signal, leave)
}

/** glibc reads its settings when a program begins, so the program starts itself once more with them. */
function returnFreedMemory() {
  if (process.env.MALLOC_ARENA_MAX !== undefined) return
  process.execve(process.execPath, [process.argv0, ...process.argv.slice(2)], { ...memory, ...process.env })
}

/** Runs the code in an asset. `user` names its compiled code, because each program uses other functions of the same code. */
function run(asset, user) {
  const cacheFile = join(cacheDirectory(), 'orch', `${user}-${getAsset('build-id', 'utf8')}`)
  const text = getAsset(asset, 'latin1')
  runText(programs.has(asset) ? text : asFunction(text), { file: `/orch/${asset}`, cacheFile })
}

/** Node does this itself with the file of a thread. */
function asFunction(text) {
  return `(function (exports, require, module, __filename) {${text}\n})`
}

function cacheDirectory() {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME
  try {
    return join(homedir(), '.cache')
  } catch {
    // A user without a home directory, as in many containers. Nothing can be created here, so nothing is stored.
    return '/dev/null'
  }
}
