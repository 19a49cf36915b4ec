/**
 * An audit event (`audit.<vendor>/v1`, kind `Event`): what is told of one request at one stage. Its text is put together
 * by hand when a sink first asks for it, and shared by all sinks; what several events have in common is written once. Sinks
 * keep texts or bytes and but a few events: with those they keep all that is known of a request.
 */
import type { Status } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Level, Stage } from './policy.ts'

/** What a request asks for, as its path says. */
export interface AuditedObject {
  readonly plural: string
  readonly namespace: string
  readonly name: string
  /** As on the wire; '' is the core group. */
  readonly group: string
  readonly version: string
  readonly subresource: string
}

/** What the sent object says of itself. */
export interface SentNames {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
}

/** Who sends a request, and from where. */
export interface CallerFacts {
  readonly user: User | undefined
  readonly impersonatedUser: User | undefined
  readonly sourceIps: readonly string[]
  readonly userAgent: string
}

/** A caller as a part of events: written once, as all requests of a connection mostly have the same. */
export class AuditedCaller {
  readonly facts: CallerFacts
  #text: string | undefined

  constructor(facts: CallerFacts) {
    this.facts = facts
  }

  /** The members of the event, without braces. */
  get text(): string {
    this.#text ??= writeCaller(this.facts)
    return this.#text
  }
}

/** How the events of one level begin. */
export function beginningOf(apiVersion: string, level: Level): string {
  return `{"kind":"Event","apiVersion":"${apiVersion}","level":"${level}","auditID":`
}

/** What is known of a request before it is answered. */
export interface RequestFacts {
  /** As `beginningOf` writes it. */
  readonly beginning: string
  readonly auditId: string
  readonly requestUri: string
  readonly verb: string
  readonly caller: AuditedCaller
  /** Undefined for a path that is not a resource. */
  readonly object: AuditedObject | undefined
  readonly sent: SentNames
}

/** These facts as parts of events: written once, as the events of a request mostly share them. */
export class AuditedRequest {
  readonly facts: RequestFacts
  #beforeStage = ''
  #afterStage = ''

  constructor(facts: RequestFacts) {
    this.facts = facts
  }

  /** The beginning of an event at this stage, up to the object that it is about. */
  textAt(stage: Stage): string {
    if (this.#beforeStage === '') {
      const { beginning, auditId } = this.facts
      this.#beforeStage = `${beginning}${quoted(auditId)},"stage":"`
      this.#afterStage = `",${writeRequest(this.facts)}`
    }
    return this.#beforeStage + stage + this.#afterStage
  }
}

/** What an event is made of. Bodies are JSON text already. */
export interface EventFields {
  readonly stage: Stage
  readonly request: AuditedRequest
  /** The code of the answer; 0 where there is none yet. */
  readonly code: number
  /** What the answer says, where it is a failure. */
  readonly failure: Status | undefined
  readonly requestObject: string | undefined
  readonly responseObject: string | undefined
  /** Milliseconds since 1970. */
  readonly received: number
  readonly reached: number
  readonly annotations: Annotations
}

/** The first so many keys and values, in turn, of a list that may grow. */
export interface Annotations {
  readonly list: readonly string[]
  readonly length: number
}

/** An event, as sinks see it. */
export interface AuditEvent {
  /** One line of JSON, without a newline; written when first asked for. */
  readonly text: string
  /** The text without the bodies, for sinks that bound an event. */
  shortened(): string
  /** Which sink takes it may depend on it. */
  readonly stage: Stage
  /** Whether its text may be longer than some kilobytes: then it is written at once, and not kept as it is. */
  readonly isLong: boolean
}

/** The event, in the order of fields that readers of kube-apiserver's log know. */
export function eventOf(fields: EventFields, keyDomain: string): AuditEvent {
  return new UnwrittenEvent(fields, keyDomain)
}

/** Marks an event whose bodies were left out because they are too long. */
const truncated = 'truncated'

/** Those of authorization and of a version that is deprecated: all that most requests have. */
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

/** Joined, so that it is one piece, and not many, each time that it becomes a part of an event. */
function writeCaller({ user, impersonatedUser, sourceIps, userAgent }: CallerFacts): string {
  const members = [`"user":${user === undefined ? '{}' : userText(user)}`]
  if (impersonatedUser !== undefined) members.push(`"impersonatedUser":${userText(impersonatedUser)}`)
  if (sourceIps.length > 0) members.push(`"sourceIPs":[${sourceIps.map(quoted).join()}]`)
  if (userAgent !== '') members.push(`"userAgent":${quoted(userAgent)}`)
  return members.join()
}

/** Nothing in such a text has to be escaped. */
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

/** What the path does not say the sent object may. */
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

/** Empty ones are left out. */
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

/** With six decimals, of which the clock knows three. Each second is formatted once, and so is each millisecond. */
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
