/** Reads and updates the conditions of a CustomResourceDefinition. */
import { timestamp } from '../../model/object.ts'
import type { CustomResourceDefinition, DefinitionCondition, DefinitionStatus } from './definition-fields.ts'

/**
 * Returns the status with a condition added or replaced. The transition time changes only if the value of the condition
 * changes.
 */
export function withCondition(status: DefinitionStatus, condition: DefinitionCondition, now: number): DefinitionStatus {
  const { conditions = [] } = status
  const before = conditions.find(({ type }) => type === condition.type)
  const since = before?.status === condition.status ? before?.lastTransitionTime : undefined
  const dated = { ...condition, lastTransitionTime: since ?? timestamp(now) }
  const others = conditions.map((one) => (one === before ? dated : one))
  return { ...status, conditions: before === undefined ? [...others, dated] : others }
}

/** The condition types that only the server sets, because they report the actions of the server. */
const serverTypes: ReadonlySet<string> = new Set(['NamesAccepted', 'Established', 'Terminating'])

/** Returns the conditions that a client sent, except that the server's own conditions come from the stored status. */
export function withServerConditions(
  sentConditions: readonly DefinitionCondition[],
  present: readonly DefinitionCondition[],
): DefinitionCondition[] {
  const isServers = ({ type = '' }: DefinitionCondition) => serverTypes.has(type)
  return [...present.filter(isServers), ...sentConditions.filter((condition) => !isServers(condition))]
}

/** Whether a definition has a condition of the given type with status True. */
export function isTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}
