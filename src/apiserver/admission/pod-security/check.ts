/**
 * Interface of the pod security checks: the level that requires a check, and the check's rules for each Kubernetes
 * release. Each check has its own file in `checks/`. This file also contains functions that format messages.
 */
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Level } from './policy.ts'

export interface CheckedPod {
  readonly vendor: Vendor
  /**
   * Minor version of the server. Policies for later releases use the rules of this version. If undefined, they use the
   * newest rules.
   */
  readonly newestRelease?: number
  readonly annotations: { readonly [key: string]: string }
  readonly spec: PodSpec
}

export interface Violation {
  /** A short reason for the violation, such as `host namespaces`. */
  readonly reason: string
  /** The field and its value, such as `hostNetwork=true`. Empty if the reason needs no detail. */
  readonly detail: string
}

/** Checks a pod. Returns undefined if the pod complies. */
export type Rule = (pod: CheckedPod) => Violation | undefined

export interface Check {
  /** ID of the check. The checks of a level run in ID order. */
  readonly id: string
  readonly level: Exclude<Level, 'privileged'>
  /** The check's rules, oldest first. Each rule applies to releases from 1.`since` up to the next rule. */
  readonly rules: readonly { readonly since: number; readonly rule: Rule }[]
}

/** Whether the pod runs on Windows, where Linux settings have no effect. */
export function isWindows({ spec }: CheckedPod): boolean {
  return spec.os?.name === 'windows'
}

/** Whether the pod runs in a user namespace. In a user namespace, even root has no privileges on the node. */
export function hasOwnUsers({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false
}

/** Wraps a rule so that certain pods are exempt from it. */
export function unless(isExempt: (pod: CheckedPod) => boolean, rule: Rule): Rule {
  return (pod) => (isExempt(pod) ? undefined : rule(pod))
}

/** Returns all containers of a pod, in the order in which messages name them. */
export function containersOf({ initContainers = [], containers = [], ephemeralContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers]
}

/** Returns the names of the containers that violate a rule. */
export function namesWhere({ spec }: CheckedPod, isBad: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(isBad)
    .map(({ name = '' }) => name)
}

/**
 * Formats container names, for example as `container "a"` or `containers "a", "b"`. Returns '' if there are no names.
 */
export function nameList(noun: string, names: readonly string[]): string {
  if (names.length === 0) return ''
  return `${noun}${names.length === 1 ? '' : 's'} ${quotedList(names)}`
}

export function quotedList(names: readonly string[]): string {
  return list(names.map((name) => JSON.stringify(name)))
}

/** Maximum number of names in a message. A pod may have thousands of violations. */
const maxReportedNames = 20

/** Joins words with commas. A long list is truncated and ends with `and N more`. */
export function list(words: readonly string[]): string {
  const more = words.length - maxReportedNames
  return more > 0 ? `${words.slice(0, maxReportedNames).join(', ')} and ${more} more` : words.join(', ')
}

/**
 * Names the parts of a pod that set a field, for example `pod and container "a"`. Returns '' if no part sets the field.
 */
export function setters({ pod, containers }: { pod: boolean; containers: readonly string[] }): string {
  return [pod ? 'pod' : '', nameList('container', containers)].filter((who) => who !== '').join(' and ')
}

/** Returns the distinct values, sorted. */
export function distinct(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}
