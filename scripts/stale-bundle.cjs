// Whether the bundle of a program is that of its sources (scripts/bundle.mjs records which these were). Every start in a
// checkout asks: it looks at those files, and at no directory. CommonJS, so that the launcher asks without Node's loader
// of ECMAScript modules, which takes longer than the answer.
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
