/**
 * Collects audit data about one request while the request is handled. Requests that the policy does not record have no
 * audit record and cause no overhead.
 */
import { parseOwnJson, stringifyJson } from '../../api/codec/json.ts'
import { isObject, type Json, own } from '../../api/json/json.ts'
import type { Status } from '../../api/model/api-error.ts'
import type { AuditedRequest, SentNames } from './event.ts'
import type { Decision, Stage } from './policy.ts'
import { levels } from './policy.ts'
import { holdsSecrets, type Place, withoutSecrets } from './redact.ts'

/**
 * Maximum size of a body in bytes. Larger bodies are not recorded, because an event must fit into one readable line.
 */
const maxBody = 1024 * 1024
const maxAnnotations = 200
const maxAnnotation = 20_000

const ofRequest = levels.indexOf('Request')
const ofResponse = levels.indexOf('RequestResponse')

const nothingSent: SentNames = { name: '', namespace: '', uid: '', resourceVersion: '' }

/** Lets request handlers add audit annotations. */
export interface AuditNotes {
  /** Adds an annotation. As in kube-apiserver, a key that already exists keeps its first value. */
  annotate(key: string, value: string): void
  /**
   * Adds an annotation that quotes the request body. Ignored unless the audit level includes bodies and the body
   * contains no secrets.
   */
  annotateBody(key: string, value: string): void
}

/** The audit record of one request. */
export class AuditRecord implements AuditNotes {
  readonly decision: Decision
  readonly auditId: string
  /** Status object of a failed response. */
  failure: Status | undefined
  requestObject: string | undefined
  responseObject: string | undefined
  /** Annotations as alternating keys and values. There are too few annotations for a map to be worthwhile. */
  readonly annotations: string[] = []
  /** Arrival time of the request in milliseconds since 1970. Computed for the first event. */
  received: number | undefined
  /**
   * The cached description of the request. Undefined until the first event, and again whenever the description changes.
   */
  request: AuditedRequest | undefined
  /** Names in the request body, for requests whose path does not name the object. */
  sent = nothingSent
  readonly #place: Place | undefined
  /** The index of the audit level in `levels`. Higher levels record more. */
  readonly #rank: number

  /** Creates a record. `place` is the resource of the request, or undefined for non-resource paths. */
  constructor(decision: Decision, auditId: string, place: Place | undefined) {
    this.decision = decision
    this.auditId = auditId
    this.#place = place
    this.#rank = levels.indexOf(decision.level)
  }

  /** Whether the policy records an event when the request reaches the given stage. */
  records(stage: Stage): boolean {
    const { omitStages } = this.decision
    return omitStages.size === 0 || !omitStages.has(stage)
  }

  annotate(key: string, value: string): void {
    const { annotations } = this
    if (annotations.length >= 2 * maxAnnotations) return
    for (let i = 0; i < annotations.length; i += 2) if (annotations[i] === key) return
    annotations.push(key, value.length > maxAnnotation ? value.slice(0, maxAnnotation) : value)
  }

  annotateBody(key: string, value: string): void {
    if (this.#rank >= ofRequest && (this.#place === undefined || !holdsSecrets(this.#place))) this.annotate(key, value)
  }

  /** Called with the parsed request body and its size in bytes. */
  hasSent(value: Json, size: number): void {
    const metadata = isObject(value) ? own(value, 'metadata') : undefined
    if (isObject(metadata)) {
      this.request = undefined
      const textOf = (key: string) => {
        const text = own(metadata, key)
        return typeof text === 'string' ? text.slice(0, 300) : ''
      }
      this.sent = {
        name: textOf('name'),
        namespace: textOf('namespace'),
        uid: textOf('uid'),
        resourceVersion: textOf('resourceVersion'),
      }
    }
    if (this.#rank >= ofRequest && size <= maxBody) this.requestObject = this.#text(value)
  }

  /** Records the response body, given as JSON. */
  hasAnswered(json: Buffer): void {
    if (this.#rank < ofResponse || json.length > maxBody) return
    const asItIs = !this.decision.omitManagedFields && (this.#place === undefined || !holdsSecrets(this.#place))
    this.responseObject = asItIs ? json.toString().trimEnd() : this.#text(parseOwnJson(json))
  }

  #text(value: Json): string {
    const redactedBody = this.#place === undefined ? value : withoutSecrets(value, this.#place)
    return stringifyJson(this.decision.omitManagedFields ? withoutManagedFields(redactedBody) : redactedBody)
  }
}

/** Returns the object without its managedFields. In a list, removes the managedFields of every item. */
function withoutManagedFields(value: Json): Json {
  if (!isObject(value)) return value
  const items = own(value, 'items')
  const metadata = own(value, 'metadata')
  return {
    ...value,
    ...(isObject(metadata)
      ? { metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== 'managedFields')) }
      : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
  }
}
