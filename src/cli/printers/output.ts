/**
 * The forms of `-o`: which one a user asked for, and how objects look in it. Tables are left to those who fetch them.
 *
 *   json, yaml, name, wide, jsonpath=TEMPLATE, jsonpath-file=FILE, custom-columns=NAME:PATH,..., custom-columns-file=FILE
 */
import { readFileSync } from 'node:fs'
import { codeOf } from '../../base/errors.ts'
import { flag, UsageError } from '../../base/flags.ts'
import { compareUtf8 } from '../../base/utf8-order.ts'
import { isObject, type Json } from '../../model/json.ts'
import { escapeText } from './escape.ts'

export type Output =
  | { readonly form: '' | 'wide' | 'name' | 'json' | 'yaml' }
  | { readonly form: 'jsonpath'; readonly template: string }
  | {
      readonly form: 'custom-columns'
      readonly columns: readonly { readonly heading: string; readonly path: string }[]
    }

const plainForms = ['', 'wide', 'name', 'json', 'yaml'] as const
const forms = 'wide, json, yaml, name, jsonpath=..., jsonpath-file=..., custom-columns=... or custom-columns-file=...'

const goTemplateForms = ['go-template', 'go-template-file', 'template', 'templatefile']

/** `-o` for commands that show objects. */
export const outputFlag = flag('o,output', 'FORMAT', '', readOutput, forms)

/** `-o` for commands that write: without tables. */
export const writeOutputFlag = flag('o,output', 'FORMAT', '', readWriteOutput, 'name, json, yaml or jsonpath=...')

function readWriteOutput(text: string): Output {
  const output = readOutput(text)
  if (output.form === 'wide' || output.form === 'custom-columns')
    throw new UsageError(`${JSON.stringify(text)} is not one of name, json, yaml, jsonpath=...`)
  return output
}

function readOutput(text: string): Output {
  const plain = plainForms.find((form) => form === text)
  if (plain !== undefined) return { form: plain }
  const [name, value] = split(text)
  if (name === 'jsonpath') return { form: 'jsonpath', template: required(value, 'jsonpath={.metadata.name}') }
  if (name === 'jsonpath-file') return { form: 'jsonpath', template: fileText(value) }
  if (name === 'custom-columns')
    return { form: 'custom-columns', columns: columnsOf(required(value, 'custom-columns=NAME:.metadata.name')) }
  if (name === 'custom-columns-file') return { form: 'custom-columns', columns: columnsOfFile(fileText(value)) }
  if (goTemplateForms.includes(name))
    throw new UsageError(
      `${JSON.stringify(name)} is not built: use jsonpath, such as -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}'`,
    )
  throw new UsageError(`${JSON.stringify(text)} is not one of ${forms}`)
}

function split(text: string): [string, string | undefined] {
  const equals = text.indexOf('=')
  return equals < 0 ? [text, undefined] : [text.slice(0, equals), text.slice(equals + 1)]
}

function required(value: string | undefined, example: string): string {
  if (value === undefined || value === '') throw new UsageError(`what to print is missing: write -o ${example}`)
  return value
}

function fileText(file: string | undefined): string {
  if (file === undefined || file === '') throw new UsageError('which file is missing: write -o jsonpath-file=FILE')
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${codeOf(error)}`)
  }
}

function columnsOf(text: string): { heading: string; path: string }[] {
  return text.split(',').map((column) => {
    const colon = column.indexOf(':')
    if (colon <= 0 || colon === column.length - 1)
      throw new UsageError(`unexpected custom-columns spec: ${column}, expected <header>:<json-path-expr>`)
    return { heading: column.slice(0, colon), path: column.slice(colon + 1) }
  })
}

/** A line of headings, and below each its path. */
function columnsOfFile(text: string): { heading: string; path: string }[] {
  const [headings = [], paths = []] = text.split('\n').map((line) => line.trim().split(/\s+/))
  if (headings.length !== paths.length)
    throw new UsageError(`the file has ${headings.length} headings and ${paths.length} paths below them`)
  return headings.map((heading, i) => ({ heading, path: paths[i]! }))
}

/** Objects as rows of the columns that the user asked for. */
export async function customRows(
  columns: readonly { readonly heading: string; readonly path: string }[],
  objects: readonly Json[],
): Promise<string[][]> {
  const [{ parsePath }, { valuesAt }] = await Promise.all([
    import('../jsonpath/parse.ts'),
    import('../jsonpath/evaluate.ts'),
  ])
  const paths = columns.map(({ path }) => parsePath(path))
  return objects.map((object) =>
    paths.map((path) => {
      const values = valuesAt(path, object).map(cell)
      return values.length === 0 ? '<none>' : values.join(',')
    }),
  )

  function cell(value: Json): string {
    return value === null ? '<none>' : goText(value)
  }
}

/** A value as kubectl shows it in a cell, which is as Go prints it: `map[a:1 b:[x y]]`. */
function goText(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isObject(value)) return String(value)
  const members = Object.entries(value).sort(([a], [b]) => compareUtf8(a, b))
  return `map[${members.map(([key, member]) => `${key}:${goText(member)}`).join(' ')}]`
}

/** What a template makes of an object or a list of them. */
export async function fillJsonPath(template: string, value: Json): Promise<string> {
  const [{ parseTemplate }, { fillTemplate }] = await Promise.all([
    import('../jsonpath/parse.ts'),
    import('../jsonpath/evaluate.ts'),
  ])
  return escapeText(fillTemplate(parseTemplate(template), value))
}
