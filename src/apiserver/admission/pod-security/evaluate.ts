/** Evaluates a pod against a security level of a Kubernetes release and returns the violations. */
import type { CheckedPod, Rule, Violation } from './check.ts'
import { allChecks } from './checks/all.ts'
import { type LevelVersion, levels, releaseOf } from './policy.ts'

export function violationsOf({ level, version }: LevelVersion, pod: CheckedPod): Violation[] {
  if (level === 'privileged') return []
  return rulesOf({ level, version }, pod).flatMap((rule) => rule(pod) ?? [])
}

/**
 * Returns the rules of the level and of all lower levels. For each check, returns the newest rule that applies to the
 * release.
 */
function rulesOf({ level, version }: LevelVersion, { newestRelease = Infinity }: CheckedPod): Rule[] {
  const release = Math.min(releaseOf(version) ?? Infinity, newestRelease)
  return allChecks
    .filter((check) => levels.indexOf(check.level) <= levels.indexOf(level))
    .flatMap(({ rules }) => rules.findLast(({ since }) => since <= release)?.rule ?? [])
}

/** Formats violations with their details, for example as `host namespaces (hostNetwork=true), privileged (...)`. */
export function detailsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
}

/** Formats the reasons of violations, for example as `host namespaces, privileged`. */
export function reasonsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ')
}
