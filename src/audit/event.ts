/**
 * An audit event (`audit.<vendor>/v1`, kind `Event`): what is told of one request at one stage. It is written once, as
 * text, and every sink shares that.
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

/** What an event is made of. Bodies are JSON text already. */
export interface EventFields {
  readonly apiVersion: string
  readonly level: Level
  readonly auditId: string
  readonly stage: Stage
  readonly requestUri: string
  readonly verb: string
  readonly user: User | undefined
  readonly impersonatedUser: User | undefined
  readonly sourceIps: readonly string[]
  readonly userAgent: string
  readonly objectRef: ObjectReference | undefined
  readonly responseStatus: ResponseStatus | undefined
  readonly requestObject: string | undefined
  readonly responseObject: string | undefined
  /** Milliseconds since 1970. */
  readonly received: number
  readonly reached: number
  readonly annotations: ReadonlyMap<string, string>
}

/** An event as it is written, and what recent events are found by. */
export interface AuditEvent {
  /** One line of JSON, without a newline. */
  readonly text: string
  /** The same without the bodies, for sinks that bound an event; made when first asked for. */
  readonly shortened: () => string
  /** Which sink takes it may depend on it. */
  readonly stage: Stage
  readonly auditId: string
}

/** Marks an event whose bodies were left out because they are too long. */
const truncated = 'truncated'

/** The event, in the order of fields that readers of kube-apiserver's log know. */
export function eventOf(fields: EventFields, keyDomain: string): AuditEvent {
  const { stage, auditId } = fields
  let short: string | undefined
  return {
    stage,
    auditId,
    text: write(fields),
    shortened: () => {
      const annotations = new Map([...fields.annotations, [`audit.${keyDomain}/${truncated}`, 'true']])
      short ??= write({ ...fields, requestObject: undefined, responseObject: undefined, annotations })
      return short
    },
  }
}

function write(fields: EventFields): string {
  const { requestObject, responseObject, annotations } = fields
  const head = JSON.stringify({
    kind: 'Event',
    apiVersion: fields.apiVersion,
    level: fields.level,
    auditID: fields.auditId,
    stage: fields.stage,
    requestURI: fields.requestUri,
    verb: fields.verb,
    user: userOf(fields.user),
    ...(fields.impersonatedUser === undefined ? {} : { impersonatedUser: userOf(fields.impersonatedUser) }),
    ...(fields.sourceIps.length === 0 ? {} : { sourceIPs: fields.sourceIps }),
    ...(fields.userAgent === '' ? {} : { userAgent: fields.userAgent }),
    ...(fields.objectRef === undefined ? {} : { objectRef: said(fields.objectRef) }),
    ...(fields.responseStatus === undefined ? {} : { responseStatus: statusOf(fields.responseStatus) }),
  })
  const bodies = [
    ...(requestObject === undefined ? [] : [`"requestObject":${requestObject}`]),
    ...(responseObject === undefined ? [] : [`"responseObject":${responseObject}`]),
  ]
  const tail = JSON.stringify({
    requestReceivedTimestamp: microTime(fields.received),
    stageTimestamp: microTime(fields.reached),
    ...(annotations.size === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
  })
  return [head.slice(0, -1), ...bodies, tail.slice(1)].join(',')
}

function userOf(user: User | undefined) {
  if (user === undefined) return {}
  const { name, uid, groups, extra } = user
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  }
}

/** Empty parts are left out. */
function said(reference: ObjectReference) {
  return Object.fromEntries(Object.entries(reference).filter(([, value]) => value !== ''))
}

function statusOf({ code, status, reason, message }: ResponseStatus) {
  return {
    metadata: {},
    ...(status === undefined ? {} : { status }),
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined ? {} : { reason }),
    code,
  }
}

/** With six decimals, of which the clock knows three. */
function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`
}
