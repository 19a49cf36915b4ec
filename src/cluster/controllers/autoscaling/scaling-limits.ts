/**
 * How far an autoscaler goes at once towards what metrics call for: past advice is heeded for a while, so that it does not
 * flap, and its behaviour, or the usual limits, say how fast it adds and takes away.
 */
import type { Behavior, ScalingRules } from '../../../api/kinds/autoscaling/behavior.ts'

/** What an autoscaler advised, or did, at a moment. */
export interface Moment {
  readonly at: number
  /** The number advised, or by how many the replicas changed. */
  readonly replicas: number
}

export interface LimitQuestion {
  readonly current: number
  /** What metrics call for. */
  readonly advised: number
  readonly min: number
  readonly max: number
  readonly behavior: Behavior | undefined
  /** Past advice, and past changes, of the last hour. */
  readonly advice: readonly Moment[]
  readonly changes: readonly Moment[]
  readonly downscaleWindowMs: number
  readonly now: number
}

export interface LimitAnswer {
  readonly replicas: number
  /** Why more or less is not possible; undefined: it is as advised. */
  readonly limitedBy?: string
  /** Whether past advice made a difference. */
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

/** Of what was advised in the window the most. */
function highestAdvice({ advised, advice, downscaleWindowMs, now }: LimitQuestion): number {
  return Math.max(advised, ...within(advice, now - downscaleWindowMs))
}

/** At least the least that was advised lately, at most the most: the present number where it is in between. */
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

/** Twice as many, or four; as few as one likes. */
function usualLimits({ current }: LimitQuestion): [number, number] {
  return [0, Math.max(2 * current, 4)]
}

function limitsOf(question: LimitQuestion, { scaleUp, scaleDown }: Behavior): [number, number] {
  const { current } = question
  const up = limitOf(question, scaleUp, 1)
  const down = limitOf(question, scaleDown, -1)
  return [Math.min(down, current), Math.max(up, current)]
}

/** How far the policies of one direction allow to go from where their periods began. */
function limitOf({ current, changes, now }: LimitQuestion, rules: ScalingRules = {}, sign: 1 | -1): number {
  if (rules.selectPolicy === 'Disabled') return current
  const proposals = (rules.policies ?? []).map(({ type, value = 0, periodSeconds = 0 }) => {
    const made = within(changes, now - periodSeconds * 1000).filter((change) => Math.sign(change) === sign)
    const start = current - made.reduce((sum, change) => sum + change, 0)
    if (type === 'Pods') return start + sign * value
    const share = start * (1 + (sign * value) / 100)
    return sign > 0 ? Math.ceil(share) : Math.floor(share)
  })
  if (proposals.length === 0) return current
  const farthest = rules.selectPolicy !== 'Min'
  return farthest === sign > 0 ? Math.max(...proposals) : Math.min(...proposals)
}
