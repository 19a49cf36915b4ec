/**
 * Conditions in the status of a terminating namespace. They explain why the namespace still exists. Condition types and
 * reasons are part of the API.
 */
import type { Namespace } from '../../api/kinds/core/namespace.ts'
import { timestamp } from '../../api/model/object.ts'

/** The remaining objects of a terminating namespace, and the failures during one pass over them. */
export interface Sweep {
  /** Types whose discovery failed. */
  readonly undiscovered: readonly string[]
  /** Types whose objects could not be deleted, with the reason. */
  readonly failures: string[]
  /** Number of remaining objects by type. */
  readonly remaining: Map<string, number>
  /** Number of remaining objects by finalizer. */
  readonly finalizers: Map<string, number>
}

export type Condition = NonNullable<NonNullable<Namespace['status']>['conditions']>[number]

/** Returns an empty result for a new pass. `undiscovered` lists the types whose discovery failed. */
export function newSweep(undiscovered: readonly string[]): Sweep {
  return { undiscovered, failures: [], remaining: new Map(), finalizers: new Map() }
}

/** Whether the namespace is empty and every type could be checked. */
export function isEmpty({ undiscovered, failures, remaining }: Sweep): boolean {
  return undiscovered.length === 0 && failures.length === 0 && remaining.size === 0
}

interface Finding {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}

/**
 * Returns the five conditions of a terminating namespace. Each condition either reports a problem that the pass found
 * or states that there is none.
 */
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

/**
 * Returns one namespace condition. The status True indicates a problem, because each of these condition types names a
 * problem.
 */
function finding(type: string, troubles: readonly string[], { ok, bad }: { ok: Told; bad: Told }): Finding {
  if (troubles.length === 0) return { type, status: 'False', reason: ok[0], message: ok[1] }
  return { type, status: 'True', reason: bad[0], message: `${bad[1]}: ${shortened(troubles)}` }
}

const maxTold = 20

function shortened(troubles: readonly string[]): string {
  const listedTroubles = troubles.slice(0, maxTold).join(', ')
  return troubles.length > maxTold ? `${listedTroubles} and ${troubles.length - maxTold} more` : listedTroubles
}

function counted(counts: ReadonlyMap<string, number>, what: string): string[] {
  return [...counts].map(([name, count]) => `${name} (${count} ${what})`).sort()
}

/** Merges the findings of a pass into the conditions. Returns undefined if no condition changes. */
export function withConditions(
  conditions: readonly Condition[],
  findings: readonly Finding[],
  now: number,
): Condition[] | undefined {
  const types = new Set(findings.map(({ type }) => type))
  const conditionsByType = new Map(conditions.map((condition) => [condition.type, condition]))
  const same = ({ type, status, reason, message }: Finding) => {
    const before = conditionsByType.get(type)
    return before?.status === status && before.reason === reason && before.message === message
  }
  if (findings.every(same)) return undefined
  return [
    ...conditions.filter(({ type = '' }) => !types.has(type)),
    ...findings.map((newFinding) => ({
      ...newFinding,
      lastTransitionTime: since(conditionsByType.get(newFinding.type), newFinding, now),
    })),
  ]
}

/** Returns the transition time of a condition, which changes only together with the status. */
function since(before: Condition | undefined, { status }: Finding, now: number): string {
  return (before?.status === status && before.lastTransitionTime) || timestamp(now)
}
