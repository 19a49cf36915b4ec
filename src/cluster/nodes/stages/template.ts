/**
 * Stage templates: Go's template language with the functions of KWOK and the most common functions of sprig. The number
 * of execution steps and the length of the output are limited, because templates process objects of other users.
 */
import { fillGoTemplate } from '../../../api/gotemplate/execute.ts'
import { goFunctions, type TemplateFunction, type TemplateFunctions } from '../../../api/gotemplate/functions.ts'
import { parseGoTemplate } from '../../../api/gotemplate/parse.ts'
import { TemplateError } from '../../../api/gotemplate/template-error.ts'
import { isTrue, plainText, type Value } from '../../../api/gotemplate/values.ts'
import { type Json, type JsonObject, setKey } from '../../../api/json/json.ts'
import { StageError } from './stage-error.ts'

/** Template functions that depend on the node and the pod, such as `NodeIP`. */
export type PlaceFunctions = { readonly [name: string]: TemplateFunction }

/** Executes a template with an object and returns the output. Throws StageError. */
export type Template = (object: Json, functions: PlaceFunctions) => string

const maxLength = 64 * 1024
const limits = { steps: 100_000, characters: 1024 * 1024 }

/**
 * Compiles a template. `placeFunctions` lists additional functions, which the caller must provide for each execution.
 * Throws StageError.
 */
export function compileTemplate(text: string, placeFunctions: ReadonlySet<string>): Template {
  if (text.length > maxLength) throw new StageError(`the template is longer than ${maxLength} characters`)
  const has = (name: string) => placeFunctions.has(name) || stageFunctions.has(name)
  const template = asStageError(() => parseGoTemplate(text, { has }))
  return (object, place) => {
    const functions = new Map([...stageFunctions, ...Object.entries(place)])
    return asStageError(() => fillGoTemplate(template, object, { missingKeys: 'allow', functions, limits }))
  }
}

function asStageError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof TemplateError) throw new StageError(`template: ${error.message}`, { cause: error })
    throw error
  }
}

function numbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

/** Formats a value as JSON, because JSON is valid YAML and a single line needs no indentation. */
function flow(value: Value): string {
  return JSON.stringify(value ?? null, numbers)
}

function templateValueText(value: Value): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? flow(value) : plainText(value)
}

function dict(...pairs: Value[]): Value {
  const dictionary: JsonObject = {}
  for (let i = 0; i < pairs.length; i += 2) setKey(dictionary, templateValueText(pairs[i]), pairs[i + 1] ?? '')
  return dictionary
}

const quote: TemplateFunction = (value) => JSON.stringify(templateValueText(value))

const stageFunctions: TemplateFunctions = new Map<string, TemplateFunction>([
  ...goFunctions,
  ['Quote', quote],
  ['quote', quote],
  ['YAML', (value, depth) => `${'  '.repeat(1 + (Math.trunc(Number(depth ?? 0)) & 31))}${flow(value)}`],
  ['toJson', flow],
  ['toYaml', flow],
  ['dict', dict],
  ['list', (...values) => values.map((value) => value ?? null)],
  ['default', (fallback, value) => (isTrue(value) ? value : fallback)],
  ['coalesce', (...values) => values.find(isTrue)],
  ['ternary', (yes, no, which) => (isTrue(which) ? yes : no)],
  ['empty', (value) => !isTrue(value)],
  ['add', (...values) => values.reduce<number>((sum, value) => sum + Number(value), 0)],
  ['sub', (a, b) => Number(a) - Number(b)],
  ['int', (value) => Math.trunc(Number(value)) || 0],
  ['toString', templateValueText],
  ['upper', (value) => templateValueText(value).toUpperCase()],
  ['lower', (value) => templateValueText(value).toLowerCase()],
  ['trim', (value) => templateValueText(value).trim()],
  ['contains', (part, value) => templateValueText(value).includes(templateValueText(part))],
  ['hasPrefix', (part, value) => templateValueText(value).startsWith(templateValueText(part))],
  ['hasSuffix', (part, value) => templateValueText(value).endsWith(templateValueText(part))],
])
