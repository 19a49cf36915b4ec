/** Chooses the response format: the client's preferred format among the formats that the server supports. */
import { ApiError, notAcceptable } from '../../../api/model/api-error.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { type Form, jsonForm, prettyForm, yamlForm } from './forms.ts'
import { findProjection, type Projection, type ViewName, viewNames } from './projections.ts'
import { protobufStatus } from './protobuf-form.ts'

interface Clause {
  readonly type: string
  readonly quality: number
  readonly parameters: ReadonlyMap<string, string>
}

const json = 'application/json'
const yaml = 'application/yaml'

/** The facts about a resource type that determine which formats it supports. */
export interface Offering {
  readonly vendor: Vendor
  readonly hasProtobuf: boolean
}

/** Returns the media types that clients can use for objects and lists, in requests and responses. */
export function offered({ vendor, hasProtobuf }: Offering): string[] {
  return hasProtobuf ? [json, yaml, vendor.protobufMediaType] : [json, yaml]
}

/** Returns the media types of watches. */
export function streamed(offering: Offering): string[] {
  return offered(offering)
    .filter((type) => type !== yaml)
    .map((type) => `${type};stream=watch`)
}

const maxClauses = 100

export interface NegotiationInput {
  readonly vendor: Vendor
  readonly headers: RequestHeaders
  readonly query: URLSearchParams
  /** Whether the response is a watch. Watches have no YAML format. */
  readonly watch: boolean
  /** Returns the Protobuf format, or undefined if the type has no Protobuf encoding. */
  readonly protobuf: (() => Form) | undefined
  /**
   * Whether the response is for an API resource rather than a document such as a discovery list. By default, true if
   * views are available. The value must therefore be set for resources without views.
   */
  readonly ofResource?: boolean
}

export interface Agreed {
  readonly form: Form
  /** The projection that the client requests, such as a Table. Undefined for plain objects. */
  readonly projection: Projection | undefined
}

/**
 * Chooses the response format from the Accept header and the available projections (`views`). Throws 406 if the client
 * accepts no supported format. As in Kubernetes, the error for a document always lists the supported types, whereas the
 * error for a resource lists them only if a media type was recognized.
 */
export function negotiate(input: NegotiationInput, views: readonly ViewName[]): Agreed {
  const accept = input.headers.list('accept')
  const clauses = clausesOf(accept)
  let matched = false
  for (const clause of clauses) {
    const type = typeOf(clause, input)
    // Protobuf counts as a known media type even if the resource type does not support it.
    if (type !== undefined || covers(clause.type, input.vendor.protobufMediaType)) matched = true
    if (type === undefined) continue
    const projection = projectionOf(clause, views)
    if (projection === undefined && asksForView(clause)) continue
    const form = isServed(clause, type, views.length > 0) ? formOf(type, clause, input) : undefined
    // Tables cannot be encoded in Protobuf.
    if (form !== undefined && !(type === input.vendor.protobufMediaType && projection?.as === 'Table'))
      return { form, projection }
  }
  throw matched || !(input.ofResource ?? views.length > 0)
    ? notServed(input)
    : new ApiError(406, 'NotAcceptable', '406: Not Acceptable', {})
}

/** The group, version and kind that a client requests with the Accept parameters `g`, `v` and `as`. */
interface RequestedType {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/**
 * Returns the first document type that the client requests, with its format. Accept clauses without parameters are
 * ignored, regardless of their quality. Returns undefined if the client requests no supported type.
 */
export function negotiateType<T extends RequestedType>(
  input: NegotiationInput,
  types: readonly T[],
): { readonly type: T; readonly form: Form } | undefined {
  for (const clause of clausesOf(input.headers.list('accept'))) {
    const { parameters } = clause
    if (parameters.size === 0) continue
    const [kind, group, version] = ['as', 'g', 'v'].map((name) => parameters.get(name))
    const type = types.find((each) => each.kind === kind && each.group === group && each.version === version)
    const media = type && typeOf(clause, input)
    const form = media !== undefined && isServed(clause, media, false) ? formOf(media, clause, input) : undefined
    if (type === undefined || form === undefined) continue
    return { type, form: { ...form, mediaType: `${form.mediaType};g=${group};v=${version};as=${kind}` } }
  }
  return undefined
}

/** Returns the first supported media type that the Accept clause matches. */
function typeOf({ type }: Clause, { vendor: { protobufMediaType }, protobuf }: NegotiationInput): string | undefined {
  if (covers(type, json)) return json
  if (covers(type, yaml)) return yaml
  return protobuf !== undefined && covers(type, protobufMediaType) ? protobufMediaType : undefined
}

function notServed({ watch, vendor, protobuf }: NegotiationInput): ApiError {
  const offering = { vendor, hasProtobuf: protobuf !== undefined }
  return notAcceptable(watch ? streamed(offering) : offered(offering))
}

/**
 * Returns the media type that the client prefers, or the first type if the client has no preference. Throws 406 if the
 * client accepts no supported type.
 */
export function chooseType(headers: RequestHeaders, types: readonly string[]): string {
  const type = acceptedType(headers, types)
  if (type === undefined) throw notAcceptable(types)
  return type
}

/** Like `chooseType`, but returns undefined if the client accepts no supported type. */
export function acceptedType(headers: RequestHeaders, types: readonly string[]): string | undefined {
  const accept = headers.list('accept')
  const clauses = accept.trim() === '' ? [anything] : parseAccept(accept)
  for (const clause of clauses) {
    const type = types.find((candidate) => covers(clause.type, candidate))
    if (type !== undefined) return type
  }
  return undefined
}

/** Returns the format for errors: a format that the client accepts, or else JSON. */
export function preferredForm(input: Omit<NegotiationInput, 'protobuf'>): Form {
  try {
    return negotiate({ ...input, protobuf: () => protobufStatus(input.vendor) }, viewNames).form
  } catch (error) {
    if (error instanceof ApiError) return jsonForm
    throw error
  }
}

const anything: Clause = { type: '*/*', quality: 1, parameters: new Map() }

function projectionOf({ parameters }: Clause, views: readonly ViewName[]): Projection | undefined {
  if (parameters.size === 0) return undefined
  const [as, group, version] = ['as', 'g', 'v'].map((name) => parameters.get(name) ?? '')
  const projection = findProjection(as!, group!, version!)
  return projection && views.includes(projection.as) ? projection : undefined
}

function asksForView({ parameters }: Clause): boolean {
  return parameters.size > 0 && ['as', 'g', 'v'].some((name) => parameters.has(name))
}

/** Whether the server supports the `stream` and `sv` parameters of the Accept clause. */
function isServed({ parameters }: Clause, type: string, isResource: boolean): boolean {
  const { stream, sv } = { stream: parameters.get('stream'), sv: parameters.get('sv') }
  const streams = stream === undefined || (stream === 'watch' && type !== yaml)
  return streams && (sv === undefined || (isResource && sv === 'v1'))
}

function formOf(type: string, clause: Clause, input: NegotiationInput): Form | undefined {
  if (type === yaml) return input.watch ? undefined : yamlForm
  if (type !== json) return input.protobuf?.()
  return !input.watch && isPretty(clause, input) ? prettyForm : jsonForm
}

/** The values of the parameter `pretty` that mean true. Other boolean parameters use different values. */
const yes = ['1', 't', 'T', 'true', 'True', 'TRUE']

/** Whether to indent the response. True if the client requests it, and true by default for curl, wget and browsers. */
function isPretty({ parameters }: Clause, { headers, query }: NegotiationInput): boolean {
  if (parameters.get('pretty') === '1') return true
  const input = query.get('pretty') ?? ''
  if (input !== '') return yes.includes(input)
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers.first('user-agent') ?? '')
}

function covers(pattern: string, type: string): boolean {
  return pattern === type || pattern === '*/*' || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1)))
}

/** The most common Accept headers, parsed in advance. */
const usual: ReadonlyMap<string, readonly Clause[]> = new Map(
  ['*/*', json, `${json}, */*`, `${json},*/*`].map((accept) => [accept, parseAccept(accept)]),
)

function clausesOf(accept: string): readonly Clause[] {
  const usualForm = usual.get(accept)
  if (usualForm !== undefined) return usualForm
  return accept.trim() === '' ? [anything] : parseAccept(accept)
}

/** Returns the clauses of an Accept header, highest quality first. Clauses of equal quality keep their order. */
function parseAccept(header: string): Clause[] {
  return header
    .split(',')
    .slice(0, maxClauses)
    .map(parseClause)
    .filter((clause) => clause.quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
}

/** Parses a parameter of an Accept clause. A parameter without a value is ignored. */
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
