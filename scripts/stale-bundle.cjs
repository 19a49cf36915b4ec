// Checks whether the bundle of a program matches its sources, which scripts/bundle.mjs recorded. Every start in a
// checkout runs this check, which looks at the recorded files but not at directories. This is CommonJS, because loading
// ECMAScript modules in Node takes longer than the check.
const { readFileSync, statSync } = require('node:fs')

exports.isStale = function isStale(root, program) {
  const sources = sourcesOf(root, program)
  return sources === undefined || sources.some(([name, mtimeMs, size]) => !isSame(`${root}/${name}`, mtimeMs, size))
}

function isSame(file, mtimeMs, size) {
  const state = statSync(file, { throwIfNoEntry: false })
  return state !== undefined && state.mtimeMs === mtimeMs && state.size === size
}

function sourcesOf(root, program) {
  try {
    return JSON.parse(readFileSync(`${root}/dist/${program}.sources.json`, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return undefined
  }
}
