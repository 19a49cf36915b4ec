/**
 * Writes the objects in files in dependency order: namespaces and custom resource definitions first, then all other
 * objects in the order of the files. The files may also define kinds that the server does not know yet, so unknown
 * kinds are looked up again once the definitions are established. A kind that is still unknown is reported, and the
 * other objects are written.
 */

import { type Subject, subjectOf } from '../arguments/subjects.ts'
import { UnknownKindError } from '../connection/served-types.ts'
import type { Session } from '../connection/session.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { SeveralErrors } from '../program/explain-error.ts'
import { bySubject, inBulk } from './bulk.ts'
import { type Condition, waitFor } from './wait-for.ts'

export type Written = Subject & Manifest

export interface OrderedWork {
  /** Writes one object. Returns the text to print. */
  readonly act: (subject: Written, index: number) => Promise<string>
  /** Past participle of the operation, such as `applied`, for the progress display. */
  readonly done: string
  /** Whether the writes are persistent. If not, the command does not wait for definitions. */
  readonly lasting: boolean
}

/**
 * Writes the objects in dependency order and returns them. If a write fails, continues with the other objects and then
 * throws SeveralErrors.
 */
export async function writeInOrder(
  session: Session,
  manifests: readonly Manifest[],
  { act, done, lasting }: OrderedWork,
): Promise<Written[]> {
  const resolvedManifests = await Promise.all(manifests.map((manifest) => subjectOrUnknown(session, manifest)))
  const first = resolvedManifests.filter((one): one is Written => 'type' in one && comesFirst(one))
  const errors: unknown[] = []
  const write = async (subjects: readonly Written[], before: number) => {
    const work = { ...bySubject, done, act: (one: Written, i: number) => act(one, before + i) }
    await inBulk(session.context, subjects, work).catch((error: unknown) => {
      if (!(error instanceof SeveralErrors)) throw error
      errors.push(...error.errors)
    })
  }
  await write(first, 0)
  const isWaitedFor = lasting && resolvedManifests.some((one) => 'unknown' in one)
  if (isWaitedFor) await untilEstablished(session, first)
  const rest: Written[] = []
  for (const one of resolvedManifests) {
    const resolved = 'unknown' in one && isWaitedFor ? await subjectOrUnknown(session, one.manifest) : one
    if ('unknown' in resolved) errors.push(resolved.unknown)
    else if (!first.includes(resolved)) rest.push(resolved)
  }
  await write(rest, first.length)
  if (errors.length > 0) throw new SeveralErrors(errors)
  return [...first, ...rest]
}

interface Unknown {
  readonly manifest: Manifest
  readonly unknown: UnknownKindError
}

async function subjectOrUnknown(session: Session, manifest: Manifest): Promise<Written | Unknown> {
  try {
    return await subjectOf(session, manifest)
  } catch (error) {
    if (!(error instanceof UnknownKindError)) throw error
    return { manifest, unknown: new UnknownKindError(`${manifest.origin.name}: ${error.message}`) }
  }
}

function comesFirst({ type }: Written): boolean {
  return (type.group === '' && type.kind === 'Namespace') || isDefinition({ type })
}

function isDefinition({ type }: Pick<Subject, 'type'>): boolean {
  return type.group.startsWith('apiextensions.') && type.kind === 'CustomResourceDefinition'
}

const patienceMs = 30_000

const isEstablished: Condition = (object) => {
  const { conditions = [] } =
    (object as { status?: { conditions?: { type?: string; status?: string }[] } })?.status ?? {}
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
}

/**
 * Waits until definitions are established. Skips definitions that the server rejected, because their errors are already
 * reported.
 */
async function untilEstablished(session: Session, subjects: readonly Written[]): Promise<void> {
  const until: Condition = (object) => object === undefined || isEstablished(object)
  for (const subject of subjects.filter(isDefinition)) await waitFor(session, subject, { until, timeoutMs: patienceMs })
  session.types.forget()
}
