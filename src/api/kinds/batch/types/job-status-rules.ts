/**
 * Validation of a Job's status. With the feature gate JobManagedBy, any controller may write the status, so validation
 * protects clients from impossible transitions. The rules apply only to fields that a write changes: a change to the
 * spec may make the stored status invalid until the controller updates it.
 */
import { sameJson } from '../../../json/json.ts'
import { at, duplicate, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { repeatedAt } from '../../core/types/repeated.ts'
import { noneNegative } from '../../counts.ts'
import { commonIndex, countIndexes } from './index-list.ts'
import type { JobSpec } from './job-spec.ts'
import type { JobStatus } from './job-status.ts'

interface JobState {
  readonly spec?: JobSpec
  readonly status?: JobStatus
}

type ConditionType = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet'

export function checkStatusUpdate(next: JobState, previous: JobState, context: RuleContext): FieldError[] {
  const { version, gates } = emulationOf(context)
  const transition = new Transition(next, previous)
  return [
    ...checkCounts(transition.status),
    ...(isAtLeast(version, '1.30') ? checkSuccessCriteria(transition, context) : []),
    ...(gates.has('JobManagedBy') ? checkTransition(transition, context) : []),
  ]
}

/** An update to a Job's status, with the values that the rules compare. */
class Transition {
  readonly spec: JobSpec
  readonly status: JobStatus
  readonly previous: JobStatus
  readonly isIndexed: boolean
  readonly isFinished: boolean

  constructor({ spec = {}, status = {} }: JobState, { status: previous = {} }: JobState) {
    this.spec = spec
    this.status = status
    this.previous = previous
    this.isIndexed = spec.completionMode === 'Indexed'
    this.isFinished = this.has('Complete') || this.has('Failed')
  }

  /** Whether a condition of the Job is True after the change. */
  has(type: ConditionType): boolean {
    return hasCondition(this.status, type)
  }

  /** Whether a condition of the Job was True before the change. */
  had(type: ConditionType): boolean {
    return hasCondition(this.previous, type)
  }

  /** Whether the write changes any of the given status fields. */
  changes(...names: readonly (keyof JobStatus)[]): boolean {
    return names.some((name) => !sameJson(this.status[name], this.previous[name]))
  }

  /** Whether the status of any of the given conditions changes to or from True. */
  switches(...types: readonly ConditionType[]): boolean {
    return types.some((type) => this.has(type) !== this.had(type))
  }

  /** Whether the change finishes the Job or makes a finished Job unfinished. */
  get switchesFinished(): boolean {
    return this.isFinished !== (this.had('Complete') || this.had('Failed'))
  }
}

function hasCondition({ conditions = [] }: JobStatus, conditionType: ConditionType): boolean {
  return conditions.some(({ type, status }) => type === conditionType && status === 'True')
}

function checkCounts(status: JobStatus): FieldError[] {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const path = 'status.uncountedTerminatedPods'
  const places = [
    ...succeeded.map((_, i) => at(`${path}.succeeded`, i)),
    ...failed.map((_, i) => at(`${path}.failed`, i)),
  ]
  return [
    ...noneNegative(status, ['active', 'succeeded', 'failed', 'ready', 'terminating'], 'status'),
    ...checkUids([...succeeded, ...failed], places),
  ]
}

function checkUids(all: readonly string[], places: readonly FieldPath[]): FieldError[] {
  const repeated = repeatedAt(all.map((uid) => uid || undefined))
  return all.flatMap((uid, i) => {
    if (uid === '') return [invalid(places[i]!, uid, 'must not be empty')]
    return repeated.has(i) ? [duplicate(places[i]!, uid)] : []
  })
}

/** Validates the condition SuccessCriteriaMet, which must precede Complete. */
function checkSuccessCriteria(transition: Transition, context: RuleContext): FieldError[] {
  const { spec, isIndexed } = transition
  const isMet = transition.has('SuccessCriteriaMet')
  const isReserved = isMet && !marksEverySuccess(transition, context)
  const { successPolicy } = spec
  return [
    ...exclusive(transition, 'SuccessCriteriaMet', 'Failed'),
    ...exclusive(transition, 'SuccessCriteriaMet', 'FailureTarget'),
    ...conditionFaults([
      [isReserved && !isIndexed, 'cannot set SuccessCriteriaMet to NonIndexed Job'],
      [isReserved && successPolicy === undefined, 'cannot set SuccessCriteriaMet=True for Job without SuccessPolicy'],
      [
        successPolicy !== undefined && !isMet && transition.has('Complete'),
        'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
      ],
      [transition.had('SuccessCriteriaMet') && !isMet, 'cannot disable the SuccessCriteriaMet=True condition'],
      [
        transition.had('Complete') && !transition.had('SuccessCriteriaMet') && isMet,
        'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
      ],
    ]),
  ]
}

/**
 * Whether SuccessCriteriaMet may also be set on successful Jobs without a success policy. Newer controllers set this
 * condition.
 */
function marksEverySuccess(transition: Transition, context: RuleContext): boolean {
  const { version, gates } = emulationOf(context)
  if (!isAtLeast(version, '1.31')) return false
  return gates.has('JobManagedBy') || gates.has('JobPodReplacementPolicy') || transition.had('SuccessCriteriaMet')
}

function checkTransition(transition: Transition, context: RuleContext): FieldError[] {
  return [
    ...checkConditions(transition),
    ...checkTimes(transition, context),
    ...checkFinished(transition),
    ...checkCounters(transition),
    ...checkIndexes(transition),
  ]
}

function checkConditions(transition: Transition): FieldError[] {
  const terminal = ['Failed', 'Complete', 'FailureTarget'] as const
  return [
    ...(transition.switches('Complete', 'Failed') ? exclusive(transition, 'Complete', 'Failed') : []),
    ...(transition.switches('Complete', 'FailureTarget') ? exclusive(transition, 'Complete', 'FailureTarget') : []),
    ...(transition.switches('Failed', 'FailureTarget') ? needed(transition, 'Failed', 'FailureTarget') : []),
    ...(transition.switches('Complete', 'SuccessCriteriaMet')
      ? needed(transition, 'Complete', 'SuccessCriteriaMet')
      : []),
    ...conditionFaults(
      terminal.map((type) => [
        transition.had(type) && !transition.has(type),
        `cannot disable the terminal ${type}=True condition`,
      ]),
    ),
  ]
}

function exclusive(transition: Transition, one: ConditionType, other: ConditionType): FieldError[] {
  const both = transition.has(one) && transition.has(other)
  return conditionFaults([[both, `cannot set ${one}=True and ${other}=True conditions`]])
}

function needed(transition: Transition, type: ConditionType, before: ConditionType): FieldError[] {
  const isMissing = transition.has(type) && !transition.has(before)
  return conditionFaults([[isMissing, `cannot set ${type}=True condition without the ${before}=True condition`]])
}

/** Returns an error at `status.conditions` for each detected fault. */
function conditionFaults(rows: readonly (readonly [isFault: boolean, detail: string])[]): FieldError[] {
  return rows.flatMap(([isFault, detail]) =>
    isFault ? [{ fault: 'FieldValueInvalid', path: 'status.conditions', text: `Invalid value: ${detail}` }] : [],
  )
}

function checkTimes(transition: Transition, context: RuleContext): FieldError[] {
  const { status, previous, spec } = transition
  const { startTime: start, completionTime: end } = status
  const path = 'status.completionTime'
  const mayLackCondition = !transition.switches('Complete') && !transition.changes('completionTime')
  const isComplete = transition.has('Complete')
  return [
    ...(end !== undefined && !isComplete && !mayLackCondition
      ? [invalid(path, end, 'cannot set completionTime when there is no Complete=True condition')]
      : []),
    ...(end === undefined && isComplete && !mayLackCondition
      ? [required(path, 'completionTime is required for Complete jobs')]
      : []),
    ...(transition.changes('startTime', 'completionTime') && isBefore(end, start)
      ? [invalid(path, end, 'must be equal to or after `startTime`')]
      : []),
    ...(end !== undefined && previous.completionTime !== undefined && transition.changes('completionTime')
      ? [invalid(path, end, 'field is immutable')]
      : []),
    ...(previous.startTime !== undefined && transition.changes('startTime') && !spec.suspend
      ? [changedStart(start, context)]
      : []),
  ]
}

function isBefore(time: string | undefined, other: string | undefined): boolean {
  return time !== undefined && other !== undefined && Date.parse(time) < Date.parse(other)
}

/** Returns the error for a changed start time. Before 1.35, a changed start time is reported as removed. */
function changedStart(start: string | undefined, context: RuleContext): FieldError {
  const path = 'status.startTime'
  return start === undefined || !isAtLeast(emulationOf(context).version, '1.35')
    ? required(path, 'cannot be removed for unsuspended job')
    : invalid(path, start, 'field is immutable for unsuspended job once set')
}

/** Requires a finished Job to have a start time, and to have no active, terminating or uncounted pods. */
function checkFinished(transition: Transition): FieldError[] {
  const { status, isFinished, switchesFinished } = transition
  const { active = 0, terminating = 0, startTime, uncountedTerminatedPods: uncounted = {} } = status
  if (!isFinished) return []
  const concerns = (name: keyof JobStatus) => switchesFinished || transition.changes(name)
  const uncountedPods = (uncounted.succeeded ?? []).length + (uncounted.failed ?? []).length
  return [
    ...(active > 0 && concerns('active')
      ? [invalid('status.active', active, 'active>0 is invalid for finished job')]
      : []),
    ...(terminating > 0 && concerns('terminating')
      ? [invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job')]
      : []),
    ...(startTime === undefined && concerns('startTime')
      ? [required('status.startTime', 'startTime is required for finished job')]
      : []),
    ...(uncountedPods > 0 && concerns('uncountedTerminatedPods')
      ? [invalid('status.uncountedTerminatedPods', uncounted, 'must be empty for finished job')]
      : []),
  ]
}

function checkCounters(transition: Transition): FieldError[] {
  const { spec, status, previous, isIndexed } = transition
  const { active = 0, ready = 0 } = status
  // When an elastic Indexed Job is scaled down, it loses indexes that have succeeded.
  const isElastic = isIndexed && spec.completions === spec.parallelism
  const counters = isElastic ? (['failed'] as const) : (['failed', 'succeeded'] as const)
  return [
    ...counters.flatMap((name) => {
      const count = status[name] ?? 0
      if (count >= (previous[name] ?? 0)) return []
      return [invalid(`status.${name}`, count, `cannot decrease the ${name} counter`)]
    }),
    ...(ready > active && transition.changes('ready', 'active')
      ? [invalid('status.ready', ready, 'cannot set more ready pods than active')]
      : []),
  ]
}

function checkIndexes(transition: Transition): FieldError[] {
  const { spec, status, isIndexed } = transition
  const { completedIndexes: completed = '', failedIndexes: failed } = status
  const { completions, backoffLimitPerIndex } = spec
  const changesCompleted = transition.changes('completedIndexes')
  const changesFailed = transition.changes('failedIndexes')
  if (!changesCompleted && !changesFailed) return []
  const path = 'status.failedIndexes'
  return [
    ...(changesCompleted ? checkFormat('status.completedIndexes', completed, completions) : []),
    ...(changesCompleted && completed !== '' && !isIndexed
      ? [invalid('status.completedIndexes', completed, 'cannot set completedIndexes of a NonIndexed Job')]
      : []),
    ...(changesFailed && failed !== undefined && backoffLimitPerIndex !== undefined
      ? checkFormat(path, failed, completions)
      : []),
    ...(changesFailed && failed !== undefined && backoffLimitPerIndex === undefined
      ? [invalid(path, failed, 'cannot set failedIndexes when backoffLimitPerIndex is null')]
      : []),
    ...checkOverlap(completed, failed ?? '', completions),
  ]
}

function checkFormat(path: FieldPath, indexes: string, completions: number | undefined): FieldError[] {
  const count = completions === undefined ? 0 : countIndexes(indexes, completions)
  return typeof count === 'string' ? [invalid(path, indexes, count)] : []
}

function checkOverlap(completed: string, failed: string, completions: number | undefined): FieldError[] {
  const index = completions === undefined ? undefined : commonIndex(completed, failed, completions)
  if (index === undefined) return []
  return [invalid('status.failedIndexes', failed, `failedIndexes and completedIndexes overlap at index: ${index}`)]
}
