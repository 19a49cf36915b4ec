/**
 * Field paths in a list query, such as `spec.nodeName` or `metadata.labels['app.orch.io/name']`. As in `orchctl
 * explain`, paths contain no indexes. A path through a list therefore refers to the field in every element of the list.
 */
import { badRequest } from '../model/api-error.ts'

/** Names of the nested fields and keys along a path, outermost first. */
export type FieldSteps = readonly [string, ...string[]]

const maxPaths = 100
const maxSteps = 32

/** Matches an element of a path: a plain name, or a key in brackets and quotes. */
const step = /([^.,[\]'"]+)|\[(?:'([^']*)'|"([^"]*)")\]/y

/** Parses comma-separated paths. `parameter` is the name of the query parameter and is used in error messages. */
export function parseFieldPaths(text: string, parameter: string): FieldSteps[] {
  const paths: FieldSteps[] = []
  for (let at = 0; at <= text.length; ) {
    const { steps, end } = parsePath(text, at, parameter)
    paths.push(steps)
    if (paths.length > maxPaths) throw badRequest(`${parameter}: at most ${maxPaths} paths are allowed`)
    at = end + 1
  }
  return paths
}

/** Parses the path that starts at the given position, up to the next comma or the end. */
function parsePath(text: string, start: number, parameter: string): { steps: FieldSteps; end: number } {
  const steps: string[] = []
  let at = start
  for (;;) {
    step.lastIndex = at
    const match = step.exec(text)
    if (match === null) throw malformed(text.slice(start), parameter)
    steps.push(match[1] ?? match[2] ?? match[3]!)
    if (steps.length > maxSteps) throw badRequest(`${parameter}: a path may have at most ${maxSteps} fields`)
    at += match[0].length
    const [first, ...rest] = steps
    if (at === text.length || text[at] === ',') return { steps: [first!, ...rest], end: at }
    if (text[at] === '.' && text[at + 1] !== '[') at++
    else if (text[at] !== '[') throw malformed(text.slice(start), parameter)
  }
}

function malformed(text: string, parameter: string): Error {
  const path = JSON.stringify(text.slice(0, 100))
  return badRequest(
    `${parameter}: ${path} is not a valid field path: use a path such as spec.nodeName or metadata.labels['app']`,
  )
}

/** Formats a path for messages. */
export function fieldPathText(steps: readonly string[]): string {
  const texts = steps.map((name) => (/[.,[\]'"]/.test(name) ? `['${name}']` : `.${name}`))
  return texts.join('').replace(/^\./, '')
}
