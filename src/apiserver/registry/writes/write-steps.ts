/**
 * The steps from an object as it was sent to the object as it is stored, the same for a create and an update. The order
 * of `steps` is the order of execution; after each step others may have a turn, so that a large object holds up nobody.
 */
import { assertCount } from '../../../api/codec/stored.ts'
import { isLarge } from '../../../api/json/large-json.ts'
import { invalidObject } from '../../../api/model/api-error.ts'
import type { FieldError } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { allocate } from '../reservations/reservations.ts'
import { admissionRequest } from './admission-request.ts'
import { type Judged, mayAllocate, prepareByRules, validations } from './kind-rules.ts'
import { keptMetadata, systemMetadata } from './metadata.ts'
import { prepareContext, timed, versionOf, type WriteContext, warn, withManagers, writtenKind } from './write.ts'
import type { WriteConditions } from './write-conditions.ts'

/** One attempt at a write. */
export interface Attempt {
  readonly write: WriteContext
  /** The stored object; undefined where the object is created. */
  readonly previous: ApiObject | undefined
  readonly conditions: WriteConditions
  /** Whether the object's managedFields are up to date; else they are worked out. */
  readonly managed: boolean
  /** The prefix of a generated name, while another name may still be generated. */
  readonly drawnFrom?: string | undefined
}

/** Returns the object to go on with; undefined where it stays as it is. Throws ApiError to refuse it. */
type Step = (attempt: Attempt, object: ApiObject) => ApiObject | undefined | Promise<ApiObject | undefined>

const steps: readonly Step[] = [
  recordManagers,
  admitAndChange,
  prepare,
  allocateValues,
  judge,
  boundValues,
  warnClient,
  admit,
  canonicalize,
]

/** The object as it is to be stored. */
export async function runSteps(attempt: Attempt, object: ApiObject): Promise<ApiObject> {
  let current = object
  for (const step of steps) {
    const next = step(attempt, current)
    current = (next instanceof Promise ? await next : next) ?? current
    const pause = attempt.write.pace.yieldIfDue()
    if (pause !== undefined) await pause
  }
  return current
}

function recordManagers({ write, previous, managed }: Attempt, object: ApiObject) {
  return managed ? undefined : withManagers(write, previous ?? write.resource.empty, object)
}

/** Admission may change the object, but has no more right to what the server decides than clients have. */
async function admitAndChange(attempt: Attempt, object: ApiObject): Promise<ApiObject | undefined> {
  const { write, previous, drawnFrom } = attempt
  const changed = await timed(write, 'admission', write.admission.mutate(requestOf(attempt, object, drawnFrom)))
  if (changed === undefined || changed === object) return undefined
  return previous === undefined ? changed : withKeptMetadata(write, changed, previous)
}

/** The next object with the metadata that a write cannot change. */
export function withKeptMetadata({ namespace }: WriteContext, next: ApiObject, previous: ApiObject): ApiObject {
  const metadata = keptMetadata(next.metadata, previous.metadata)
  if (namespace === '') delete metadata.namespace
  else metadata.namespace = namespace
  return { ...next, metadata }
}

function prepare(attempt: Attempt, sent: ApiObject): ApiObject {
  const { write, previous } = attempt
  const metadata = previous === undefined ? systemMetadata(sent.metadata, write.resource.time()) : { ...sent.metadata }
  const object = { ...sent, metadata }
  prepareByRules(judged(attempt, object), prepareContext(write))
  return object
}

function allocateValues({ write, previous }: Attempt, object: ApiObject) {
  return mayAllocate(write.resource, ruleContext(write)) ? allocate(write.resource, object, previous) : undefined
}

async function judge(attempt: Attempt, object: ApiObject): Promise<undefined> {
  const { write } = attempt
  const found = await faultsOf(attempt, object)
  const faults = write.own && found.length > 0 ? await newFaults(attempt, found) : found
  if (faults.length > 0) throw invalidObject(writtenKind(write), object.metadata.name ?? '', faults)
}

/**
 * The server's own writes go on with whatever is stored: they fail on none of the faults that the stored object has
 * already, which somebody could store through a sub-resource, or before there was a rule against it.
 */
async function newFaults(attempt: Attempt, found: readonly FieldError[]): Promise<readonly FieldError[]> {
  const { previous } = attempt
  if (previous === undefined) return found
  const idOf = ({ fault, path, text }: FieldError) => JSON.stringify([fault, path, text])
  const known = new Set((await faultsOf(attempt, previous)).map(idOf))
  return found.filter((fault) => !known.has(idOf(fault)))
}

async function faultsOf(attempt: Attempt, object: ApiObject): Promise<FieldError[]> {
  const { write } = attempt
  const faults: FieldError[] = []
  for (const check of validations(judged(attempt, object), ruleContext(write))) {
    const found = check(faults.length === 0) ?? []
    for (const fault of 'next' in found ? await write.pace.run(found) : found) faults.push(fault)
    const pause = write.pace.yieldIfDue()
    if (pause !== undefined) await pause
  }
  const context = { ...ruleContext(write), pace: write.pace, isSound: faults.length === 0 }
  const more = await write.resource.kind.rules.judge?.(object, attempt.previous, context)
  return more === undefined ? faults : [...faults, ...more]
}

/** What the server adds to an object of its own is let through: it must be able to mend one that is at the limit. */
function boundValues({ write }: Attempt, object: ApiObject): Promise<undefined> | undefined {
  if (write.own || !isLarge(asJson(object))) return undefined
  return write.pace.run(assertCount(object)).then(() => undefined)
}

function warnClient({ write, previous }: Attempt, object: ApiObject): undefined {
  warn(write, object, previous)
}

async function admit(attempt: Attempt, object: ApiObject): Promise<undefined> {
  const { write } = attempt
  await timed(write, 'admission', write.admission.validate(requestOf(attempt, object)))
}

function canonicalize({ write }: Attempt, object: ApiObject): undefined {
  write.resource.kind.rules.canonicalize?.(object)
}

function judged({ write, previous }: Attempt, object: ApiObject): Judged {
  return { kind: write.resource.kind, object, previous }
}

function ruleContext(write: WriteContext) {
  return { ...versionOf(write).context, subresource: write.subresource }
}

function requestOf({ write, previous, conditions }: Attempt, object: ApiObject, drawnFrom?: string) {
  const operation = previous === undefined ? 'CREATE' : 'UPDATE'
  const name = (previous ?? object).metadata.name ?? ''
  return admissionRequest(write, { operation, name, object, oldObject: previous, conditions, drawnFrom })
}
