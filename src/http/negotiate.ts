/** Which form the answer takes: the best of what the client accepts and the server has. */
import { ApiError, notAcceptable } from '../model/api-error.ts'
import { type Form, jsonForm, prettyForm, yamlForm } from './forms.ts'
import type { RequestHeaders } from './headers.ts'
import { isTrue } from './request-info.ts'

interface Clause {
  readonly type: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

const offered = ['application/json', 'application/yaml']
const streamed = ['application/json;stream=watch']
const maxClauses = 100

export interface Asked {
  readonly headers: RequestHeaders
  readonly query: URLSearchParams
  /** A watch is a stream of JSON documents; it has no YAML form. */
  readonly watch: boolean
}

/** Throws 406 when nothing fits. */
export function negotiate(asked: Asked): Form {
  const accept = asked.headers.all('accept').join(',')
  const clauses = accept.trim() === '' ? [anything] : parseAccept(accept)
  let known = false
  for (const clause of clauses) {
    const type = offered.find((candidate) => covers(clause.type, candidate))
    if (type === undefined) continue
    known = true
    const form = formOf(type, clause, asked)
    if (form !== undefined) return form
  }
  throw known
    ? notAcceptable(asked.watch ? streamed : offered)
    : new ApiError(406, 'NotAcceptable', '406: Not Acceptable', {})
}

/** The form for errors: what the client accepts, or JSON whatever it accepts. */
export function preferredForm(asked: Asked): Form {
  try {
    return negotiate(asked)
  } catch (error) {
    if (error instanceof ApiError) return jsonForm
    throw error
  }
}

const anything: Clause = { type: '*/*', quality: 1, parameters: new Map() }

function formOf(type: string, { parameters }: Clause, asked: Asked): Form | undefined {
  if (parameters.has('as')) return undefined
  if (type === 'application/yaml') return asked.watch ? undefined : yamlForm
  return !asked.watch && isPretty(asked) ? prettyForm : jsonForm
}

/** Asked for, or not asked but read by a person. */
function isPretty({ headers, query }: Asked): boolean {
  if (query.has('pretty')) return query.get('pretty') !== '' && isTrue(query, 'pretty')
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers.all('user-agent')[0] ?? '')
}

function covers(pattern: string, type: string): boolean {
  return pattern === type || pattern === '*/*' || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1)))
}

/** The clauses of an Accept header, best first; of equal ones the first. */
function parseAccept(header: string): Clause[] {
  return header
    .split(',')
    .slice(0, maxClauses)
    .map(parseClause)
    .filter((clause) => clause.quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
}

function parseClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters = new Map(rest.map((part) => part.split('=', 2).map((side) => side.trim()) as [string, string]))
  const quality = Number(parameters.get('q') ?? 1)
  return { type: type.toLowerCase(), quality: Number.isNaN(quality) ? 1 : quality, parameters }
}
