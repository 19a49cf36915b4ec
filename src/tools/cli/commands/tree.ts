/**
 * Implements `orchctl tree`, which shows an object with its owners above and its dependents below, each with its state.
 * To find dependents by their owner references, the command lists the metadata of all listable types once.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { humanDuration } from '../../../base/time/human-duration.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { isNotFound, StatusError } from '../../../client/requests/status-error.ts'
import { readTargetWords } from '../arguments/targets.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { singularName } from '../connection/find-type.ts'
import { objectNameIn, type Session } from '../connection/session.ts'
import { meaningOf, type Painter, painterFor } from '../printers/colours.ts'
import { Columns, type Paint } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand } from '../program/command.ts'

export const treeCommand = defineCommand({
  name: 'tree',
  forms: ['TYPE NAME [flags]', 'TYPE/NAME [flags]'],
  about: 'Show an object with its owners above and its dependents below, each with its state.',
  examples: ['orchctl tree deployment web', 'orchctl tree job/nightly -n shop'],
  flags: connectionFlags,
  run: async (context, { options, words }) => {
    const [target, ...more] = readTargetWords(words)
    if (target?.name === undefined || more.length > 0)
      throw new UsageError('specify one object: TYPE NAME or TYPE/NAME')
    await withTypedSession(context, options, async (session) => {
      const type = await session.types.typeNamed(target.type)
      const object = await session.client.get(type, objectNameIn(session, type, target.name!), {
        signal: context.signal,
      })
      const { objects, unread } = await allObjects(session, type.namespaced ? session.namespace : undefined)
      const root = { type, object }
      const rows = [...(await ownersOf(session, root)).map((one) => lineOf(one, '')), ...branchesOf(root, objects)]
      const painted = painterFor(context, 'out')
      const paint = painted === undefined ? undefined : statesPainted(painted)
      context.out(new Columns(paint).lines([['OBJECT', 'STATE', 'AGE'], ...rows]))
      if (unread.length > 0) context.err(`skipped types that cannot be listed: ${unread.join(', ')}\n`)
    })
  },
})

interface Found {
  readonly type: DiscoveredType
  readonly object: ApiObject
}

/** Maximum depth of the tree. The limit also ends cycles among owners. */
const maxDepth = 20

async function allObjects(
  session: Session,
  namespace: string | undefined,
): Promise<{ objects: Found[]; unread: string[] }> {
  const { types } = await session.types.all()
  const listableTypes = types.filter(
    (type) => type.verbs.includes('list') && type.kind !== 'Event' && (namespace === undefined || type.namespaced),
  )
  const unread: string[] = []
  const objectsByType = await Promise.all(
    listableTypes.map(async (type) => {
      const where = namespace === undefined ? {} : { namespace }
      return await session.client.list(type, { ...where, signal: session.context.signal }).then(
        ({ items }) => items.map((object) => ({ type, object })),
        (error: unknown) => {
          if (!(error instanceof StatusError)) throw error
          if (!isNotFound(error) && error.reason !== 'MethodNotAllowed') unread.push(escapeLine(type.plural))
          return []
        },
      )
    }),
  )
  // UIDs that have already been processed, because the same object may be served in several API groups.
  const seenUids = new Set<string>()
  const objects = objectsByType.flat().filter(({ object }) => {
    const uid = object.metadata.uid ?? ''
    return !seenUids.has(uid) && seenUids.add(uid)
  })
  return { objects, unread }
}

/** Returns the owners of an object, outermost first. */
async function ownersOf(session: Session, { type, object }: Found): Promise<Found[]> {
  const owners: Found[] = []
  let current = object
  for (let depth = 0; depth < maxDepth; depth++) {
    const [owner] = current.metadata.ownerReferences ?? []
    if (owner === undefined) break
    const ownerType = await session.types.ofKind(owner.apiVersion, owner.kind)
    const namespace = type.namespaced && ownerType.namespaced ? { namespace: object.metadata.namespace ?? '' } : {}
    const ownerObject = await session.client
      .get(ownerType, { ...namespace, name: owner.name }, { signal: session.context.signal })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined
        throw error
      })
    if (ownerObject === undefined) break
    owners.unshift({ type: ownerType, object: ownerObject })
    current = ownerObject
  }
  return owners
}

function branchesOf(root: Found, objects: readonly Found[]): string[][] {
  const byOwner = new Map<string, Found[]>()
  for (const entry of objects)
    for (const { uid } of entry.object.metadata.ownerReferences ?? [])
      byOwner.set(uid, [...(byOwner.get(uid) ?? []), entry])
  const rows: string[][] = []
  const add = (entry: Found, { lead, childPrefix, depth }: { lead: string; childPrefix: string; depth: number }) => {
    rows.push(lineOf(entry, lead))
    const children = depth >= maxDepth ? [] : (byOwner.get(entry.object.metadata.uid ?? '') ?? [])
    for (const [i, child] of children.entries()) {
      const last = i === children.length - 1
      add(child, {
        lead: `${childPrefix}${last ? '└─ ' : '├─ '}`,
        childPrefix: `${childPrefix}${last ? '   ' : '│  '}`,
        depth: depth + 1,
      })
    }
  }
  add(root, { lead: '', childPrefix: '', depth: 0 })
  return rows
}

function lineOf({ type, object }: Found, lead: string): string[] {
  const name = `${lead}${singularName(type)}/${escapeLine(object.metadata.name ?? '')}`
  return [name, escapeLine(stateOf(object)), ageOf(object)]
}

interface WithStatus {
  status?: { phase?: string; conditions?: { type?: string; status?: string; reason?: string }[] }
}

/** Describes the object's state in one word: deletion in progress, phase, or readiness. */
function stateOf(object: ApiObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating'
  const { phase, conditions = [] } = (object as WithStatus).status ?? {}
  if (phase !== undefined) return phase
  for (const conditionType of ['Failed', 'Ready', 'Available', 'Complete', 'Established']) {
    const condition = conditions.find(({ type }) => type === conditionType)
    if (condition?.status === 'True') return conditionType
    if (condition?.status === 'False' && conditionType !== 'Failed') return condition.reason ?? `Not${conditionType}`
  }
  return ''
}

function ageOf({ metadata: { creationTimestamp } }: ApiObject): string {
  return creationTimestamp === undefined ? '<unknown>' : humanDuration(Date.now() - Date.parse(creationTimestamp))
}

function statesPainted(painted: Painter): Paint {
  return (cell, column) =>
    column === 1 ? painted(cell, meaningOf(cell) ?? (cell.startsWith('Not') ? 'bad' : undefined)) : cell
}
