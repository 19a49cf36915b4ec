// Runs a bundle (scripts/bundle.mjs) with the code that V8 compiled of it at an earlier start: compiling it again would be
// a third of the time that a start takes. Node's own compile cache keeps only what runs while a file is loaded; this one
// is taken when the program has started, so that it has every function that a start calls.
//
// The cache is a help and nothing else. It belongs to one build of the bundle on one Node; where there is none, or V8 cannot
// use it, the program compiles what it needs, and writes a new one if it may. V8 compares only the length of the text that
// the code was compiled of, so the name of the cache says which bundle that was. One that a crash has cut short is refused.
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname } = require('node:path')
const { Script } = require('node:vm')

/** By then a server has started, and a short command is over. */
const startedMs = 5000

/** `cacheFile` is what the cache's name begins with. */
exports.runBundle = function runBundle(file, { cacheFile }) {
  const { mtimeMs, size } = statSync(file)
  // Bundles are ASCII (scripts/bundle.mjs), which is read fastest like this.
  runText(readFileSync(file, 'latin1'), {
    file,
    cacheFile: `${cacheFile}-${process.version}-${process.arch}-${mtimeMs}-${size}`,
  })
}

/** Runs the text of a bundle. `cacheFile` must be another one for every text. `file` is the name of the text in errors. */
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
    // There is none yet.
    return undefined
  }
}

function writeWhenStarted(script, cache) {
  const write = () => {
    process.off('exit', write)
    clearTimeout(timer)
    writeCache(script.createCachedData(), cache)
  }
  const timer = setTimeout(write, startedMs).unref()
  process.on('exit', write)
}

function writeCache(data, cache) {
  try {
    mkdirSync(dirname(cache), { recursive: true })
    const fresh = `${cache}.${process.pid}`
    writeFileSync(fresh, data, { mode: 0o600 })
    renameSync(fresh, cache)
  } catch {
    // The package belongs to somebody else, or the disk is full: programs start all the same, only later.
  }
}
