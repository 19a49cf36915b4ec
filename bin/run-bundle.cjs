// Runs a bundle (scripts/bundle.mjs) with code that V8 compiled during an earlier start, because compiling it would
// take a third of the startup time. Node's own compile cache contains only the functions that run while a file is
// loaded. The cache here is written after the program has started, so it contains every function that a start calls.
//
// The cache is optional. It belongs to one build of the bundle and one version of Node. If there is no cache or V8
// rejects it, the program compiles the functions that it needs and tries to write a new cache. V8 compares only the
// length of the source text, so the name of the cache file identifies the bundle. V8 rejects a file that a crash has
// truncated.
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname } = require('node:path')
const { Script } = require('node:vm')

/** By this time, a server has started or a short command has ended. */
const startedMs = 5000

/** Runs the bundle in a file. `cacheFile` is the start of the path of the cache. */
exports.runBundle = function runBundle(file, { cacheFile }) {
  const { mtimeMs, size } = statSync(file)
  // Bundles contain only ASCII (scripts/bundle.mjs). Node reads such a file fastest as latin1.
  runText(readFileSync(file, 'latin1'), {
    file,
    cacheFile: `${cacheFile}-${process.version}-${process.arch}-${mtimeMs}-${size}`,
  })
}

/**
 * Returns the name of the cache of compiled code for a program and its arguments. A server uses many more functions of
 * the program than other commands, so it has a separate cache.
 */
exports.cacheNameOf = function cacheNameOf(program, [command, ...rest]) {
  const startsServer = program === 'orch' && (command === 'up' || command === 'apiserver')
  return startsServer && !rest.includes('--help') && !rest.includes('-h') ? `orch-${command}` : program
}

/** Runs the text of a bundle. Every text needs its own `cacheFile`. Stack traces show `file` as the name. */
function runText(text, { file, cacheFile: cache }) {
  const cachedData = readCache(cache)
  const script = new Script(text, { filename: file, cachedData })
  if (cachedData === undefined || script.cachedDataRejected) writeWhenStarted(script, cache)
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(file), module, file)
}
exports.runText = runText

function readCache(cache) {
  try {
    return readFileSync(cache)
  } catch {
    // The cache does not exist yet.
    return undefined
  }
}

// A program that fails has called only some of the functions that a start calls, and a cache is never completed later.
function writeWhenStarted(script, cache) {
  const write = () => writeCache(script.createCachedData(), cache)
  const writeOnExit = (code) => {
    if (code === 0) write()
  }
  setTimeout(() => {
    process.off('exit', writeOnExit)
    write()
  }, startedMs).unref()
  process.on('exit', writeOnExit)
}

function writeCache(data, cache) {
  try {
    mkdirSync(dirname(cache), { recursive: true })
    const fresh = `${cache}.${process.pid}`
    writeFileSync(fresh, data, { mode: 0o600 })
    renameSync(fresh, cache)
  } catch {
    // The directory is not writable, or the disk is full. Without a cache, the program starts more slowly but works.
  }
}
