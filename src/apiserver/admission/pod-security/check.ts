/**
 * What a check of the pod security standard is: which level asks for it, and since which release under which rule. One
 * file per check in `checks/`; this one has what they share to say which parts of a pod are at fault.
 */
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Level } from './policy.ts'

export interface CheckedPod {
  readonly vendor: Vendor
  readonly annotations: { readonly [key: string]: string }
  readonly spec: PodSpec
}

export interface Violation {
  /** What is wrong in two words: `host namespaces`. */
  readonly reason: string
  /** Where and with what: `hostNetwork=true`. '' where the reason says all. */
  readonly detail: string
}

/** Undefined: nothing is wrong. */
export type Rule = (pod: CheckedPod) => Violation | undefined

export interface Check {
  /** Checks of a level run in the order of their ids. */
  readonly id: string
  readonly level: Exclude<Level, 'privileged'>
  /** In order: each rule counts from its release of 1.x on, until that of the next. */
  readonly rules: readonly { readonly since: number; readonly rule: Rule }[]
}

/** All containers, in the order in which messages list them. */
export function containersOf({ initContainers = [], containers = [], ephemeralContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers]
}

/** The names of the containers that are at fault. */
export function namesWhere({ spec }: CheckedPod, isBad: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(isBad)
    .map(({ name = '' }) => name)
}

/** `container "a"`, `containers "a", "b"`; '' for none. */
export function told(noun: string, names: readonly string[]): string {
  if (names.length === 0) return ''
  return `${noun}${names.length === 1 ? '' : 's'} ${quotedList(names)}`
}

export function quotedList(names: readonly string[]): string {
  return list(names.map((name) => JSON.stringify(name)))
}

/** A pod may have thousands of what is wrong: nobody reads more. */
const maxTold = 20

/** `a, b`, and where there are many how many more. */
export function list(words: readonly string[]): string {
  const more = words.length - maxTold
  return more > 0 ? `${words.slice(0, maxTold).join(', ')} and ${more} more` : words.join(', ')
}

/** Who set something: `pod and container "a"`; '' for nobody. */
export function setters({ pod, containers }: { pod: boolean; containers: readonly string[] }): string {
  return [pod ? 'pod' : '', told('container', containers)].filter((who) => who !== '').join(' and ')
}

/** Each value once, in order. */
export function distinct(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}
