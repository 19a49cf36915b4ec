/**
 * Runs the steps that turn a request body into a stored object, for create and update. `steps` lists them in order of
 * execution. Other requests can run after each step, so that a large object does not block the server.
 */
import { assertCount } from '../../../api/codec/stored.ts'
import { isLarge } from '../../../api/json/large-json.ts'
import { invalidObject } from '../../../api/model/api-error.ts'
import type { FieldError } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { allocate } from '../reservations/reservations.ts'
import { admissionRequest } from './admission-request.ts'
import { mayAllocate, type ObjectToValidate, prepareByRules, validations } from './kind-rules.ts'
import { keptMetadata, systemMetadata } from './metadata.ts'
import { prepareContext, timed, versionOf, type WriteContext, warn, withManagers, writtenKind } from './write.ts'
import type { WriteConditions } from './write-conditions.ts'

/** The input for one attempt to write an object. */
export interface Attempt {
  readonly write: WriteContext
  /** The stored object. Undefined for a create. */
  readonly previous: ApiObject | undefined
  readonly conditions: WriteConditions
  /** Whether managedFields are already up to date. If false, they are computed from the changes. */
  readonly managed: boolean
  /**
   * The `generateName` prefix of a generated name. Undefined if the client chose the name, in which case no other name
   * can be tried.
   */
  readonly drawnFrom?: string | undefined
}

/**
 * A step of a write. Returns the changed object, or undefined if the object is unchanged. Throws ApiError to reject the
 * write.
 */
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

/** Runs all steps. Returns the object to store. */
export async function runSteps(attempt: Attempt, object: ApiObject): Promise<ApiObject> {
  let current = object
  for (const step of steps) {
    const next = step(attempt, current)
    current = (next instanceof Promise ? await next : next) ?? current
    const pause = attempt.write.timeSlice.yieldIfDue()
    if (pause !== undefined) await pause
  }
  return current
}

function recordManagers({ write, previous, managed }: Attempt, object: ApiObject) {
  return managed ? undefined : withManagers(write, previous ?? write.resource.empty, object)
}

/** Runs mutating admission. Admission plugins cannot change metadata that the server controls. */
async function admitAndChange(attempt: Attempt, object: ApiObject): Promise<ApiObject | undefined> {
  const { write, previous, drawnFrom } = attempt
  const changed = await timed(write, 'admission', write.admission.mutate(requestOf(attempt, object, drawnFrom)))
  if (changed === undefined || changed === object) return undefined
  return previous === undefined ? changed : withKeptMetadata(write, changed, previous)
}

/** Returns the object with the stored values of the metadata that an update cannot change. */
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
  const allFaults = await faultsOf(attempt, object)
  const faults = write.own && allFaults.length > 0 ? await newFaults(attempt, allFaults) : allFaults
  if (faults.length > 0) throw invalidObject(writtenKind(write), object.metadata.name ?? '', faults)
}

/**
 * Returns the errors that the stored object does not already have. A write by the server itself must not fail because
 * of existing errors, which older validation rules may have allowed.
 */
async function newFaults(attempt: Attempt, allFaults: readonly FieldError[]): Promise<readonly FieldError[]> {
  const { previous } = attempt
  if (previous === undefined) return allFaults
  const idOf = ({ fault, path, text }: FieldError) => JSON.stringify([fault, path, text])
  const previousFaults = new Set((await faultsOf(attempt, previous)).map(idOf))
  return allFaults.filter((fault) => !previousFaults.has(idOf(fault)))
}

async function faultsOf(attempt: Attempt, object: ApiObject): Promise<FieldError[]> {
  const { write } = attempt
  const faults: FieldError[] = []
  for (const check of validations(judged(attempt, object), ruleContext(write))) {
    const result = check(faults.length === 0) ?? []
    for (const fault of 'next' in result ? await write.timeSlice.run(result) : result) faults.push(fault)
    const pause = write.timeSlice.yieldIfDue()
    if (pause !== undefined) await pause
  }
  const context = { ...ruleContext(write), timeSlice: write.timeSlice, faults, warn: write.warn }
  const more = await write.resource.kind.rules.judge?.(object, attempt.previous, context)
  return more === undefined ? faults : [...faults, ...more]
}

/**
 * Throws an error if the object has too many values. Writes by the server itself are exempt, so that the server can
 * repair an object at the limit.
 */
function boundValues({ write }: Attempt, object: ApiObject): Promise<undefined> | undefined {
  if (write.own || !isLarge(asJson(object))) return undefined
  return write.timeSlice.run(assertCount(object)).then(() => undefined)
}

function warnClient({ write, previous }: Attempt, object: ApiObject): undefined {
  warn(write, object, previous)
}

async function admit(attempt: Attempt, object: ApiObject): Promise<undefined> {
  const { write } = attempt
  await timed(write, 'admission', write.admission.validate(requestOf(attempt, object)))
}

function canonicalize({ write }: Attempt, object: ApiObject): undefined {
  write.resource.kind.rules.canonicalize?.(object, ruleContext(write))
}

function judged({ write, previous }: Attempt, object: ApiObject): ObjectToValidate {
  return { kind: write.resource.kind, object, previous }
}

function ruleContext(write: WriteContext) {
  const { resource, namespace, subresource } = write
  const namespaceLabels = () => resource.namespaceLabels?.(namespace)
  return { ...versionOf(write).context, subresource, namespaceLabels }
}

function requestOf({ write, previous, conditions }: Attempt, object: ApiObject, drawnFrom?: string) {
  const operation = previous === undefined ? 'CREATE' : 'UPDATE'
  const name = (previous ?? object).metadata.name ?? ''
  return admissionRequest(write, { operation, name, object, oldObject: previous, conditions, drawnFrom })
}
