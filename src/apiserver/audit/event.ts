/**
 * An audit event (`audit.<vendor>/v1`, kind `Event`) describes one request at one stage. The JSON text of an event is
 * created when a sink first needs it and is shared by all sinks. Parts that several events have in common are
 * serialized once. Sinks should store text or bytes rather than events, because an event keeps the whole record of its
 * request in memory.
 */
import type { Status } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Level, Stage } from './policy.ts'

/** The resource that an audited request's path names. */
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

/** Returns the JSON prefix that all events with this audit level share. */
export function beginningOf(apiVersion: string, level: Level): string {
  return `{"kind":"Event","apiVersion":"${apiVersion}","level":"${level}","auditID":`
}

/** The facts about an audited request that are known before its response. */
export interface RequestFacts {
  /** The JSON prefix of every event about this request, as returned by `beginningOf`. */
  readonly beginning: string
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
  #beforeStage = ''
  #afterStage = ''

  constructor(facts: RequestFacts) {
    this.facts = facts
  }

  /** Returns the JSON of an event from its start up to the object reference. */
  textAt(stage: Stage): string {
    if (this.#beforeStage === '') {
      const { beginning, auditId } = this.facts
      this.#beforeStage = `${beginning}${quoted(auditId)},"stage":"`
      this.#afterStage = `",${writeRequest(this.facts)}`
    }
    return this.#beforeStage + stage + this.#afterStage
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
 * The annotations that a request had at the time of an event. The list alternates keys and values, and may have grown
 * since then.
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
 * Initial size of the annotations. It is sufficient for most requests, which have annotations only for authorization
 * and deprecated versions.
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
  if (code !== 0) text += `,"responseStatus":${statusText(code, failure)}`
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

function annotationText({ list, length }: Annotations): string {
  let text = '{'
  for (let i = 0; i < length; i += 2) text += `${i === 0 ? '' : ','}${quoted(list[i]!)}:${quoted(list[i + 1]!)}`
  return `${text}}`
}

function userText({ name, uid, groups, extra }: User): string {
  return JSON.stringify({
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  })
}

/** Returns the `objectRef` of an event. Names that are missing from the path come from the request body. */
function referenceText(object: AuditedObject, sent: SentNames): string {
  const text =
    member('namespace', object.namespace || sent.namespace) +
    member('name', object.name || sent.name) +
    member('uid', sent.uid) +
    member('apiGroup', object.group) +
    member('apiVersion', object.version) +
    member('resourceVersion', sent.resourceVersion) +
    member('subresource', object.subresource)
  return `{"resource":${quoted(object.plural)}${text}}`
}

/** Returns a member of a JSON object with a leading comma, or '' if the value is empty. */
function member(key: string, value: string): string {
  return value === '' ? '' : `,"${key}":${quoted(value)}`
}

function statusText(code: number, failure: Status | undefined): string {
  if (failure === undefined) return `{"metadata":{},"code":${code}}`
  const { status, message, reason } = failure
  let text = `{"metadata":{},"status":${quoted(status)}`
  if (message !== undefined) text += `,"message":${quoted(message)}`
  if (reason !== undefined) text += `,"reason":${quoted(reason)}`
  return `${text},"code":${code}}`
}

const second = { at: Number.NaN, text: '' }
const millisecond = { at: Number.NaN, text: '' }

/**
 * Formats a time with six decimals, although the clock provides only three. The texts for the last second and
 * millisecond are cached.
 */
function microTime(time: number): string {
  const ms = Math.floor(time)
  if (ms === millisecond.at) return millisecond.text
  const at = Math.floor(ms / 1000)
  if (at !== second.at) {
    second.at = at
    second.text = new Date(at * 1000).toISOString().slice(0, 20)
  }
  millisecond.at = ms
  millisecond.text = `${second.text}${String(ms - at * 1000).padStart(3, '0')}000Z`
  return millisecond.text
}
