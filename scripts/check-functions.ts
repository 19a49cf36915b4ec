/**
 * Checks that functions in src/ are short and easy to call: no function has more than 60 lines, and neither the number
 * of functions with many parameters nor the number of positional booleans grows. When these counts fall, the limits
 * below must also be lowered. `--list` prints every function that counts.
 *
 * The script reads text rather than a syntax tree: it blanks out strings, comments and regular expressions, and then
 * uses a pattern to find function declarations. This method is accurate enough for counting.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const maxFunctionLines = 60
const maxParameters = 3
/** Number of functions with more than `maxParameters` parameters. */
const manyParameters = 35
/** Number of boolean parameters that callers pass by position. */
const positionalBooleans = 33

const root = join(dirname(import.meta.dirname), 'src')

/** Matches function declarations, methods and named arrow functions. */
const heads =
  /\bfunction\*?\s+([\w$]+)\s*(?:<[^()]*>)?\(|^ {2}(?:static |async |override |private |get |set |\*)*(#?[\w$]+)(?:<[^()]*>)?\(|\b(?:const|let)\s+([\w$]+)(?:\s*:[^=]*)?\s*=\s*(?:async\s*)?(?:<[^()]*>)?\(/gm

const pairs: { readonly [open: string]: string } = { '(': ')', '{': '}', '[': ']' }

interface Found {
  readonly place: string
  readonly parameters: readonly string[]
  readonly lines: number
}

const functions = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) => functionsOf(file, blanked(readFileSync(join(root, file), 'utf8'))))

const long = functions.filter(({ lines }) => lines > maxFunctionLines)
const many = functions.filter(({ parameters }) => parameters.length > maxParameters)
const booleans = functions.flatMap(({ place, parameters }) =>
  parameters
    .filter((text) => /^[\w$]+\??\s*(?::\s*boolean\b|=\s*(?:true|false)$)/.test(text))
    .map((text) => `${place}: ${text}`),
)

const faults = [
  ...long.map(({ place, lines }) => `${place} has ${lines} lines: ${maxFunctionLines} are enough for one function`),
  ...offLimit(many.length, manyParameters, `functions with more than ${maxParameters} parameters`),
  ...offLimit(booleans.length, positionalBooleans, 'positional booleans'),
]
if (process.argv.includes('--list'))
  for (const text of [...many.map(({ place }) => place), ...booleans]) console.log(text)
for (const fault of faults) console.error(fault)
console.log(
  `${functions.length} functions checked: the longest has ${Math.max(...functions.map(({ lines }) => lines))} lines, ${many.length} take more than ${maxParameters} parameters, ${booleans.length} booleans are positional`,
)
process.exitCode = faults.length > 0 ? 1 : 0

/**
 * Reports a count that differs from its limit. The limit must equal the current count, so that improvements are not
 * lost later.
 */
function offLimit(count: number, limit: number, what: string): string[] {
  if (count > limit) return [`${count} ${what}, ${limit} are allowed: use an options object (--list names them)`]
  if (count < limit)
    return [`${count} ${what}, and ${limit} would be allowed: lower the limit in scripts/check-functions.ts`]
  return []
}

/** Returns the text with strings, comments and regular expressions blanked out. */
function blanked(text: string): string {
  const noise =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[=(,:!&|?[{;]\s*|return\s)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g
  return text.replaceAll(noise, (match) => match.replaceAll(/[^\n]/g, ' '))
}

function functionsOf(file: string, text: string): Found[] {
  return [...text.matchAll(heads)].flatMap((head) => {
    const open = head.index + head[0].length - 1
    const close = matching(text, open)
    if (close < 0 || !isFunction(text.slice(close + 1), head[3] !== undefined)) return []
    const name = head[1] ?? head[2] ?? head[3]!
    if (['if', 'for', 'while', 'switch', 'catch', 'return'].includes(name)) return []
    const line = text.slice(0, head.index).split('\n').length + (head[0].startsWith('\n') ? 1 : 0)
    const lines = text.slice(head.index, endOf(text, close)).trim().split('\n').length
    return [{ place: `${file}:${line} ${name}`, parameters: split(text.slice(open + 1, close)), lines }]
  })
}

/** Whether a function body follows the parameters. */
function isFunction(rest: string, arrow: boolean): boolean {
  return arrow ? /^\s*(?::[^=;\n]*)?\s*=>/.test(rest) : /^\s*(?::[^;{]*(?:\{[^{}]*\}[^;{]*)*)?\{/.test(rest)
}

/** Returns the end of the function, which is the end of its block or, if it has no block, the end of its line. */
function endOf(text: string, close: number): number {
  const body = /^[^\n]*?\{\s*(?:\n|$)/m.exec(text.slice(close + 1))
  if (body === null || body.index > 0) return text.indexOf('\n', close)
  const open = close + 1 + body[0].lastIndexOf('{')
  const end = matching(text, open)
  return end < 0 ? text.length : end + 1
}

function matching(text: string, open: number): number {
  const stack: string[] = []
  for (let i = open; i < text.length; i++) {
    const letter = text[i]!
    if (pairs[letter]) stack.push(pairs[letter])
    else if (letter === stack.at(-1)) {
      stack.pop()
      if (stack.length === 0) return i
    }
  }
  return -1
}

/** Splits parameters at the outermost commas. */
function split(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (const [i, letter] of [...text].entries()) {
    if ('({[<'.includes(letter)) depth++
    else if (')}]'.includes(letter) || (letter === '>' && text[i - 1] !== '=')) depth--
    else if (letter === ',' && depth === 0) {
      parts.push(text.slice(from, i))
      from = i + 1
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== '')
}
