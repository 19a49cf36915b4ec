/**
 * An audit event (`audit.<vendor>/v1`, kind `Event`): what is told of one request at one stage. Its text is written when
 * a sink first asks for it, and shared by all sinks. Sinks keep texts or bytes, never events: with those they would keep
 * all that is known of a request.
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

/** What is known of a request before it is answered. */
export interface RequestFacts {
  readonly apiVersion: string
  readonly level: Level
  readonly auditId: string
  readonly requestUri: string
  readonly verb: string
  readonly caller: AuditedCaller
  readonly objectRef: ObjectReference | undefined
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
      const { apiVersion, level, auditId } = this.facts
      this.#beforeStage = `{"kind":"Event","apiVersion":"${apiVersion}","level":"${level}","auditID":${quoted(auditId)},"stage":"`
      this.#afterStage = `",${writeRequest(this.facts)}`
    }
    return this.#beforeStage + stage + this.#afterStage
  }
}

/** What an event is made of. Bodies are JSON text already. */
export interface EventFields {
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

/** An event, as sinks see it. */
export interface AuditEvent {
  /** One line of JSON, without a newline; written when first asked for. */
  readonly text: string
  /** The text without the bodies, for sinks that bound an event. */
  shortened(): string
  /** Which sink takes it may depend on it. */
  readonly stage: Stage
}

/** The event, in the order of fields that readers of kube-apiserver's log know. */
export function eventOf(fields: EventFields, keyDomain: string): AuditEvent {
  return new UnwrittenEvent(fields, keyDomain)
}

/** Marks an event whose bodies were left out because they are too long. */
const truncated = 'truncated'

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

  get text(): string {
    this.#text ??= write(this.#fields)
    return this.#text
  }

  shortened(): string {
    const annotations = new Map([...this.#fields.annotations, [`audit.${this.#keyDomain}/${truncated}`, 'true']])
    const noBodies = { requestObject: undefined, responseObject: undefined }
    return write({ ...this.#fields, ...noBodies, annotations })
  }
}

/** Put together by hand: with every request at this level it is written twice for each. */
function write(fields: EventFields): string {
  const { responseStatus, requestObject, responseObject, annotations } = fields
  let text = fields.request.textAt(fields.stage)
  if (responseStatus !== undefined) text += `,"responseStatus":${statusText(responseStatus)}`
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`
  text += `,"requestReceivedTimestamp":"${microTime(fields.received)}","stageTimestamp":"${microTime(fields.reached)}"`
  if (annotations.size > 0) text += `,"annotations":${objectText(annotations)}`
  return `${text}}`
}

function writeRequest({ requestUri, verb, caller, objectRef }: RequestFacts): string {
  const text = `"requestURI":${quoted(requestUri)},"verb":${quoted(verb)},${caller.text}`
  return objectRef === undefined ? text : `${text},"objectRef":${referenceText(objectRef)}`
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

/** An object of these members. That nothing has to be escaped is looked up once for all of them. */
function objectText(members: Iterable<readonly [key: string, value: string]>): string {
  let text = ''
  let parts = ''
  for (const [key, value] of members) {
    text += text === '' ? `"${key}":"${value}"` : `,"${key}":"${value}"`
    parts += key + value
  }
  return plain.test(parts) ? `{${text}}` : JSON.stringify(Object.fromEntries(members))
}

function userText({ name, uid, groups, extra }: User): string {
  return JSON.stringify({
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  })
}

/** Empty parts are left out. */
function referenceText(reference: ObjectReference): string {
  const members: [string, string][] = []
  for (const key of referenceKeys) if (reference[key] !== '') members.push([key, reference[key]])
  return objectText(members)
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

function statusText({ code, status, reason, message }: ResponseStatus): string {
  let text = '{"metadata":{}'
  if (status !== undefined) text += `,"status":${quoted(status)}`
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
