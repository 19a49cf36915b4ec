/** Which form the answer takes: the best of what the client accepts and the server has. */
import { ApiError, notAcceptable } from '../model/api-error.ts'
import type { Vendor } from '../model/vendor.ts'
import { type Form, jsonForm, prettyForm, yamlForm } from './forms.ts'
import type { RequestHeaders } from './headers.ts'
import { findProjection, type Projection, type ViewName, viewNames } from './projections.ts'

interface Clause {
  readonly type: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

/** The forms of objects and lists. */
export const offered = ['application/json', 'application/yaml']
const streamed = ['application/json;stream=watch']
const maxClauses = 100

export interface Asked {
  readonly vendor: Vendor
  readonly headers: RequestHeaders
  readonly query: URLSearchParams
  /** A watch is a stream of JSON documents; it has no YAML form. */
  readonly watch: boolean
}

export interface Agreed {
  readonly form: Form
  /** Another view of the objects than they themselves. */
  readonly projection: Projection | undefined
}

/**
 * Throws 406 when nothing fits. `views`: which other views than the objects themselves are available; documents have
 * none. The answer to a request for an unknown form does not list the known ones.
 */
export function negotiate(asked: Asked, views: readonly ViewName[]): Agreed {
  const accept = asked.headers.all('accept').join(',')
  const clauses = clausesOf(accept)
  let matched = false
  for (const clause of clauses) {
    const type = offered.find((candidate) => covers(clause.type, candidate))
    if (type === undefined) continue
    matched = true
    const projection = projectionOf(clause, views)
    if (projection === undefined && asksForView(clause)) continue
    const form = isServed(clause, type, views.length > 0) ? formOf(type, clause, asked) : undefined
    if (form !== undefined) return { form, projection }
  }
  throw matched || views.length === 0
    ? notAcceptable(asked.watch ? streamed : offered)
    : new ApiError(406, 'NotAcceptable', '406: Not Acceptable', {})
}

/** The best of these types for the client, the first if it has no wish. Throws 406 when none will do. */
export function chooseType(headers: RequestHeaders, types: readonly string[]): string {
  const accept = headers.all('accept').join(',')
  const clauses = accept.trim() === '' ? [anything] : parseAccept(accept)
  for (const clause of clauses) {
    const type = types.find((candidate) => covers(clause.type, candidate))
    if (type !== undefined) return type
  }
  throw notAcceptable(types)
}

/** The form for errors: what the client accepts, or JSON whatever it accepts. */
export function preferredForm(asked: Asked): Form {
  try {
    return negotiate(asked, viewNames).form
  } catch (error) {
    if (error instanceof ApiError) return jsonForm
    throw error
  }
}

const anything: Clause = { type: '*/*', quality: 1, parameters: new Map() }

function projectionOf({ parameters }: Clause, views: readonly ViewName[]): Projection | undefined {
  const [as, group, version] = ['as', 'g', 'v'].map((name) => parameters.get(name) ?? '')
  const projection = findProjection(as!, group!, version!)
  return projection && views.includes(projection.as) ? projection : undefined
}

function asksForView({ parameters }: Clause): boolean {
  return ['as', 'g', 'v'].some((name) => parameters.has(name))
}

/** Whether the rest of a clause can be served: a stream of events, and resources in a version of the server. */
function isServed({ parameters }: Clause, type: string, isResource: boolean): boolean {
  const { stream, sv } = { stream: parameters.get('stream'), sv: parameters.get('sv') }
  const streams = stream === undefined || (stream === 'watch' && type !== 'application/yaml')
  return streams && (sv === undefined || (isResource && sv === 'v1'))
}

function formOf(type: string, clause: Clause, asked: Asked): Form | undefined {
  if (type === 'application/yaml') return asked.watch ? undefined : yamlForm
  return !asked.watch && isPretty(clause, asked) ? prettyForm : jsonForm
}

/** What counts as true in `pretty`, unlike in other parameters. */
const yes = ['1', 't', 'T', 'true', 'True', 'TRUE']

/** Asked for, or not asked but read by a person. */
function isPretty({ parameters }: Clause, { headers, query }: Asked): boolean {
  if (parameters.get('pretty') === '1') return true
  const asked = query.get('pretty') ?? ''
  if (asked !== '') return yes.includes(asked)
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers.first('user-agent') ?? '')
}

function covers(pattern: string, type: string): boolean {
  return pattern === type || pattern === '*/*' || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1)))
}

/** What most clients send needs no parsing. */
function clausesOf(accept: string): readonly Clause[] {
  if (accept === '' || accept === '*/*') return [anything]
  return accept.trim() === '' ? [anything] : parseAccept(accept)
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

/** Without a value a parameter asks for nothing. */
function parseParameter(text: string): [name: string, value: string] {
  const [name = '', value = ''] = text.split('=', 2).map((side) => side.trim())
  return [name, value]
}

function parseClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters = new Map(rest.map(parseParameter).filter(([, value]) => value !== ''))
  const quality = Number(parameters.get('q') ?? 1)
  return { type: type.toLowerCase(), quality: Number.isNaN(quality) ? 1 : quality, parameters }
}
