/**
 * The paths of printer columns: `.spec.size`, `.spec.ports[0].name`, `.metadata.annotations.a\.b`, `['a b']`, `[*]`,
 * `.status.conditions[?(@.type=="Ready")].status`. What else the language knows (`..`, slices, unions, scripts) is not
 * read: such a path has no parse.
 */
import { isObject, type Json, own } from '../model/json.ts'

/** Gives the first value at the end of the path; undefined where there is none. */
export type JsonPath = (value: Json) => Json | undefined

/** From a value to those one step below. */
type Step = (value: Json) => Iterable<Json>

/** Undefined for what is no path, or not of the forms above. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps = parseSteps(text)
  return steps && ((value) => first(steps, 0, value))
}

function first(steps: readonly Step[], from: number, value: Json): Json | undefined {
  const step = steps[from]
  if (step === undefined) return value
  for (const below of step(value)) {
    const found = first(steps, from + 1, below)
    if (found !== undefined) return found
  }
  return undefined
}

const member = /\.((?:[^.[\]\\'"*?@(){}\s]|\\.)+)/y
const anyMember = /\.\*|\[\*\]/y
const quoted = /\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y
const index = /\[(-?[0-9]{1,9})\]/y
const filter =
  /\[\?\(\s*@((?:\.(?:[^.[\]\\'"*?@(){}\s=!<>]|\\.)+)+)\s*(==|!=|<=|>=|<|>)\s*('[^']*'|"[^"]*"|-?[0-9.]{1,20}|true|false)\s*\)\]/y

const longestPath = 1000

function parseSteps(text: string): Step[] | undefined {
  const steps: Step[] = []
  const path = text.trim()
  if (path === '' || path.length > longestPath) return undefined
  for (let at = 0; at < path.length; ) {
    const found = forms
      .map(([form, make]) => [matchAt(form, path, at), make] as const)
      .find(([match]) => match !== null)
    if (found === undefined) return undefined
    const [match, make] = found
    steps.push(make(match!))
    at += match![0].length
  }
  return steps
}

function matchAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at
  return form.exec(text)
}

const forms: readonly (readonly [RegExp, (match: RegExpExecArray) => Step])[] = [
  [anyMember, () => children],
  [member, ([, name]) => memberOf(plainName(name!))],
  [quoted, ([, single, double]) => memberOf(plainName(single ?? double!))],
  [
    index,
    ([, number]) =>
      (value) =>
        present(Array.isArray(value) ? value.at(Number(number)) : undefined),
  ],
  [filter, ([, path, operator, literal]) => filtered(path!, operator!, readLiteral(literal!))],
]

function plainName(name: string): string {
  return name.replaceAll(/\\(.)/g, '$1')
}

function children(value: Json): Iterable<Json> {
  if (Array.isArray(value)) return value
  return isObject(value) ? Object.values(value).filter((item) => item !== undefined) : []
}

function memberOf(name: string): Step {
  return (value) => present(isObject(value) ? own(value, name) : undefined)
}

function present(value: Json | undefined): Json[] {
  return value === undefined ? [] : [value]
}

function readLiteral(text: string): Json {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^['"]/.test(text) ? text.slice(1, -1) : Number(text)
}

const comparisons: { readonly [operator: string]: (a: Json, b: Json) => boolean } = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a! < b!,
  '>': (a, b) => a! > b!,
  '<=': (a, b) => a! <= b!,
  '>=': (a, b) => a! >= b!,
}

function filtered(path: string, operator: string, wanted: Json): Step {
  const read = parseJsonPath(path)!
  const compare = comparisons[operator]!
  return function* (value) {
    if (!Array.isArray(value)) return
    for (const item of value) {
      const found = read(item)
      if (found !== undefined && typeof found === typeof wanted && compare(found, wanted)) yield item
    }
  }
}
