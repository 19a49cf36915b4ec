/** The conditions in the status of a definition: what is known of it, and since when. */
import { timestamp } from '../../model/object.ts'
import type { CustomResourceDefinition, DefinitionCondition, DefinitionStatus } from './definition-fields.ts'

/** The status with this condition in it, which keeps its time while it says the same. */
export function withCondition(status: DefinitionStatus, condition: DefinitionCondition, now: number): DefinitionStatus {
  const { conditions = [] } = status
  const before = conditions.find(({ type }) => type === condition.type)
  const since = before?.status === condition.status ? before?.lastTransitionTime : undefined
  const dated = { ...condition, lastTransitionTime: since ?? timestamp(now) }
  const others = conditions.map((one) => (one === before ? dated : one))
  return { ...status, conditions: before === undefined ? [...others, dated] : others }
}

/** The conditions that are the server's to set: what they say rests on what the server has done. */
const serverTypes: ReadonlySet<string> = new Set(['NamesAccepted', 'Established', 'Terminating'])

/** The conditions that a client wants, but with those of the server as they are. */
export function withServerConditions(
  wanted: readonly DefinitionCondition[],
  present: readonly DefinitionCondition[],
): DefinitionCondition[] {
  const isServers = ({ type = '' }: DefinitionCondition) => serverTypes.has(type)
  return [...present.filter(isServers), ...wanted.filter((condition) => !isServers(condition))]
}

/** Whether the definition has this condition with the status True. */
export function isTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}
