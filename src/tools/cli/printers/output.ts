/**
 * Parses the `-o` flag and prints objects in the selected format. Tables are printed elsewhere, because they need
 * additional data.
 *
 *   json, yaml, name, wide, jsonpath=TEMPLATE, go-template=TEMPLATE, custom-columns=NAME:PATH,...
 *
 * Formats that take a value can also read it from a file (`jsonpath-file=FILE`). Templates can also come from
 * `--template`.
 */
import { readFileSync } from 'node:fs'
import { isObject, type Json } from '../../../api/json/json.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import { flag, readBoolean, text, UsageError } from '../../../base/flags/flags.ts'
import { codeOf } from '../../../base/text/errors.ts'

export type Language = 'jsonpath' | 'jsonpath-as-json' | 'go-template'

export type Output =
  | { readonly form: '' | 'wide' | 'name' | 'json' | 'yaml' }
  | TemplateOutput
  | {
      readonly form: 'custom-columns'
      readonly columns: readonly { readonly heading: string; readonly path: string }[]
    }

export interface TemplateOutput {
  readonly form: 'template'
  readonly language: Language
  /**
   * The template, or the name of the template file if `isFile` is set. Undefined if `--template` contains the template.
   */
  readonly text: string | undefined
  readonly isFile: boolean
  /** Whether the output is a terminal. On a terminal, control characters are escaped. */
  readonly isTerminal?: boolean
}

const plainForms = ['', 'wide', 'name', 'json', 'yaml'] as const
const templateForms = 'jsonpath=..., jsonpath-as-json=... or go-template=... (each also -file=FILE)'
const writeForms = `name, json, yaml, ${templateForms}`
const forms = `wide, json, yaml, name, custom-columns=..., custom-columns-file=..., ${templateForms}`

/** Template languages by their name in `-o`. */
const languages: { readonly [name: string]: Language } = {
  jsonpath: 'jsonpath',
  'jsonpath-as-json': 'jsonpath-as-json',
  'go-template': 'go-template',
  template: 'go-template',
}

/** The flags `--template` and `--allow-missing-template-keys`. */
export const templateFlags = {
  template: flag({
    name: 'template',
    value: 'TEMPLATE',
    read: text,
    help: 'Go template, or path of a template file; implies -o go-template',
  }),
  allowMissingTemplateKeys: flag({
    name: 'allow-missing-template-keys',
    default: 'true',
    read: readBoolean,
    help: 'ignore template fields and map keys that the object does not have',
  }),
}

/** The `-o` flag for commands that print objects. */
export const outputFlag = flag({ name: 'output', letter: 'o', value: 'FORMAT', read: readOutput, help: forms })

/** The `-o` flag of commands that write objects. It does not support tables. */
export const writeOutputFlag = flag({
  name: 'output',
  letter: 'o',
  value: 'FORMAT',
  read: readWriteOutput,
  help: writeForms,
})

function readWriteOutput(text: string): Output {
  const output = readOutput(text)
  if (output.form === 'wide' || output.form === 'custom-columns')
    throw new UsageError(`${JSON.stringify(text)} is not one of ${writeForms}`)
  return output
}

function readOutput(text: string): Output {
  const plain = plainForms.find((form) => form === text)
  if (plain !== undefined) return { form: plain }
  const [name, value] = split(text)
  if (name === 'custom-columns')
    return { form: 'custom-columns', columns: columnsOf(required(value, 'custom-columns=NAME:.metadata.name')) }
  if (name === 'custom-columns-file') return { form: 'custom-columns', columns: columnsOfFile(fileText(value)) }
  const language = languageOf(name)
  if (language !== undefined) return { form: 'template', ...language, text: value || undefined }
  throw new UsageError(`${JSON.stringify(text)} is not one of ${forms}`)
}

function languageOf(name: string): { language: Language; isFile: boolean } | undefined {
  const isFile = name.endsWith('-file') || name === 'templatefile'
  const bare = isFile ? name.replace(/-?file$/, '') : name
  return Object.hasOwn(languages, bare) ? { language: languages[bare]!, isFile } : undefined
}

/**
 * Returns the output with its template, which can come from either flag. Throws UsageError if the template is missing.
 */
export function outputOf({ output, template }: { readonly output: Output; readonly template: string }): Output {
  if (output.form === '' && template !== '') return withText({ language: 'go-template', isFile: false }, template)
  if (output.form !== 'template') return output
  const text = output.text ?? template
  const example = output.language === 'go-template' ? '{{.metadata.name}}' : '{.metadata.name}'
  return withText(output, required(text, `${output.language}='${example}'`))
}

function withText({ language, isFile }: { language: Language; isFile: boolean }, value: string): TemplateOutput {
  return { form: 'template', language, isFile: false, text: isFile ? fileText(value) : value }
}

function split(text: string): [string, string | undefined] {
  const equals = text.indexOf('=')
  return equals < 0 ? [text, undefined] : [text.slice(0, equals), text.slice(equals + 1)]
}

function required(value: string | undefined, example: string): string {
  if (value === undefined || value === '') throw new UsageError(`the output template is missing: use -o ${example}`)
  return value
}

function fileText(file: string | undefined): string {
  if (file === undefined || file === '')
    throw new UsageError('the file name is missing: specify it after =, as in -o jsonpath-file=FILE')
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

/** Parses a custom-columns file: a line with the headings, and a line with the paths of the columns. */
function columnsOfFile(text: string): { heading: string; path: string }[] {
  const [headings = [], paths = []] = text.split('\n').map((line) => line.trim().split(/\s+/))
  if (headings.length !== paths.length)
    throw new UsageError(`the template file has ${headings.length} headings but ${paths.length} paths`)
  return headings.map((heading, i) => ({ heading, path: paths[i]! }))
}

/** Formats objects as rows of custom columns. */
export async function customRows(
  columns: readonly { readonly heading: string; readonly path: string }[],
  objects: readonly Json[],
): Promise<string[][]> {
  const { parsePath, valuesAt } = await import('../../../api/jsonpath/templates.ts')
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

/** Formats a value in a cell in Go syntax, as kubectl does. An example is `map[a:1 b:[x y]]`. */
function goText(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isObject(value)) return String(value)
  const members = Object.entries(value).sort(([a], [b]) => compareUtf8(a, b))
  return `map[${members.map(([key, member]) => `${key}:${goText(member)}`).join(' ')}]`
}
