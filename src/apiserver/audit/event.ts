/**
 * An audit event (`audit.<vendor>/v1`, kind `Event`) describes one request at one stage. The JSON text of an event is
 * created when a sink first needs it and is shared by all sinks. Parts that several events have in common are
 * serialized once. Sinks should store text or bytes rather than events, because an event keeps the whole record of its
 * request in memory.
 */
import type { Status } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Level, Stage } from './policy.ts'

/** The resource named in the path of an audited request. */
export interface AuditedObject {
  readonly plural: string
  readonly namespace: string
  readonly name: string
  /** API group as in URLs, or '' for the core group. */
  readonly group: string
  readonly version: string
  readonly subresource: string
}

/** The object's name, namespace and uid in the request body. Used if the path does not name the object. */
export interface SentNames {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
}

/** The user and origin of a request. */
export interface CallerFacts {
  readonly user: User | undefined
  readonly impersonatedUser: User | undefined
  readonly sourceIps: readonly string[]
  readonly userAgent: string
}

/**
 * Describes the caller in audit events. The text is cached because most requests on a connection have the same caller.
 */
export class AuditedCaller {
  readonly facts: CallerFacts
  #text: string | undefined

  constructor(facts: CallerFacts) {
    this.facts = facts
  }

  /** Returns the JSON members that describe the caller, without braces. */
  get text(): string {
    this.#text ??= writeCaller(this.facts)
    return this.#text
  }
}

/** Returns the JSON prefix that all events with this audit level share, up to the audit ID. */
export function beginningOf(apiVersion: string, level: Level): string {
  return flat`{"kind":"Event","apiVersion":"${apiVersion}","level":"${level}","auditID":"`
}

/** The facts about an audited request that are known before its response. */
export interface RequestFacts {
  /** The JSON prefix of every event about this request, as returned by `beginningOf`. */
  readonly beginning: string
  /** The audit ID, which needs no escaping in JSON. */
  readonly auditId: string
  readonly requestUri: string
  readonly verb: string
  readonly caller: AuditedCaller
  /** The resource of the request. Undefined for non-resource paths. */
  readonly object: AuditedObject | undefined
  readonly sent: SentNames
}

/** Describes the request in audit events. The text is cached because a request can have several events. */
export class AuditedRequest {
  readonly facts: RequestFacts
  #text: string | undefined

  constructor(facts: RequestFacts) {
    this.facts = facts
  }

  /** Returns the JSON of an event from its start up to the object reference. */
  textAt(stage: Stage): string {
    this.#text ??= writeRequest(this.facts)
    return `${this.facts.beginning}${this.facts.auditId}","stage":"${stage}",${this.#text}`
  }
}

/** The fields of an event. Bodies are already JSON text. */
export interface EventFields {
  readonly stage: Stage
  readonly request: AuditedRequest
  /** HTTP status code of the response, or 0 before the response. */
  readonly code: number
  /** Status object of a failed response. */
  readonly failure: Status | undefined
  readonly requestObject: string | undefined
  readonly responseObject: string | undefined
  /** Time when the request was received, in milliseconds since 1970. */
  readonly received: number
  readonly reached: number
  readonly annotations: Annotations
}

/**
 * The annotations that a request had at the time of an event. The list alternates between keys and values, and may have
 * grown since then.
 */
export interface Annotations {
  readonly list: readonly string[]
  readonly length: number
}

/** An audit event as sinks receive it. */
export interface AuditEvent {
  /** The event as one line of JSON, without a newline. The text is built when a sink first needs it. */
  readonly text: string
  /** Returns the text without the request and response bodies, for sinks that limit the length of events. */
  shortened(): string
  /** The stage of the request. Sinks may filter events by it. */
  readonly stage: Stage
  /**
   * Whether the text may exceed a few kilobytes. Sinks convert long events to text immediately, so that they do not
   * keep request bodies in memory.
   */
  readonly isLong: boolean
}

/** Creates an event. Fields have the same order as in kube-apiserver's audit log. */
export function eventOf(fields: EventFields, keyDomain: string): AuditEvent {
  return new UnwrittenEvent(fields, keyDomain)
}

/** Name of the annotation that marks events whose bodies were omitted because of their length. */
const truncated = 'truncated'

/**
 * Initial size of the annotations. This size is sufficient for most requests, which have annotations only for
 * authorization and deprecated versions.
 */
const fewAnnotations = 8

class UnwrittenEvent implements AuditEvent {
  readonly #fields: EventFields
  readonly #keyDomain: string
  #text: string | undefined

  constructor(fields: EventFields, keyDomain: string) {
    this.#fields = fields
    this.#keyDomain = keyDomain
  }

  get stage(): Stage {
    return this.#fields.stage
  }

  get isLong(): boolean {
    const { requestObject, responseObject, annotations } = this.#fields
    return requestObject !== undefined || responseObject !== undefined || annotations.length > fewAnnotations
  }

  get text(): string {
    this.#text ??= write(this.#fields)
    return this.#text
  }

  shortened(): string {
    const { list, length } = this.#fields.annotations
    const marked = [...list.slice(0, length), `audit.${this.#keyDomain}/${truncated}`, 'true']
    const noBodies = { requestObject: undefined, responseObject: undefined }
    return write({ ...this.#fields, ...noBodies, annotations: { list: marked, length: marked.length } })
  }
}

function write(fields: EventFields): string {
  const { code, failure, requestObject, responseObject, annotations } = fields
  let text = fields.request.textAt(fields.stage)
  if (code !== 0) text += failure === undefined ? successText(code) : failureText(code, failure)
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`
  text += `,"requestReceivedTimestamp":"${microTime(fields.received)}","stageTimestamp":"${microTime(fields.reached)}"`
  return annotations.length > 0 ? `${text},"annotations":${annotationText(annotations)}}` : `${text}}`
}

function writeRequest({ requestUri, verb, caller, object, sent }: RequestFacts): string {
  const text = `"requestURI":${quoted(requestUri)},"verb":${quoted(verb)},${caller.text}`
  return object === undefined ? text : `${text},"objectRef":${referenceText(object, sent)}`
}

/** Joins the parts into one flat string. A concatenated string would keep all its parts in memory. */
function writeCaller({ user, impersonatedUser, sourceIps, userAgent }: CallerFacts): string {
  const members = [`"user":${user === undefined ? '{}' : userText(user)}`]
  if (impersonatedUser !== undefined) members.push(`"impersonatedUser":${userText(impersonatedUser)}`)
  if (sourceIps.length > 0) members.push(`"sourceIPs":[${sourceIps.map(quoted).join()}]`)
  if (userAgent !== '') members.push(`"userAgent":${quoted(userAgent)}`)
  return members.join()
}

/** Matches text that needs no escaping in JSON. */
const plain = /^[ !#-[\]-~]*$/

function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** The last annotations and their text. Most requests have the same annotations as the previous request. */
const last = { list: [] as readonly string[], text: '{}' }

function annotationText({ list, length }: Annotations): string {
  if (last.list.length === length && last.list.every((part, i) => part === list[i])) return last.text
  const members: string[] = []
  for (let i = 0; i < length; i += 2) members.push(`${quoted(list[i]!)}:${quoted(list[i + 1]!)}`)
  const text = flat`{${members.join()}}`
  if (length > fewAnnotations) return text
  last.list = list.slice(0, length)
  last.text = text
  return text
}

function userText({ name, uid, groups, extra }: User): string {
  return JSON.stringify({
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  })
}

/**
 * Returns the `objectRef` of an event. Names that are missing from the path come from the request body. A single search
 * determines whether any member needs escaping, because searching each member separately would take much longer.
 */
function referenceText(object: AuditedObject, sent: SentNames): string {
  const { plural, group, version, subresource } = object
  const { uid, resourceVersion } = sent
  const namespace = object.namespace || sent.namespace
  const name = object.name || sent.name
  const isPlain = plain.test(plural + namespace + name + uid + group + version + resourceVersion + subresource)
  const value = isPlain ? unchanged : escaped
  let text = `{"resource":"${value(plural)}`
  if (namespace !== '') text += `","namespace":"${value(namespace)}`
  if (name !== '') text += `","name":"${value(name)}`
  if (uid !== '') text += `","uid":"${value(uid)}`
  if (group !== '') text += `","apiGroup":"${value(group)}`
  if (version !== '') text += `","apiVersion":"${value(version)}`
  if (resourceVersion !== '') text += `","resourceVersion":"${value(resourceVersion)}`
  if (subresource !== '') text += `","subresource":"${value(subresource)}`
  return `${text}"}`
}

function unchanged(text: string): string {
  return text
}

/** Returns a text as it appears in a JSON string, without the quotes. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** JSON texts of response statuses that do not denote an error, by status code. */
const successTexts = new Map<number, string>()

function successText(code: number): string {
  let text = successTexts.get(code)
  if (text === undefined) {
    text = flat`,"responseStatus":{"metadata":{},"code":${String(code)}}`
    successTexts.set(code, text)
  }
  return text
}

function failureText(code: number, { status, message, reason }: Status): string {
  let text = `,"responseStatus":{"metadata":{},"status":${quoted(status)}`
  if (message !== undefined) text += `,"message":${quoted(message)}`
  if (reason !== undefined) text += `,"reason":${quoted(reason)}`
  return `${text},"code":${code}}`
}

/**
 * Number of milliseconds whose formatted times are cached. A power of two that exceeds the duration of most requests.
 */
const cachedTimes = 64
const times = new Float64Array(cachedTimes).fill(Number.NaN)
const timeTexts = new Array<string>(cachedTimes).fill('')
const second = { at: Number.NaN, text: '' }

/** Formats a time with six decimals, although the clock provides only three. The texts of recent times are cached. */
function microTime(time: number): string {
  const ms = Math.floor(time)
  const index = ms % cachedTimes
  if (times[index] !== ms) {
    times[index] = ms
    timeTexts[index] = writeTime(ms)
  }
  return timeTexts[index]!
}

function writeTime(ms: number): string {
  const at = Math.floor(ms / 1000)
  if (at !== second.at) {
    second.at = at
    second.text = new Date(at * 1000).toISOString().slice(0, 20)
  }
  return flat`${second.text}${String(ms - at * 1000).padStart(3, '0')}000Z`
}

/** Builds a text that several events use. A concatenated string would be flattened again for each of these events. */
function flat(parts: readonly string[], ...values: readonly string[]): string {
  return parts.map((part, i) => part + (values[i] ?? '')).join('')
}
