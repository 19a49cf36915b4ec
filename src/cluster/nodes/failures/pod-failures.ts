/**
 * Failures of pods. Converts the SimulationRule of a pod to the annotations with which a user would cause the same
 * lifecycle (`pods/default-stages.ts`). Stages are matched against the pod with these annotations, but the annotations
 * are never written to the server. The programs of a pod's containers, such as `sleep 30`, are converted in the same
 * way.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { PodFailure } from '../../../api/model/simulated-failures.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { ActiveRules } from '../../failures/active-rules.ts'
import type { PodRule } from '../../failures/compile-rule.ts'
import { runOf } from '../containers/program-run.ts'
import { hasSeparateContainers } from '../pods/container-plan.ts'
import { type SimulationKeys, simulationKeys } from '../pods/simulation-keys.ts'

type Annotations = { readonly [key: string]: string }

/** Image tags whose pull fails by default. A rule or an annotation of the pod can override this. */
const missingTags = new Set(['invalid', 'doesnotexist'])

export class PodFailures {
  readonly #rules: Pick<ActiveRules, 'podRule'>
  readonly #keys: SimulationKeys
  readonly #annotationsOfRule: (rule: PodRule) => Annotations
  readonly #pullError: Annotations

  constructor(rules: Pick<ActiveRules, 'podRule'>, vendor: Vendor) {
    this.#rules = rules
    this.#keys = simulationKeys(vendor)
    this.#annotationsOfRule = memoizeByObject((rule: PodRule) => annotationsOf(rule, this.#keys))
    this.#pullError = { [this.#keys.start]: 'image-pull-error' }
  }

  /** Returns the additional annotations of a pod, or undefined if there are none. */
  annotations(pod: Pod): Annotations | undefined {
    const run = hasSeparateContainers(pod) ? undefined : this.#annotationsOfPrograms(pod)
    const failure = this.#annotationsOfFailure(pod)
    return run === undefined || failure === undefined ? (failure ?? run) : { ...run, ...failure }
  }

  /**
   * By default, the pod terminates when the program of a container exits. Annotations of the pod override this default.
   */
  #annotationsOfPrograms({ metadata: { annotations = {} }, spec }: Pod): Annotations | undefined {
    const { runFor, exitCode } = this.#keys
    if (annotations[runFor] !== undefined || annotations[exitCode] !== undefined) return undefined
    const runs = (spec?.containers ?? []).map(runOf)
    if (!runs.every((run) => run !== undefined)) return undefined
    const ms = Math.min(maxRunMs, Math.max(0, ...runs.map((run) => run.ms)))
    const failed = runs.find((run) => run.exitCode !== 0)
    return { [runFor]: `${ms}ms`, [exitCode]: String(failed?.exitCode ?? 0) }
  }

  #annotationsOfFailure(pod: Pod): Annotations | undefined {
    const rule = this.#rules.podRule(pod)
    if (rule?.failure === 'slow-volumes' && (pod.spec?.volumes ?? []).length === 0) return undefined
    if (rule !== undefined) return this.#annotationsOfRule(rule)
    if (pod.metadata.annotations?.[this.#keys.start] !== undefined) return undefined
    const isMissing = ({ image = '' }: { readonly image?: string }) => missingTags.has(tagOf(image))
    const { containers = [], initContainers = [] } = pod.spec ?? {}
    return containers.some(isMissing) || initContainers.some(isMissing) ? this.#pullError : undefined
  }
}

/**
 * Whether the node simulates each container of the pod separately. False if annotations or a failure determine the
 * lifecycle of the pod as a whole.
 */
export function followsContainers(pod: Pod, failure: Annotations | undefined, keys: SimulationKeys): boolean {
  const { annotations } = pod.metadata
  const isAnnotated = annotations !== undefined && Object.values(keys).some((key) => Object.hasOwn(annotations, key))
  return failure === undefined && !isAnnotated && hasSeparateContainers(pod)
}

/** Maximum duration of a program in milliseconds: 24 days. */
const maxRunMs = 24 * 86_400_000

/** Returns the pod with the additional annotations, for stage matching. */
export function withAnnotations(pod: Pod, annotations: Annotations | undefined): Pod {
  if (annotations === undefined) return pod
  return { ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } } }
}

function annotationsOf({ failure, delayMs }: PodRule, keys: SimulationKeys): Annotations {
  const delay = (defaultMs: number) => `${delayMs ?? defaultMs}ms`
  const effects: { readonly [name in PodFailure]: Annotations } = {
    'crash-loop': { [keys.runFor]: delay(2000), [keys.exitCode]: '1' },
    'image-pull-error': { [keys.start]: 'image-pull-error' },
    oom: { [keys.runFor]: delay(2000), [keys.exitCode]: '137', [keys.exitReason]: 'OOMKilled' },
    'slow-start': { [keys.startAfter]: delay(30_000) },
    'slow-volumes': { [keys.volumesAfter]: delay(30_000) },
    'not-ready': { [keys.ready]: 'never' },
    none: {},
  }
  return effects[failure]
}

/** Returns the tag of an image, or '' if it has none. */
function tagOf(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1).split('@', 1)[0]!
  const colon = name.indexOf(':')
  return colon < 0 ? '' : name.slice(colon + 1)
}
