// The entry point of the single executable (scripts/package/executable.mjs) and of each of its threads. A thread
// defines `threadProgram` before it runs this file (src/base/files/program-files.ts). The name of the executable
// selects the program: `orchctl`, or `orch` for every other name. V8's compiled code is stored in the user's cache
// directory.
const { homedir } = require('node:os')
const { basename, join } = require('node:path')
const { getAsset } = require('node:sea')
const { cacheNameOf, runText } = require('./run-bundle.cjs')

/**
 * By default, glibc keeps freed memory. With these settings, threads share arenas, and large blocks are returned to the
 * system.
 */
const memory = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }

if (typeof threadProgram === 'undefined') runProgram()
else run(threadProgram, `thread-${basename(threadProgram, '.cjs')}`)

function runProgram() {
  const program = basename(process.argv0) === 'orchctl' ? 'orchctl' : 'orch'
  const command = process.argv[2]
  // To exit without the cleanup of its threads, the program replaces itself with this command (damaged-memory.ts).
  if (command === '--exit-with') process.exit(Number(process.argv[3]))
  const cacheName = cacheNameOf(program, process.argv.slice(2))
  if (cacheName !== program) returnFreedMemory()
  // Until the program handles signals itself, there is nothing to shut down, so a signal ends the process.
  const leave = () => process.exit(0)
  const signals = program === 'orch' ? ['SIGINT', 'SIGTERM'] : []
  for (const signal of signals) process.on(signal, leave)
  run(`${program}.cjs`, cacheName)
  for (const signal of signals) process.off(signal, leave)
}

/** glibc reads its settings only when a process starts, so the program restarts itself with the settings. */
function returnFreedMemory() {
  if (process.env.MALLOC_ARENA_MAX !== undefined) return
  process.execve(process.execPath, [process.argv0, ...process.argv.slice(2)], { ...memory, ...process.env })
}

/**
 * Runs the code in an asset. Each `user` has its own compiled code, because different programs use different functions.
 */
function run(asset, user) {
  const cacheFile = join(cacheDirectory(), 'orch', `${user}-${getAsset('build-id', 'utf8')}`)
  runText(getAsset(asset, 'latin1'), { file: `/orch/${asset}`, cacheFile })
}

function cacheDirectory() {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME
  try {
    return join(homedir(), '.cache')
  } catch {
    // In many containers, the user has no home directory. No file can be created below /dev/null, so nothing is cached.
    return '/dev/null'
  }
}
