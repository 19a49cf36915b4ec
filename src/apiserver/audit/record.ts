/**
 * What is known of one request for the audit, gathered while it is handled. There is none for a request that the policy
 * does not record, so that those cost nothing.
 */
import { parseOwnJson, stringifyJson } from '../../api/codec/json.ts'
import { isObject, type Json, own } from '../../api/json/json.ts'
import type { Status } from '../../api/model/api-error.ts'
import type { AuditedRequest, SentNames } from './event.ts'
import type { Decision, Stage } from './policy.ts'
import { levels } from './policy.ts'
import { holdsSecrets, type Place, withoutSecrets } from './redact.ts'

/** Beyond this a body is not recorded: an event is to be read by people and must fit into a line. */
const maxBody = 1024 * 1024
const maxAnnotations = 200
const maxAnnotation = 20_000

const ofRequest = levels.indexOf('Request')
const ofResponse = levels.indexOf('RequestResponse')

const nothingSent: SentNames = { name: '', namespace: '', uid: '', resourceVersion: '' }

/** What those who handle a request may add to its record. */
export interface AuditNotes {
  /** Notes something under a key; the first value counts, as in kube-apiserver. */
  annotate(key: string, value: string): void
  /** The same for a text that repeats what was sent: only where bodies are recorded and hold no secrets. */
  annotateBody(key: string, value: string): void
}

/** The record of one request. */
export class AuditRecord implements AuditNotes {
  readonly decision: Decision
  readonly auditId: string
  /** The answer's Status, where it is a failure. */
  failure: Status | undefined
  requestObject: string | undefined
  responseObject: string | undefined
  /** Keys and values in turn: most requests have few. */
  readonly annotations: string[] = []
  /** When the request arrived, by the wall clock, in milliseconds since 1970; set with the first event. */
  received: number | undefined
  /** What was told of the request, for as long as that holds. */
  request: AuditedRequest | undefined
  /** What the sent object says of itself where the path does not. */
  sent = nothingSent
  readonly #place: Place | undefined
  /** Where its level stands among the levels. */
  readonly #rank: number

  /** `place` is undefined for paths that are not resources. */
  constructor(decision: Decision, auditId: string, place: Place | undefined) {
    this.decision = decision
    this.auditId = auditId
    this.#place = place
    this.#rank = levels.indexOf(decision.level)
  }

  /** Whether something is told at this stage. */
  tells(stage: Stage): boolean {
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

  /** The body that was sent; `size` in bytes. */
  hasSent(value: Json, size: number): void {
    const metadata = isObject(value) ? own(value, 'metadata') : undefined
    if (isObject(metadata)) {
      this.request = undefined
      const textOf = (key: string) => {
        const text = own(metadata, key)
        return typeof text === 'string' ? text.slice(0, 300) : ''
      }
      this.sent = {
        ...{ name: textOf('name'), namespace: textOf('namespace') },
        ...{ uid: textOf('uid'), resourceVersion: textOf('resourceVersion') },
      }
    }
    if (this.#rank >= ofRequest && size <= maxBody) this.requestObject = this.#text(value)
  }

  /** The body of the answer, as JSON. */
  hasAnswered(json: Buffer): void {
    if (this.#rank < ofResponse || json.length > maxBody) return
    const asItIs = !this.decision.omitManagedFields && (this.#place === undefined || !holdsSecrets(this.#place))
    this.responseObject = asItIs ? json.toString().trimEnd() : this.#text(parseOwnJson(json))
  }

  #text(value: Json): string {
    const told = this.#place === undefined ? value : withoutSecrets(value, this.#place)
    return stringifyJson(this.decision.omitManagedFields ? withoutManagedFields(told) : told)
  }
}

/** Of an object, and of each in a list. */
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
