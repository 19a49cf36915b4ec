/**
 * What holds a namespace that is being deleted, as the conditions in its status. Types and reasons are part of the API.
 */
import type { Namespace } from '../../api/kinds/core/namespace.ts'
import { timestamp } from '../../api/model/object.ts'

/** What one pass over a namespace's content found. */
export interface Sweep {
  /** Which types discovery failed for. */
  readonly undiscovered: readonly string[]
  /** Which types could not be deleted, and why. */
  readonly failures: string[]
  /** Objects left, by type. */
  readonly remaining: Map<string, number>
  /** Objects left, by the finalizer that holds them. */
  readonly finalizers: Map<string, number>
}

export type Condition = NonNullable<NonNullable<Namespace['status']>['conditions']>[number]

/** A sweep that has not found anything yet; `undiscovered` are the types that discovery failed for. */
export function newSweep(undiscovered: readonly string[]): Sweep {
  return { undiscovered, failures: [], remaining: new Map(), finalizers: new Map() }
}

/** Whether nothing is left, as far as everything could be looked at. */
export function isEmpty({ undiscovered, failures, remaining }: Sweep): boolean {
  return undiscovered.length === 0 && failures.length === 0 && remaining.size === 0
}

interface Finding {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/** The five conditions of the API, each with what the sweep found or that all is well. */
export function conditionsOf({ undiscovered, failures, remaining, finalizers }: Sweep): Finding[] {
  return [
    finding('NamespaceDeletionDiscoveryFailure', undiscovered, {
      ok: ['ResourcesDiscovered', 'All resource types were discovered'],
      bad: ['DiscoveryFailed', 'Some resource types could not be discovered'],
    }),
    finding('NamespaceDeletionGroupVersionParsingFailure', [], {
      ok: ['ParsedGroupVersions', 'All group versions were understood'],
      bad: ['GroupVersionParsingFailed', 'Some group versions were not understood'],
    }),
    finding('NamespaceDeletionContentFailure', failures, {
      ok: ['ContentDeleted', 'The deletion of all content has begun; some may wait for its finalizers'],
      bad: ['ContentDeletionFailed', 'Some content could not be deleted'],
    }),
    finding('NamespaceContentRemaining', counted(remaining, 'left'), {
      ok: ['ContentRemoved', 'All content is gone'],
      bad: ['SomeResourcesRemain', 'Some content is left'],
    }),
    finding('NamespaceFinalizersRemaining', counted(finalizers, 'held'), {
      ok: ['ContentHasNoFinalizers', 'No finalizer holds any content'],
      bad: ['SomeFinalizersRemain', 'Some content is held by finalizers'],
    }),
  ]
}

type Told = readonly [reason: string, message: string]

/** These conditions name troubles: True is bad. */
function finding(type: string, troubles: readonly string[], { ok, bad }: { ok: Told; bad: Told }): Finding {
  if (troubles.length === 0) return { type, status: 'False', reason: ok[0], message: ok[1] }
  return { type, status: 'True', reason: bad[0], message: `${bad[1]}: ${shortened(troubles)}` }
}

const maxTold = 20

function shortened(troubles: readonly string[]): string {
  const told = troubles.slice(0, maxTold).join(', ')
  return troubles.length > maxTold ? `${told} and ${troubles.length - maxTold} more` : told
}

function counted(counts: ReadonlyMap<string, number>, what: string): string[] {
  return [...counts].map(([name, count]) => `${name} (${count} ${what})`).sort()
}

/** The conditions with these findings in them; undefined when they say the same already. */
export function withConditions(
  conditions: readonly Condition[],
  findings: readonly Finding[],
  now: number,
): Condition[] | undefined {
  const types = new Set(findings.map(({ type }) => type))
  const known = new Map(conditions.map((condition) => [condition.type, condition]))
  const same = ({ type, status, reason, message }: Finding) => {
    const before = known.get(type)
    return before?.status === status && before.reason === reason && before.message === message
  }
  if (findings.every(same)) return undefined
  return [
    ...conditions.filter(({ type = '' }) => !types.has(type)),
    ...findings.map((found) => ({ ...found, lastTransitionTime: since(known.get(found.type), found, now) })),
  ]
}

/** A condition that goes on being what it was keeps its time. */
function since(before: Condition | undefined, { status }: Finding, now: number): string {
  return (before?.status === status && before.lastTransitionTime) || timestamp(now)
}
