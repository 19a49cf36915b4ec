/**
 * Limits each scaling step of an autoscaler. Recent recommendations stabilize the result so that the number of replicas
 * does not flap. The autoscaler's `behavior` limits how fast the target is scaled up and down. Without a `behavior`,
 * the default limits apply.
 */
import type { Behavior, ScalingRules } from '../../../api/kinds/autoscaling/behavior.ts'

/** A past recommendation or scale change, with its time. */
export interface Moment {
  readonly at: number
  /** The recommended number of replicas or, for a scale change, the number of replicas added or removed. */
  readonly replicas: number
}

export interface LimitQuestion {
  readonly current: number
  /** The current recommendation, before it is stabilized and limited. */
  readonly advised: number
  readonly min: number
  readonly max: number
  readonly behavior: Behavior | undefined
  /** Recommendations and changes within the last hour. */
  readonly advice: readonly Moment[]
  readonly changes: readonly Moment[]
  readonly downscaleWindowMs: number
  readonly now: number
}

export interface LimitAnswer {
  readonly replicas: number
  /** Reason why the recommendation was limited. Undefined if it was not limited. */
  readonly limitedBy?: string
  /** Whether recent recommendations changed the result (stabilization). */
  readonly isStabilized: boolean
}

export function limitReplicas(question: LimitQuestion): LimitAnswer {
  const { behavior, advised } = question
  const stable = behavior === undefined ? highestAdvice(question) : heeded(question, behavior)
  const [lowest, highest] = behavior === undefined ? usualLimits(question) : limitsOf(question, behavior)
  const isStabilized = stable !== advised
  const answer = (replicas: number, limitedBy?: string) => ({
    replicas,
    isStabilized,
    ...(limitedBy === undefined ? {} : { limitedBy }),
  })
  const { min, max } = question
  const top = Math.min(highest, max)
  const bottom = Math.max(lowest, min)
  if (stable > top) return answer(top, top === max ? 'TooManyReplicas' : 'ScaleUpLimit')
  if (stable < bottom) return answer(bottom, bottom === min ? 'TooFewReplicas' : 'ScaleDownLimit')
  return answer(stable)
}

/** Returns the highest recommendation within the stabilization window. */
function highestAdvice({ advised, advice, downscaleWindowMs, now }: LimitQuestion): number {
  return Math.max(advised, ...within(advice, now - downscaleWindowMs))
}

/**
 * Returns the current number of replicas if it lies between the lowest and the highest recent recommendation. Otherwise
 * returns the nearer of these two recommendations.
 */
function heeded({ current, advised, advice, downscaleWindowMs, now }: LimitQuestion, behavior: Behavior): number {
  const windowMs = (rules: ScalingRules | undefined, otherwise: number) =>
    rules?.stabilizationWindowSeconds === undefined ? otherwise : rules.stabilizationWindowSeconds * 1000
  const up = Math.min(advised, ...within(advice, now - windowMs(behavior.scaleUp, 0)))
  const down = Math.max(advised, ...within(advice, now - windowMs(behavior.scaleDown, downscaleWindowMs)))
  return Math.min(Math.max(current, up), down)
}

function within(moments: readonly Moment[], since: number): number[] {
  return moments.filter(({ at }) => at > since).map(({ replicas }) => replicas)
}

/**
 * Returns the default scaling limits. They allow scaling up to twice the current number of replicas or to four
 * replicas, whichever is greater, and scaling down without limit.
 */
function usualLimits({ current }: LimitQuestion): [number, number] {
  return [0, Math.max(2 * current, 4)]
}

function limitsOf(question: LimitQuestion, { scaleUp, scaleDown }: Behavior): [number, number] {
  const { current } = question
  const up = limitOf(question, scaleUp, 1)
  const down = limitOf(question, scaleDown, -1)
  return [Math.min(down, current), Math.max(up, current)]
}

/**
 * Returns the highest or lowest number of replicas that the scaling policies for one direction allow. Each policy
 * limits the change within its period.
 */
function limitOf({ current, changes, now }: LimitQuestion, rules: ScalingRules = {}, sign: 1 | -1): number {
  if (rules.selectPolicy === 'Disabled') return current
  const proposals = (rules.policies ?? []).map(({ type, value = 0, periodSeconds = 0 }) => {
    const recentChanges = within(changes, now - periodSeconds * 1000).filter((change) => Math.sign(change) === sign)
    const start = current - recentChanges.reduce((sum, change) => sum + change, 0)
    if (type === 'Pods') return start + sign * value
    const share = start * (1 + (sign * value) / 100)
    return sign > 0 ? Math.ceil(share) : Math.floor(share)
  })
  if (proposals.length === 0) return current
  const farthest = rules.selectPolicy !== 'Min'
  return farthest === sign > 0 ? Math.max(...proposals) : Math.min(...proposals)
}
