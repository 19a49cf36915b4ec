/**
 * An audit event (`audit.<vendor>/v1`, kind `Event`): what is told of one request at one stage. Its text is written when
 * a sink first asks for it, and shared by all sinks: most events are only remembered for a while, and never read.
 */
import type { User } from '../model/user.ts'
import type { Level, Stage } from './policy.ts'

/** The object that a request is about. */
export interface ObjectReference {
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly resourceVersion: string
  readonly subresource: string
}

/** How the request was answered; the words are there where it failed. */
export interface ResponseStatus {
  readonly code: number
  readonly status?: string | undefined
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

/** What is known of a request before it is answered. */
export interface RequestFacts {
  readonly requestUri: string
  readonly verb: string
  readonly user: User | undefined
  readonly impersonatedUser: User | undefined
  readonly sourceIps: readonly string[]
  readonly userAgent: string
  readonly objectRef: ObjectReference | undefined
}

/** These facts as a part of events: written once, as the events of a request mostly share them. */
export class AuditedRequest {
  readonly facts: RequestFacts
  readonly size: number
  #text: string | undefined

  constructor(facts: RequestFacts) {
    const { requestUri, userAgent, user, impersonatedUser } = facts
    this.facts = facts
    this.size = requestUri.length + userAgent.length + sizeOfUser(user) + sizeOfUser(impersonatedUser)
  }

  /** The members of the event, without braces. */
  get text(): string {
    this.#text ??= writeFacts(this.facts)
    return this.#text
  }
}

/** What an event is made of. Bodies are JSON text already. */
export interface EventFields {
  readonly apiVersion: string
  readonly level: Level
  readonly auditId: string
  readonly stage: Stage
  readonly request: AuditedRequest
  readonly responseStatus: ResponseStatus | undefined
  readonly requestObject: string | undefined
  readonly responseObject: string | undefined
  /** Milliseconds since 1970. */
  readonly received: number
  readonly reached: number
  readonly annotations: ReadonlyMap<string, string>
}

/** An event, and what recent events are found by. */
export interface AuditEvent {
  /** One line of JSON, without a newline; written when first asked for. */
  readonly text: string
  /** About how long the text is: everything that a client can make long is counted. */
  readonly size: number
  /** The text without the bodies, for sinks that bound an event. */
  shortened(): string
  /** Which sink takes it may depend on it. */
  readonly stage: Stage
  readonly auditId: string
}

/** The event, in the order of fields that readers of kube-apiserver's log know. */
export function eventOf(fields: EventFields, keyDomain: string): AuditEvent {
  return new UnwrittenEvent(fields, keyDomain)
}

/** Marks an event whose bodies were left out because they are too long. */
const truncated = 'truncated'

class UnwrittenEvent implements AuditEvent {
  readonly stage: Stage
  readonly auditId: string
  readonly size: number
  readonly #fields: EventFields
  readonly #keyDomain: string
  #text: string | undefined
  #shortened: string | undefined

  constructor(fields: EventFields, keyDomain: string) {
    this.stage = fields.stage
    this.auditId = fields.auditId
    this.size = sizeOf(fields)
    this.#fields = fields
    this.#keyDomain = keyDomain
  }

  get text(): string {
    this.#text ??= write(this.#fields)
    return this.#text
  }

  shortened(): string {
    const annotations = new Map([...this.#fields.annotations, [`audit.${this.#keyDomain}/${truncated}`, 'true']])
    const noBodies = { requestObject: undefined, responseObject: undefined }
    this.#shortened ??= write({ ...this.#fields, ...noBodies, annotations })
    return this.#shortened
  }
}

/** The names of all fields, the times and other values that are always short. */
const sizeOfRest = 600

function sizeOf(fields: EventFields): number {
  const { request, requestObject, responseObject, responseStatus } = fields
  let size = sizeOfRest + request.size + (requestObject?.length ?? 0) + (responseObject?.length ?? 0)
  for (const [key, value] of fields.annotations) size += key.length + value.length
  return size + (responseStatus?.message ?? '').length
}

function sizeOfUser(user: User | undefined): number {
  if (user === undefined) return 0
  let size = user.name.length
  for (const group of user.groups) size += group.length
  for (const [key, values] of user.extra) {
    size += key.length
    for (const value of values) size += value.length
  }
  return size
}

/** Put together by hand: with every request at this level it is written twice for each. */
function write(fields: EventFields): string {
  const { responseStatus, requestObject, responseObject, annotations } = fields
  let text = `{"kind":"Event","apiVersion":${quoted(fields.apiVersion)},"level":"${fields.level}"`
  text += `,"auditID":${quoted(fields.auditId)},"stage":"${fields.stage}",${fields.request.text}`
  if (responseStatus !== undefined) text += `,"responseStatus":${statusText(responseStatus)}`
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`
  text += `,"requestReceivedTimestamp":"${microTime(fields.received)}","stageTimestamp":"${microTime(fields.reached)}"`
  if (annotations.size > 0) text += `,"annotations":${annotationsText(annotations)}`
  return `${text}}`
}

function writeFacts(facts: RequestFacts): string {
  const { user, impersonatedUser, sourceIps, userAgent, objectRef } = facts
  let text = `"requestURI":${quoted(facts.requestUri)},"verb":${quoted(facts.verb)}`
  text += `,"user":${user === undefined ? '{}' : userText(user)}`
  if (impersonatedUser !== undefined) text += `,"impersonatedUser":${userText(impersonatedUser)}`
  if (sourceIps.length > 0) text += `,"sourceIPs":[${sourceIps.map(quoted).join()}]`
  if (userAgent !== '') text += `,"userAgent":${quoted(userAgent)}`
  if (objectRef !== undefined) text += `,"objectRef":${referenceText(objectRef)}`
  return text
}

/** Nothing in such a text has to be escaped. */
const plain = /^[ !#-[\]-~]*$/

function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

function annotationsText(annotations: ReadonlyMap<string, string>): string {
  let text = ''
  for (const [key, value] of annotations) text += `${text === '' ? '' : ','}${quoted(key)}:${quoted(value)}`
  return `{${text}}`
}

/** By user: one object for all requests with the same credentials, for as long as these are remembered. */
const userTexts = new WeakMap<User, string>()

function userText(user: User): string {
  const known = userTexts.get(user)
  if (known !== undefined) return known
  const { name, uid, groups, extra } = user
  const text = JSON.stringify({
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  })
  userTexts.set(user, text)
  return text
}

const referenceKeys: readonly (keyof ObjectReference)[] = [
  'resource',
  'namespace',
  'name',
  'uid',
  'apiGroup',
  'apiVersion',
  'resourceVersion',
  'subresource',
]

/** Empty parts are left out. */
function referenceText(reference: ObjectReference): string {
  let text = ''
  for (const key of referenceKeys)
    if (reference[key] !== '') text += `${text === '' ? '' : ','}"${key}":${quoted(reference[key])}`
  return `{${text}}`
}

function statusText({ code, status, reason, message }: ResponseStatus): string {
  let text = '{"metadata":{}'
  if (status !== undefined) text += `,"status":${quoted(status)}`
  if (message !== undefined) text += `,"message":${quoted(message)}`
  if (reason !== undefined) text += `,"reason":${quoted(reason)}`
  return `${text},"code":${code}}`
}

const second = { at: Number.NaN, text: '' }

/** With six decimals, of which the clock knows three. Each second is formatted once. */
function microTime(ms: number): string {
  const at = Math.floor(ms / 1000)
  if (at !== second.at) Object.assign(second, { at, text: new Date(at * 1000).toISOString().slice(0, 20) })
  return `${second.text}${String(Math.floor(ms - at * 1000)).padStart(3, '0')}000Z`
}
